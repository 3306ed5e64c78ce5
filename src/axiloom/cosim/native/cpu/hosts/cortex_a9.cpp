// A Cortex-A9 as in a Zynq-7000: ARMv7, a PL310 as its second level, its private page. References are to the ARMv7-A ARM.
#include <cstring>
#include <iterator>

#include "cpu/cpu.hpp"
#include "text.hpp"
#include "decode_a32.hpp"
#include "tables_armv7.hpp"

namespace axl {

namespace {

// Registers in the CPU's private page that are served here, without the RTL.
constexpr uint32_t PRIVATE_BASE = 0xF8F00000, PRIVATE_SIZE = 0x3000;

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

// Linux on 32-bit ARM (EABI), arch/arm/tools/syscall.tbl.
constexpr Process::Number CALLS[] = {
    {1, Process::EXIT},          {248, Process::EXIT},        {3, Process::READ},        {4, Process::WRITE},
    {5, Process::OPEN},          {322, Process::OPENAT},      {6, Process::CLOSE},       {19, Process::SEEK},
    {140, Process::SEEK_WIDE},   {192, Process::MAP_PAGES},   {91, Process::UNMAP},      {125, Process::PROTECT},
    {45, Process::BREAK},        {54, Process::CONTROL},      {146, Process::WRITE_VECTOR}, {181, Process::WRITE_AT},
    {403, Process::CLOCK},       {263, Process::CLOCK_NARROW}, {162, Process::SLEEP},    {407, Process::SLEEP_CLOCK},
    {158, Process::NOTHING},     {144, Process::NOTHING},     {174, Process::NOTHING},   {175, Process::NOTHING},
    {338, Process::NOTHING},     {256, Process::ONE},         {20, Process::ONE},        {224, Process::ONE},
    {0xF0005, Process::SET_TLS}, {0xF0002, Process::NOTHING},
};

// <asm/hwcap.h>: halfwords, Thumb, multiplies, VFP, NEON, VFPv3, TLS.
constexpr uint64_t HWCAP = 1 << 1 | 1 << 2 | 1 << 4 | 1 << 6 | 1 << 12 | 1 << 13 | 1 << 15;

// EABI: the number in r7, arguments and result in r0 to r5.
const Host::Linux LINUX = {
    {4, HWCAP, 144, std::begin(CALLS), std::end(CALLS)},
    UC_ARM_REG_R7,
    {UC_ARM_REG_R0, UC_ARM_REG_R1, UC_ARM_REG_R2, UC_ARM_REG_R3, UC_ARM_REG_R4, UC_ARM_REG_R5},
};

} // namespace

class CortexA9 : public Host {
  public:
    using Host::Host;

    const Registers &registers() const override {
        static const Registers found = {UC_ARM_REG_PC, UC_ARM_REG_SP, UC_ARM_REG_LR};
        return found;
    }

    uc_err open(uc_engine **engine) const override;
    uc_err map_devices() override;
    void decode(Block &block, uint32_t address, uint32_t size) const override;
    Special special(uint32_t word) const override;
    void system(uint32_t pc) override;
    std::optional<uint32_t> preload(uint32_t pc) const override;
    uint32_t resume_at(uint32_t pc) const override { return thumb() ? pc | 1 : pc; }
    Hint hint_before(uint32_t pc) const override;
    Trap trap(uint32_t number) const override;
    void read_attributes() override;
    const Linux *linux_abi() const override { return &LINUX; }
    void enter_process(uint32_t stack) override;
    void thread_pointer(uint32_t address) override { cpu.set(UC_ARM_REG_C13_C0_3, address); }

  private:
    uint64_t timer_start = 0;
    uint32_t timer_control = 0;
    uint32_t pl310_control = 0;

    bool thumb() const { return cpu.reg(UC_ARM_REG_CPSR) & 0x20; }
    uint32_t general(uint32_t field) const;
    uint32_t cp15(uint32_t crn, uint32_t crm, uint32_t opc1, uint32_t opc2) const;
    uint32_t transfer_address(uint32_t pc) const;
    uint32_t private_read(uint32_t offset, unsigned size);
    void private_write(uint32_t offset, unsigned size, uint32_t value);
    void pl310_write(uint32_t offset, uint32_t value);

    static uint64_t on_private_read(uc_engine *, uint64_t offset, unsigned size, void *self);
    static void on_private_write(uc_engine *, uint64_t offset, unsigned size, uint64_t value, void *self);
};

static const RegisterHost<CortexA9> registered("cortex_a9");

// ---- set-up ----------------------------------------------------------------------------------------------------

uc_err CortexA9::open(uc_engine **engine) const {
    const uc_err code = uc_open(UC_ARCH_ARM, UC_MODE_ARM, engine);
    if (code == UC_ERR_OK)
        uc_ctl_set_cpu_model(*engine, static_cast<int>(UC_CPU_ARM_CORTEX_A9));
    return code;
}

uc_err CortexA9::map_devices() {
    return uc_mmio_map(cpu.engine, PRIVATE_BASE, PRIVATE_SIZE, on_private_read, this, on_private_write, this);
}

void CortexA9::enter_process(uint32_t stack) {
    uc_arm_cp_reg access{};
    access.cp = 15, access.crn = 1, access.opc2 = 2, access.val = 0xF00000; // CPACR: cp10, cp11
    uc_reg_write(cpu.engine, UC_ARM_REG_CP_REG, &access);
    cpu.set(UC_ARM_REG_FPEXC, 0x40000000);
    cpu.set(UC_ARM_REG_CPSR, 0x10);
    cpu.set(UC_ARM_REG_SP, stack);
}

// ---- instructions ----------------------------------------------------------------------------------------------

void CortexA9::decode(Block &block, uint32_t address, uint32_t size) const {
    block.fill(address, size, cpu.config.cost, DecoderA32(cpu.ram, thumb()));
}

// Writes to CP15 c1 (SCTLR), c2 (TTBR), c7 (caches) and c8 (TLB). PLD and PLDW with an immediate or a shifted register
// (A8.8.126 ff.); in Thumb code they do nothing.
Host::Special CortexA9::special(uint32_t w) const {
    const uint32_t crn = (w >> 16) & 15;
    if ((w & 0x0FF00F10) == 0x0E000F10 && (crn == 1 || crn == 2 || crn == 7 || crn == 8))
        return Special::CALL;
    const bool pld = (w & 0xFF30F000) == 0xF510F000 || (w & 0xFF30F010) == 0xF710F000;
    return pld ? Special::PRELOAD : Special::NONE;
}

// A MCR to CP15 is about to execute. B3.17.2 (c7) and B4.2.
void CortexA9::system(uint32_t pc) {
    const uint32_t word = word_at(pc);
    uint32_t crn = (word >> 16) & 15, crm = word & 15, opc2 = (word >> 5) & 7;
    if (crn != 7) { // SCTLR, TTBR or TLB: look again when it has executed, at the next block
        cpu.look_again();
        return;
    }
    uint32_t value = general(word >> 12);
    cpu.maintains_caches();
    if (crm == 5 && opc2 <= 1) {
        cpu.empty_l1i();
        return;
    }
    uint32_t operation = crm == 6    ? static_cast<uint32_t>(Memory::INVALIDATE)
                         : crm == 14 ? Memory::CLEAN | Memory::INVALIDATE
                         : crm == 10 || crm == 11 ? static_cast<uint32_t>(Memory::CLEAN)
                                                  : 0u;
    if (operation && opc2 == 1)
        cpu.memory.l1_line(value >> cpu.memory.line_shift, operation);
    else if (operation && opc2 == 2)
        cpu.memory.set_way(value, operation, 1);
}

std::optional<uint32_t> CortexA9::preload(uint32_t pc) const {
    if (thumb())
        return std::nullopt;
    return transfer_address(pc);
}

// General register by the number in an instruction's field.
uint32_t CortexA9::general(uint32_t field) const {
    static const int registers[16] = {UC_ARM_REG_R0, UC_ARM_REG_R1, UC_ARM_REG_R2,  UC_ARM_REG_R3,
                                      UC_ARM_REG_R4, UC_ARM_REG_R5, UC_ARM_REG_R6,  UC_ARM_REG_R7,
                                      UC_ARM_REG_R8, UC_ARM_REG_R9, UC_ARM_REG_R10, UC_ARM_REG_R11,
                                      UC_ARM_REG_R12, UC_ARM_REG_SP, UC_ARM_REG_LR, UC_ARM_REG_PC};
    return cpu.reg(registers[field & 15]);
}

uint32_t CortexA9::cp15(uint32_t crn, uint32_t crm, uint32_t opc1, uint32_t opc2) const {
    uc_arm_cp_reg access{};
    access.cp = 15;
    access.crn = crn;
    access.crm = crm;
    access.opc1 = opc1;
    access.opc2 = opc2;
    uc_reg_read(cpu.engine, UC_ARM_REG_CP_REG, &access);
    return static_cast<uint32_t>(access.val);
}

// The engine stops before it writes the fault address register, so it is computed again from the ARM instruction:
// base and offset of LDR and STR in all their forms, the base alone of the rest.
uint32_t CortexA9::transfer_address(uint32_t pc) const {
    if (pc > RAM_SIZE - 4 || thumb())
        return 0;
    const uint32_t w = word_at(pc);
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

// ---- where the engine has stopped ------------------------------------------------------------------------------

// YIELD is hint 1, WFE 2, WFI 3. ARM, and both Thumb encodings: A8.8.425 ff.
Host::Hint CortexA9::hint_before(uint32_t pc) const {
    uint32_t address = pc & ~1u;
    if (address < 4 || address > RAM_SIZE)
        return Hint::NONE;
    const uint32_t word = word_at(address - 4), first = word & 0xFFFF, second = word >> 16;
    uint32_t hint = 0;
    if (!(pc & 1))
        hint = (second & 0x0FFF) == 0x0320 && (first & 0xFFF0) == 0xF000 ? first & 15 : 0;
    else if ((second & 0xFF0F) == 0xBF00)
        hint = second >> 4 & 15;
    else
        hint = first == 0xF3AF && (second & 0xFFF0) == 0x8000 ? second & 15 : 0;
    return hint == 3 ? Hint::SLEEP : hint == 1 || hint == 2 ? Hint::GO_ON : Hint::NONE;
}

// The engine's numbers are QEMU's EXCP_*.
Host::Trap CortexA9::trap(uint32_t number) const {
    const uint32_t pc = cpu.pc();
    switch (number) {
    case 1:
        return {Trap::UNDEFINED, pc, 0, number};
    case 2:
        return {Trap::SYSTEM_CALL, pc, 0, number};
    case 3:
        return {Trap::FETCH_ABORT, pc, 0, number};
    case 4:
        return {Trap::DATA_ABORT, pc, transfer_address(pc), number};
    default:
        return {Trap::OTHER, pc, 0, number};
    }
}

// ---- memory ----------------------------------------------------------------------------------------------------

void CortexA9::read_attributes() {
    TablesArmv7::read(cpu.attributes, cp15(1, 0, 0, 0), cp15(2, 0, 0, 0), cpu.ram, RAM_SIZE);
}

uint32_t CortexA9::private_read(uint32_t offset, unsigned size) {
    cpu.memory.penalty += cpu.config.private_read_cycles;
    uint64_t time = timer_control & 1 ? (cpu.cycles() - timer_start) / TIMER_DIVISOR : 0;
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
    cpu.stop_with(AXL_FAULT_ACCESS, cpu.state.mmio_pc, PRIVATE_BASE + offset,
                  format("load of 0x%08X at pc 0x%08X: this register of the CPU's private page is not modelled",
                         PRIVATE_BASE + offset, cpu.state.mmio_pc));
    return 0;
}

void CortexA9::private_write(uint32_t offset, unsigned size, uint32_t value) {
    cpu.memory.penalty += cpu.config.private_write_cycles;
    if (size == 4 && offset == TIMER_CONTROL) {
        if ((value & 1) && !(timer_control & 1))
            timer_start = cpu.cycles();
        timer_control = value;
        return;
    }
    if (size == 4 && offset >= PL310) {
        cpu.maintains_caches();
        cpu.in_device = true;
        pl310_write(offset - PL310, value);
        cpu.in_device = false;
        return;
    }
    if (size == 4 && offset < SCU_END)
        return;
    cpu.stop_with(AXL_FAULT_ACCESS, cpu.state.mmio_pc, PRIVATE_BASE + offset,
                  format("store to 0x%08X at pc 0x%08X: this register of the CPU's private page is not modelled",
                         PRIVATE_BASE + offset, cpu.state.mmio_pc));
}

void CortexA9::pl310_write(uint32_t offset, uint32_t value) {
    Memory &memory = cpu.memory;
    const uint32_t line = value >> memory.line_shift;
    switch (offset) {
    case PL310_CONTROL:
        pl310_control = value & 1;
        memory.turn_l2(value & 1);
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

uint64_t CortexA9::on_private_read(uc_engine *, uint64_t offset, unsigned size, void *self) {
    return static_cast<CortexA9 *>(self)->private_read(static_cast<uint32_t>(offset), size);
}

void CortexA9::on_private_write(uc_engine *, uint64_t offset, unsigned size, uint64_t value, void *self) {
    static_cast<CortexA9 *>(self)->private_write(static_cast<uint32_t>(offset), size, static_cast<uint32_t>(value));
}

} // namespace axl
