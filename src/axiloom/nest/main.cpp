// Runs a circuit of loop nests: external memories in banks, and streams, a word a cycle or with pauses.
//
// usage: simulation INPUT OUTPUT RUNS RESET_BETWEEN LIMIT SEED PAUSE_IN PAUSE_OUT
//
// INPUT holds the banks of each external memory, each element in its cell, and the elements of each input
// stream in 64-bit words, in the order of ports.h. OUTPUT gets for each run: cycles, number of the check that
// failed, memories, elements of the output streams, peaks of the FIFOs. PAUSE_* are in 256ths of the cycles.

#include <cerrno>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "Vtop.h"
#include "verilated.h"

static const uint64_t POISON = 0xBAD0DA7ABAD0DA7Aull;  // what a port without a read gives

static uint64_t random_state = 1;
static unsigned random_byte() {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state >> 24 & 255;
}

static unsigned long long now = 0;
[[noreturn]] static void fail(const char *what, unsigned bank, unsigned long long address) {
    std::printf("%s: bank %u has no address %llu (cycle %llu)\n", what, bank, address, now);
    std::exit(3);
}

// Ports have one of Verilator's integers, or, beyond 64 bits, an array of 32-bit words.
template <class Port> static void put(Port &port, const uint64_t *from, uint64_t mask) { port = *from & mask; }
template <std::size_t N> static void put(VlWide<N> &port, const uint64_t *from, uint64_t mask) {
    for (std::size_t i = 0; i < N; ++i) port[i] = uint32_t(from[i / 2] >> 32 * (i % 2));
    if (N % 2) port[N - 1] &= uint32_t(mask);
    else port[N - 1] &= uint32_t(mask >> 32);
}
template <class Port> static void get(const Port &port, uint64_t *to) { *to = port; }
template <std::size_t N> static void get(const VlWide<N> &port, uint64_t *to) {
    for (std::size_t i = 0; i < (N + 1) / 2; ++i)
        to[i] = port[2 * i] | (2 * i + 1 < N ? uint64_t(port[2 * i + 1]) << 32 : 0);
}

// Elements are kept in the smallest integer that holds one, or in 64-bit words: arrays may be half a gigabyte.
template <class Cell, unsigned words> struct Memory {
    const char *name;
    unsigned banks, depth;
    std::vector<Cell> first, data;

    void load(FILE *file) {
        first.resize(std::size_t(banks) * depth * words);
        if (std::fread(first.data(), sizeof(Cell), first.size(), file) != first.size()) std::exit(4);
    }
    // Keeps what it begins with only if a run comes after this one.
    void begin(bool again) {
        if (again) data = first;
        else data.swap(first);
    }
    void save(FILE *file) const { std::fwrite(data.data(), sizeof(Cell), data.size(), file); }
    Cell *at(unsigned bank, unsigned long long address) {
        if (address >= depth) fail(name, bank, address);
        return &data[(std::size_t(bank) * depth + address) * words];
    }
    // What a read port gives; `kept` until the clock's edge.
    template <class Address> void read(unsigned bank, bool enabled, Address address, uint64_t *kept) {
        const Cell *from = enabled ? at(bank, address) : nullptr;
        for (unsigned i = 0; i < words; ++i) kept[i] = from ? from[i] : POISON;
    }
    template <class Address, class Data> void write(unsigned bank, bool enabled, Address address, const Data &from) {
        if (!enabled) return;
        uint64_t held[words];
        get(from, held);
        Cell *to = at(bank, address);
        for (unsigned i = 0; i < words; ++i) to[i] = Cell(held[i]);
    }
};

struct Input {
    unsigned elements, words;
    uint64_t mask;
    std::vector<uint64_t> data;
    unsigned next = 0;
    bool offered = false;

    void load(FILE *file) {
        data.resize(std::size_t(elements) * words);
        if (std::fread(data.data(), 8, data.size(), file) != data.size()) std::exit(4);
    }
    // What is offered stays until it is taken.
    template <class Port> void drive(CData &valid, CData &last, Port &port, unsigned pause) {
        offered = offered || (next < elements && random_byte() >= pause);
        valid = offered;
        last = next + 1 == elements;
        if (offered) put(port, &data[std::size_t(next) * words], mask);
    }
    void sample(bool ready) {
        if (offered && ready) ++next, offered = false;
    }
};

struct Output {
    const char *name;
    unsigned elements, words;
    std::vector<uint64_t> data;
    unsigned next = 0;

    template <class Port> void sample(bool valid, bool ready, bool last, const Port &port) {
        if (!valid || !ready) return;
        if (last != (next + 1 == elements) || next == elements) {
            std::printf("%s: TLAST is %d on element %u of %u\n", name, int(last), next + 1, elements);
            std::exit(3);
        }
        get(port, &data[std::size_t(next++) * words]);
    }
};

#include "ports.h"

static Vtop *top;
static void cycle(unsigned pause_in, unsigned pause_out) {
    drive_streams(top, pause_in, pause_out);
    top->eval();
    if (settle_reads(top)) top->eval();
    sample_ports(top);
    top->aclk = 1;
    top->eval();
    drive_reads(top);
    top->aclk = 0;
    ++now;
}

static void reset() {
    top->aresetn = 0;
    top->start = 0;
    for (int i = 0; i < 4; ++i) {
        top->eval();
        top->aclk = 1;
        top->eval();
        top->aclk = 0;
    }
    top->aresetn = 1;
}

// $finish: ours has none.
void vl_finish(const char *, int, const char *) {}

int main(int argc, char **argv) {
    if (argc != 9) return 2;
    FILE *input = std::fopen(argv[1], "rb"), *output = std::fopen(argv[2], "wb");
    if (!input || !output) return 4;
    const int runs = std::atoi(argv[3]), reset_between = std::atoi(argv[4]);
    const unsigned long long limit = std::strtoull(argv[5], nullptr, 10);
    random_state = std::strtoull(argv[6], nullptr, 10) * 2654435769u + 1;
    const unsigned pause_in = std::atoi(argv[7]), pause_out = std::atoi(argv[8]);
    VerilatedContext context;
    top = new Vtop{&context, "top"};
    load(input);
    reset();
    for (int number = 0; number < runs; ++number) {
        if (number && reset_between) {  // in the middle of a run, which must leave nothing behind
            begin(true);
            top->start = 1;
            cycle(pause_in, pause_out);
            top->start = 0;
            for (unsigned i = 0, n = random_byte(); i < n; ++i) cycle(pause_in, pause_out);
            reset();
        }
        begin(number + 1 < runs);
        now = 0;
        top->start = 1;
        cycle(pause_in, pause_out);
        top->start = 0;
        top->eval();
        while (!top->done && !ERROR(top)) {
            if (now > limit) {
                std::printf("not done after %llu cycles\n", now);
                return 3;
            }
            cycle(pause_in, pause_out);
            top->eval();
        }
        const uint64_t cycles = top->cycles, error = ERROR(top);
        std::fwrite(&cycles, 8, 1, output);
        std::fwrite(&error, 8, 1, output);
        save(top, output);
    }
    if (std::ferror(output) | std::fclose(output)) {
        std::printf("%s\n", std::strerror(errno));
        return 74;  // EX_IOERR
    }
    delete top;
    return 0;
}
