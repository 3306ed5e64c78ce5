// What AArch64 does otherwise than ARMv7: system instructions and registers. References are to the ARMv8-A ARM.
#include <cstring>

#include "cpu.hpp"
#include "text.hpp"

namespace axl {

namespace {

constexpr uint64_t COUNTER_HZ = 100000000; // of the system counter of a Zynq UltraScale+ (UG1085, 5.4)

// Operands of MSR, MRS and SYS (C5.1.2).
struct System {
    uint32_t op0, op1, crn, crm, op2, register_number;
    explicit System(uint32_t w)
        : op0(w >> 19 & 3), op1(w >> 16 & 7), crn(w >> 12 & 15), crm(w >> 8 & 15), op2(w >> 5 & 7), register_number(w & 31) {}
};

// SCTLR_EL1.
bool is_control(const uc_arm64_cp_reg &one) { return one.op0 == 3 && one.op1 == 0 && one.crn == 1 && one.crm == 0 && one.op2 == 0; }

} // namespace

// SYS with DC, IC or TLBI, and MSR of what the attributes of memory come from: SCTLR (c1), TCR and TTBR (c2), MAIR (c10),
// of EL1. DC ZVA (c7, c4) is none: it writes zeros.
bool Cpu::is_system_write(uint32_t w) const {
    const System one(w);
    if ((w & 0xFFF80000) == 0xD5080000)
        return one.crn == 8 || (one.crn == 7 && one.crm != 4 && one.crm != 8);
    return (w & 0xFFF80000) == 0xD5180000 && one.op1 == 0 && (one.crn == 1 || one.crn == 2 || one.crn == 10);
}

// It is about to execute. DC by address goes to the point of coherency: through both levels (C5.3).
void Cpu::system_write(uint32_t pc) {
    uint32_t word;
    memcpy(&word, ram + pc, sizeof word);
    const System one(word);
    if (one.op0 == 3 || one.crn == 8) { // look again when it has executed, at the next block
        attributes_changed = true;
        next_event = 0;
        return;
    }
    timeline.maintenance(cycles(), instructions);
    if (one.crm == 1 || one.crm == 5) { // IC
        memory.l1i.reset();
        last_fetch = NO_LINE;
        return;
    }
    uint64_t value = 0;
    uc_reg_read(engine, one.register_number == 31 ? static_cast<int>(UC_ARM64_REG_XZR)
                                                  : static_cast<int>(UC_ARM64_REG_X0 + one.register_number), &value);
    const uint32_t operation = one.crm == 6    ? static_cast<uint32_t>(Memory::INVALIDATE)
                               : one.crm == 14 ? Memory::CLEAN | Memory::INVALIDATE
                                               : static_cast<uint32_t>(Memory::CLEAN);
    if (one.op2 == 2) {
        memory.set_way(static_cast<uint32_t>(value), operation);
        return;
    }
    const uint32_t line = static_cast<uint32_t>(value) >> memory.line_shift;
    memory.l1_line(line, operation);
    memory.l2_line(line, operation);
}

// MRS of the system counter, whose time is the simulated one, and of SCTLR_EL1; 0: the engine does it.
uint32_t Cpu::system_read(int to, const uc_arm64_cp_reg &from) {
    if (is_control(from)) {
        set(to, system_register(0, 1, 0, 0) | mmu);
        return 1;
    }
    if (from.op0 != 3 || from.op1 != 3 || from.crn != 14 || from.crm != 0 || from.op2 > 2)
        return 0;
    const unsigned __int128 now = static_cast<unsigned __int128>(cycles()) * COUNTER_HZ / config.cpu_hz;
    set(to, from.op2 == 0 ? COUNTER_HZ : static_cast<uint64_t>(now)); // CNTFRQ, CNTPCT, CNTVCT
    return 1;
}

// The engine's own MMU stays off (it does not find its tables here): tables have to be flat, and only the attributes
// in them matter.
uint32_t Cpu::system_register_write(int from, const uc_arm64_cp_reg &to) {
    if (!is_control(to))
        return 0;
    uint64_t value = 0;
    uc_reg_read(engine, from, &value);
    mmu = value & 1;
    uc_arm64_cp_reg without = to;
    without.val = value & ~1ull;
    uc_reg_write(engine, UC_ARM64_REG_CP_REG, &without);
    return 1;
}

uint64_t Cpu::system_register(uint32_t op1, uint32_t crn, uint32_t crm, uint32_t op2) const {
    uc_arm64_cp_reg access{};
    access.op0 = 3;
    access.op1 = op1;
    access.crn = crn;
    access.crm = crm;
    access.op2 = op2;
    uc_reg_read(engine, UC_ARM64_REG_CP_REG, &access);
    return access.val;
}

// L2 has no switch of its own: it is on with L1D.
void Cpu::read_attributes() {
    const Attributes::Wide registers = {system_register(0, 1, 0, 0) | mmu, system_register(0, 2, 0, 0),
                                        system_register(0, 2, 0, 2), system_register(0, 10, 2, 0)};
    std::optional<uint32_t> moved;
    memory.l2_on = attributes.read(registers, ram, RAM_SIZE, moved);
    if (!moved)
        return;
    fail(AXL_FAULT_EXCEPTION, memory.pc, *moved,
         format("the tables of the MMU do not map 0x%08X to itself at pc 0x%08X: only flat ones are simulated", *moved, memory.pc));
    stop_engine();
}

// Base and scaled offset of PRFM and of the loads and stores that share its form; 0 for others.
uint32_t Cpu::wide_transfer_address(uint32_t w) const {
    if ((w & 0x3B000000) != 0x39000000)
        return 0;
    const uint32_t base = w >> 5 & 31;
    uint64_t address = 0;
    uc_reg_read(engine, base == 31 ? static_cast<int>(UC_ARM64_REG_SP) : base == 30 ? static_cast<int>(UC_ARM64_REG_X30)
                        : base == 29 ? static_cast<int>(UC_ARM64_REG_X29) : static_cast<int>(UC_ARM64_REG_X0 + base), &address);
    return static_cast<uint32_t>(address) + ((w >> 10 & 0xFFF) << (w >> 30));
}

} // namespace axl
