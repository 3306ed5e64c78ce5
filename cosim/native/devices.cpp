// What the CPU meets outside RAM: the DMA's page (handed to the RTL), its private page, CP15, and its own faults.
#include <cstring>

#include "cpu.hpp"
#include "text.hpp"

namespace axl {

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

uint32_t Cpu::device_read(uint32_t address, unsigned size) {
    if (!device_access(address, size, false))
        return 0;
    mmio_reads++;
    const bool again = address == last_read || address == read_before;
    polls += again;
    timeline.read(again, cycles(), instructions);
    read_before = last_read;
    last_read = address;
    yield(AXL_OP_READ, address, 0);
    if (response)
        fail(AXL_FAULT_BUS, state.mmio_pc, address,
             format("load of 0x%08X at pc 0x%08X: AXI response %u", address, state.mmio_pc, static_cast<uint32_t>(response)));
    if (state.run == AXL_RUN_FAULT)
        stop_engine();
    return answer;
}

void Cpu::device_write(uint32_t address, unsigned size, uint32_t value) {
    if (!device_access(address, size, true))
        return;
    mmio_writes++;
    last_read = read_before = NO_ACCESS;
    timeline.write(address, value, cycles());
    yield(AXL_OP_WRITE, address, value);
    if (response)
        fail(AXL_FAULT_BUS, state.mmio_pc, address,
             format("store to 0x%08X at pc 0x%08X: AXI response %u", address, state.mmio_pc, static_cast<uint32_t>(response)));
    if (state.run == AXL_RUN_FAULT)
        stop_engine();
}

namespace {
// Cortex-A9 MPCore TRM, 4.4 (global timer at 0x200) and 2.2 (SCU at 0x000); PL310 at 0x2000 (PL310 TRM, 3.1).
enum : uint32_t {
    SCU_END = 0x58,
    TIMER_LOW = 0x200,
    TIMER_HIGH = 0x204,
    TIMER_CONTROL = 0x208,
    PL310 = 0x2000,
    PL310_CONTROL = 0x100,
    PL310_INVALIDATE_LINE = 0x770,
    PL310_INVALIDATE_WAY = 0x77C,
    PL310_CLEAN_LINE = 0x7B0,
    PL310_CLEAN_WAY = 0x7BC,
    PL310_FLUSH_LINE = 0x7F0,
    PL310_FLUSH_WAY = 0x7FC
};
constexpr uint32_t PL310_ID = 0x410000C8; // r3p2, as on a Zynq-7000
constexpr uint32_t TIMER_DIVISOR = 2;     // PERIPHCLK is half of the CPU's clock
} // namespace

uint32_t Cpu::private_read(uint32_t offset, unsigned size) {
    memory.penalty += config.private_read_cycles;
    uint64_t time = timer_control & 1 ? (cycles() - timer_start) / TIMER_DIVISOR : 0;
    if (size == 4 && offset == TIMER_LOW)
        return static_cast<uint32_t>(time);
    if (size == 4 && offset == TIMER_HIGH)
        return static_cast<uint32_t>(time >> 32);
    if (size == 4 && offset == TIMER_CONTROL)
        return timer_control;
    if (size == 4 && offset == PL310)
        return PL310_ID;
    if (size == 4 && offset == PL310 + PL310_CONTROL)
        return pl310_control;
    if (size == 4 && (offset >= PL310 || offset < SCU_END))
        return 0; // operations are over at once; nothing else in there has an effect here
    fail(AXL_FAULT_ACCESS, state.mmio_pc, PRIVATE_BASE + offset,
         format("load of 0x%08X at pc 0x%08X: this register of the CPU's private page is not modelled",
                PRIVATE_BASE + offset, state.mmio_pc));
    stop_engine();
    return 0;
}

void Cpu::private_write(uint32_t offset, unsigned size, uint32_t value) {
    memory.penalty += config.private_write_cycles;
    if (size == 4 && offset == TIMER_CONTROL) {
        if ((value & 1) && !(timer_control & 1))
            timer_start = cycles();
        timer_control = value;
        return;
    }
    if (size == 4 && offset >= PL310) {
        timeline.maintenance(cycles(), instructions);
        pl310_write(offset - PL310, value);
        return;
    }
    if (size == 4 && offset < SCU_END)
        return;
    fail(AXL_FAULT_ACCESS, state.mmio_pc, PRIVATE_BASE + offset,
         format("store to 0x%08X at pc 0x%08X: this register of the CPU's private page is not modelled",
                PRIVATE_BASE + offset, state.mmio_pc));
    stop_engine();
}

void Cpu::pl310_write(uint32_t offset, uint32_t value) {
    const uint32_t line = value >> memory.line_shift;
    switch (offset) {
    case PL310_CONTROL:
        pl310_control = value & 1;
        memory.l2_on = value & 1;
        return;
    case PL310_INVALIDATE_LINE:
        return memory.l2_line(line, Memory::INVALIDATE);
    case PL310_CLEAN_LINE:
        return memory.l2_line(line, Memory::CLEAN);
    case PL310_FLUSH_LINE:
        return memory.l2_line(line, Memory::CLEAN | Memory::INVALIDATE);
    case PL310_INVALIDATE_WAY:
        return memory.l2_ways(value, Memory::INVALIDATE);
    case PL310_CLEAN_WAY:
        return memory.l2_ways(value, Memory::CLEAN);
    case PL310_FLUSH_WAY:
        return memory.l2_ways(value, Memory::CLEAN | Memory::INVALIDATE);
    default:
        return;
    }
}

// A MCR to CP15 is about to execute. ARMv7-A ARM, B3.17.2 (c7) and B4.2.
void Cpu::coprocessor_write(uint32_t pc) {
    uint32_t word;
    memcpy(&word, ram + pc, sizeof word);
    uint32_t crn = (word >> 16) & 15, crm = word & 15, opc2 = (word >> 5) & 7;
    if (crn != 7) { // SCTLR, TTBR or TLB: look again when it has executed, at the next block
        attributes_changed = true;
        next_event = 0;
        return;
    }
    uint32_t value = general(word >> 12);
    timeline.maintenance(cycles(), instructions);
    if (crm == 5 && opc2 <= 1) {
        memory.l1i.reset();
        last_fetch = NO_LINE;
        return;
    }
    uint32_t operation = crm == 6    ? static_cast<uint32_t>(Memory::INVALIDATE)
                         : crm == 14 ? Memory::CLEAN | Memory::INVALIDATE
                         : crm == 10 || crm == 11 ? static_cast<uint32_t>(Memory::CLEAN)
                                                  : 0u;
    if (operation && opc2 == 1)
        memory.l1_line(value >> memory.line_shift, operation);
    else if (operation && opc2 == 2)
        memory.set_way(value, operation);
}

// The engine stops before it writes the fault address register, so it is computed again from the ARM instruction:
// base and offset of LDR and STR in all their forms, the base alone of the rest.
uint32_t Cpu::transfer_address(uint32_t pc) const {
    if (pc > RAM_SIZE - 4 || instructions_set() == Decoder::T32)
        return 0;
    uint32_t w;
    memcpy(&w, ram + pc, sizeof w);
    if (wide)
        return wide_transfer_address(w);
    uint32_t base = general(w >> 16), offset = 0;
    if (((w >> 16) & 15) == 15)
        base += 8;
    if ((w & 0x0E000000) == 0x04000000)
        offset = w & 0xFFF;
    else if ((w & 0x0E000010) == 0x06000000 && (w & 0x60) == 0)
        offset = general(w) << ((w >> 7) & 31);
    else if ((w & 0x0E000090) == 0x00000090)
        offset = w & 0x00400000 ? (w >> 4 & 0xF0) | (w & 15) : general(w);
    else if ((w & 0x0E000000) == 0x0C000000)
        offset = (w & 0xFF) << 2;
    if (!(w & 0x01000000)) // post-indexed
        return base;
    return w & 0x00800000 ? base + offset : base - offset;
}

// Linux on ARM (EABI): the number in r7, the result in r0. The kernel's own work is the profile's constants: msync
// of a mapped device walks page tables and writes nothing.
void Cpu::system_call(uint32_t pc) {
    constexpr uint32_t MSYNC = 144;
    uint32_t number = reg(UC_ARM_REG_R7), result = 0;
    if (number != MSYNC) {
        fail(AXL_FAULT_EXCEPTION, pc, 0, format("system call %u before pc 0x%08X: only msync (144) is simulated", number, pc));
        stop_engine();
        return;
    }
    syscalls++;
    memory.penalty += config.syscall.cycles;
    uc_reg_write(engine, UC_ARM_REG_R0, &result);
}

void Cpu::exception(uint32_t number) {
    // The engine's numbers (QEMU's EXCP_*): 1 undefined, 2 SVC, 3 prefetch abort, 4 data abort.
    uint32_t pc = this->pc();
    if (number == 2 && process.on) {
        process_call(pc);
        return;
    }
    if (number == 2 && config.has_os) {
        system_call(pc);
        return;
    }
    if (number == 4) {
        uint32_t address = transfer_address(pc);
        fail(AXL_FAULT_UNMAPPED, pc, address, format("data abort at pc 0x%08X, address 0x%08X", pc, address));
    } else if (number == 3)
        fail(AXL_FAULT_UNMAPPED, memory.pc, pc, format("jump to 0x%08X from the block at 0x%08X: nothing is mapped there", pc, memory.pc));
    else if (number == 1)
        fail(AXL_FAULT_UNDEFINED, pc, pc, format("undefined instruction at pc 0x%08X", pc));
    else
        fail(AXL_FAULT_EXCEPTION, pc, 0, format("exception %u at pc 0x%08X: the program has no handlers here", number, pc));
    stop_engine();
}

} // namespace axl
