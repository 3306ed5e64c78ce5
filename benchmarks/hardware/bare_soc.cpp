// The yardstick of rtl_speed: the same SoC in a plain Verilator loop, as one writes it by hand, without VPI,
// CPU or monitors. It does the transfers of rtl_speed.c against a memory with the same latencies.
//
// Prints: cycles, seconds of CPU time, last word received.

#include <verilated.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <vector>

#include "../../cosim/native/bus/dma_registers.h"
#include "Vtop.h"

namespace {

struct Burst {
    uint32_t address, words;
    uint64_t start;
};

Vtop *soc;
uint64_t cycle;
std::vector<uint32_t> memory(1 << 24);  // words, from address 0 of the window on
uint32_t base;
std::deque<Burst> reads, writes;
std::deque<uint64_t> responses;

uint32_t &at(uint32_t address) { return memory[(address - base) / 4]; }

// One clock: what a slave with registered outputs does at an edge.
void one_cycle() {
    if (soc->m_axi_mm2s_arvalid && soc->m_axi_mm2s_arready) {
        reads.push_back({soc->m_axi_mm2s_araddr, soc->m_axi_mm2s_arlen + 1u, cycle + READ_LATENCY});
    }
    bool read_valid = soc->m_axi_mm2s_rvalid, read_last = soc->m_axi_mm2s_rlast;
    uint32_t read_data = soc->m_axi_mm2s_rdata;
    if (!read_valid || soc->m_axi_mm2s_rready) {
        read_valid = !reads.empty() && cycle >= reads.front().start;
        if (read_valid) {
            Burst &burst = reads.front();
            read_data = at(burst.address);
            burst.address += 4;
            read_last = --burst.words == 0;
            if (read_last) reads.pop_front();
        }
    }
    if (soc->m_axi_s2mm_wvalid && soc->m_axi_s2mm_wready) {
        Burst &burst = writes.front();
        at(burst.address) = soc->m_axi_s2mm_wdata;
        burst.address += 4;
        if (soc->m_axi_s2mm_wlast) {
            writes.pop_front();
            responses.push_back(cycle + WRITE_LATENCY);
        }
    }
    if (soc->m_axi_s2mm_awvalid && soc->m_axi_s2mm_awready) {
        writes.push_back({soc->m_axi_s2mm_awaddr, soc->m_axi_s2mm_awlen + 1u, 0});
    }
    bool response = soc->m_axi_s2mm_bvalid;
    if (!response || soc->m_axi_s2mm_bready) {
        response = !responses.empty() && cycle >= responses.front();
        if (response) responses.pop_front();
    }

    soc->aclk = 1;
    soc->eval();
    soc->m_axi_mm2s_rvalid = read_valid;
    soc->m_axi_mm2s_rlast = read_last;
    soc->m_axi_mm2s_rdata = read_data;
    soc->m_axi_mm2s_arready = reads.size() < 8;
    soc->m_axi_s2mm_awready = writes.size() < 8;
    soc->m_axi_s2mm_wready = !writes.empty();
    soc->m_axi_s2mm_bvalid = response;
    soc->aclk = 0;
    soc->eval();
    ++cycle;
}

void write(uint32_t address, uint32_t data) {
    soc->s_axi_lite_awaddr = address;
    soc->s_axi_lite_wdata = data;
    soc->s_axi_lite_wstrb = 15;
    soc->s_axi_lite_awvalid = soc->s_axi_lite_wvalid = soc->s_axi_lite_bready = 1;
    soc->eval();
    for (;;) {
        const bool address_taken = soc->s_axi_lite_awready, data_taken = soc->s_axi_lite_wready;
        const bool done = soc->s_axi_lite_bvalid;
        one_cycle();
        if (address_taken) soc->s_axi_lite_awvalid = 0;
        if (data_taken) soc->s_axi_lite_wvalid = 0;
        if (done) break;
    }
    soc->s_axi_lite_bready = 0;
}

uint32_t read(uint32_t address) {
    soc->s_axi_lite_araddr = address;
    soc->s_axi_lite_arvalid = soc->s_axi_lite_rready = 1;
    soc->eval();
    for (;;) {
        const bool taken = soc->s_axi_lite_arready, done = soc->s_axi_lite_rvalid;
        const uint32_t data = soc->s_axi_lite_rdata;
        one_cycle();
        if (taken) soc->s_axi_lite_arvalid = 0;
        if (done) {
            soc->s_axi_lite_rready = 0;
            return data;
        }
    }
}

}  // namespace

void vl_finish(const char *, int, const char *) { std::exit(1); }

int main(int argc, char **argv) {
    Verilated::commandArgs(argc, argv);
    soc = new Vtop;
    base = IN_ADDRESS;
    uint32_t n = 0, random = 1;
    for (int tile = 0; tile < TILES; ++tile) {
        memory[n++] = LOAD_A;
        for (int i = 0; i < A_WORDS; ++i) memory[n++] = random = random * 1664525u + 1013904223u;
        memory[n++] = LOAD_B;
        for (int i = 0; i < B_WORDS; ++i) memory[n++] = random = random * 1664525u + 1013904223u;
        memory[n++] = COMPUTE;
    }
    memory[n++] = STORE;

    soc->aresetn = 0;
    for (int i = 0; i < 8; ++i) one_cycle();
    soc->aresetn = 1;
    const std::clock_t begin = std::clock();
    cycle = 0;
    write(MM2S + DMACR, DMACR_RS);
    write(S2MM + DMACR, DMACR_RS);
    for (int i = 0; i < REPEAT; ++i) {
        write(S2MM + ADDRESS, OUT_ADDRESS);
        write(S2MM + LENGTH, C_WORDS * 4);
        write(MM2S + ADDRESS, IN_ADDRESS);
        write(MM2S + LENGTH, n * 4);
        while (!(read(MM2S + DMASR) & DMASR_IDLE)) {
        }
        while (!(read(S2MM + DMASR) & DMASR_IDLE)) {
        }
    }
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    std::printf("%llu %.6f %u\n", static_cast<unsigned long long>(cycle), seconds, at(OUT_ADDRESS + 4 * C_WORDS - 4));
}
