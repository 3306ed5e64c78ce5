// What the CPU meets outside RAM: the DMA's page (handed to the RTL), and its own faults.
#include "cpu/cpu.hpp"
#include "bus/dma_registers.h"
#include "text.hpp"

namespace axl {

namespace {

constexpr uint32_t DESCRIPTOR_BYTES = 64;

} // namespace

bool Cpu::device_access(uint32_t address, unsigned size, bool write) {
    if (state.run == AXL_RUN_FAULT || aborting)
        return false;
    const char *text = nullptr;
    if (alone)
        text = "%s of 0x%08X at pc 0x%08X: there is no accelerator in a CPU-only run";
    else if (size != 4 || address % 4)
        text = "%s of 0x%08X at pc 0x%08X: the DMA's registers take aligned 32-bit accesses only";
    if (!text)
        return true;
    char line[200];
    snprintf(line, sizeof line, text, write ? "store" : "load", address, state.mmio_pc);
    fail(AXL_FAULT_ACCESS, state.mmio_pc, address, line);
    stop_engine();
    return false;
}

uint32_t Cpu::bus_read(uint32_t address) {
    mmio_reads++;
    const bool again = address == last_read || address == read_before;
    polls += again;
    timeline.read(again, cycles(), instructions);
    read_before = last_read;
    last_read = address;
    yield(AXL_OP_READ, address, 0);
    uint32_t page = 0;
    if (is_page(address, page))
        rules.read(page, address - config.mmio_base[page], answer);
    return answer;
}

uint32_t Cpu::device_read(uint32_t address, unsigned size) {
    if (!device_access(address, size, false))
        return 0;
    bus_read(address);
    if (response)
        fail(AXL_FAULT_BUS, state.mmio_pc, address,
             format("load of 0x%08X at pc 0x%08X: AXI response %u", address, state.mmio_pc, static_cast<uint32_t>(response)));
    if (state.run == AXL_RUN_FAULT)
        stop_engine();
    return answer;
}

void Cpu::bus_write(uint32_t address, uint32_t value) {
    mmio_writes++;
    last_read = read_before = NO_ACCESS;
    timeline.write(address, value, cycles());
    if (config.dma_coherent)
        told_of(address, value);
    pointed.write(address, value);
    uint32_t page = 0;
    const bool known = is_page(address, page);
    const Place place{state.mmio_pc, timeline.left_own()};
    const uint32_t offset = address - config.mmio_base[page];
    if (offset >= AXL_REGISTERS_AT || (offset % S2MM != DMACR && offset % S2MM != DMASR)) {
        if (offset < S2MM || offset >= AXL_REGISTERS_AT)
            memory.sends = place;
        if (offset >= S2MM)
            memory.receives = place;
    }
    if (known)
        rules.writes(page, offset, value, place);
    yield(AXL_OP_WRITE, address, value);
    if (known && !response)
        rules.written(page, offset, value, was_busy, place);
}

void Cpu::device_write(uint32_t address, unsigned size, uint32_t value) {
    if (!device_access(address, size, true))
        return;
    bus_write(address, value);
    if (response)
        fail(AXL_FAULT_BUS, state.mmio_pc, address,
             format("store to 0x%08X at pc 0x%08X: AXI response %u", address, state.mmio_pc, static_cast<uint32_t>(response)));
    if (state.run == AXL_RUN_FAULT)
        stop_engine();
}

bool Cpu::is_page(uint32_t address, uint32_t &number) const {
    for (uint32_t page = 0; page < config.mmio_pages; page++)
        if (address - config.mmio_base[page] < config.mmio_size) {
            number = page;
            return true;
        }
    return false;
}

// The CPU comes to a line while a transfer was not seen to have ended: has it, when the DMA has come as far as the CPU?
void Cpu::touch_in_flight(bool write, uint32_t address, uint32_t size) {
    const int transfer = rules.transfer_of(write, address, size);
    if (transfer < 0 || alone || aborting)
        return;
    if (busy >> transfer & 1 && to_fabric(cycles()) > now)
        yield(AXL_OP_ADVANCE, 0, 0);
    if (busy >> transfer & 1)
        rules.touches(transfer, write, address, here());
    else
        rules.has_ended(transfer);
    if (state.run == AXL_RUN_FAULT)
        stop_engine();
}

// Descriptors lie from the first that a channel is told of to the last.
void Cpu::told_of(uint32_t address, uint32_t value) {
    for (uint32_t page = 0; page < config.mmio_pages; page++)
        for (uint32_t channel : {MM2S, S2MM}) {
            const uint32_t base = config.mmio_base[page] + channel;
            if ((address != base + CURDESC && address != base + TAILDESC) || value >= RAM_SIZE)
                continue;
            Ring &ring = rings[2 * page + (channel == S2MM)];
            const uint32_t low = ring.span ? std::min(ring.low, value) : value;
            ring.span = std::max(ring.span ? ring.low + ring.span : 0, value + DESCRIPTOR_BYTES) - low;
            ring.low = low;
            const uint32_t all = around.span ? std::min(around.low, low) : low;
            around.span = std::max(around.span ? around.low + around.span : 0, low + ring.span) - all;
            around.low = all;
        }
}

// The CPU waits for a descriptor in its own caches: the DMA must have come as far as the CPU when it looks.
void Cpu::look_at_descriptor(uint32_t address) {
    bool found = false;
    for (const Ring &ring : rings)
        found |= address - ring.low < ring.span;
    if (!found || alone || aborting || to_fabric(cycles()) <= now)
        return;
    if (address == last_look) {
        polls++;
        timeline.read(true, cycles(), instructions);
    }
    last_look = address;
    yield(AXL_OP_ADVANCE, 0, 0);
    if (state.run == AXL_RUN_FAULT)
        stop_engine();
}

// A system call of a program on bare metal that stands for a process. The kernel's own work is the profile's constants:
// msync of a mapped device walks page tables and writes nothing.
void Cpu::system_call(uint32_t pc, const Host::Linux &linux_abi) {
    const uint32_t number = reg(linux_abi.number), msync = linux_abi.abi.msync;
    if (number != msync) {
        stop_with(AXL_FAULT_EXCEPTION, pc, 0,
                  format("system call %u before pc 0x%08X: only msync (%u) is simulated", number, pc, msync));
        return;
    }
    syscalls++;
    memory.penalty += config.syscall.cycles;
    set(linux_abi.arguments[0], 0);
}

void Cpu::exception(uint32_t number) {
    const Host::Trap trap = host->trap(number);
    const uint32_t pc = trap.pc;
    const Host::Linux *linux_abi = host->linux_abi();
    if (surroundings && trap.kind != Host::Trap::OTHER) {
        const char *text = trap.kind == Host::Trap::FETCH_ABORT ? "jump to 0x%08X (pc 0x%08X): the program's own table forbids it"
                           : trap.kind == Host::Trap::UNDEFINED ? "undefined instruction at 0x%08X (pc 0x%08X)"
                           : trap.write                         ? "store to 0x%08X at pc 0x%08X: the program's own table forbids it"
                                                                : "load of 0x%08X at pc 0x%08X: the program's own table forbids it";
        take_trap(trap, format(text, trap.kind == Host::Trap::DATA_ABORT ? trap.address : pc, pc));
        stop_engine();
        return;
    }
    if (trap.kind == Host::Trap::SYSTEM_CALL && linux_abi && process.on)
        return process_call(pc, *linux_abi);
    if (trap.kind == Host::Trap::SYSTEM_CALL && linux_abi && config.has_os)
        return system_call(pc, *linux_abi);
    switch (trap.kind) {
    case Host::Trap::DATA_ABORT:
        fail(AXL_FAULT_UNMAPPED, pc, trap.address, format("data abort at pc 0x%08X, address 0x%08X", pc, trap.address));
        break;
    case Host::Trap::FETCH_ABORT:
        fail(AXL_FAULT_UNMAPPED, memory.pc, pc, format("jump to 0x%08X from the block at 0x%08X: nothing is mapped there", pc, memory.pc));
        break;
    case Host::Trap::UNDEFINED:
        fail(AXL_FAULT_UNDEFINED, pc, pc, format("undefined instruction at pc 0x%08X", pc));
        break;
    default:
        fail(AXL_FAULT_EXCEPTION, pc, 0, format("exception %u at pc 0x%08X: the program has no handlers here", trap.number, pc));
    }
    stop_engine();
}

} // namespace axl
