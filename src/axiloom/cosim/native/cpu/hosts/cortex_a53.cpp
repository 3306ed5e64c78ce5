// A Cortex-A53 as in a Zynq UltraScale+: AArch64. References are to the ARMv8-A ARM.
#include <iterator>

#include "cpu/cpu.hpp"
#include "text.hpp"
#include "decode_a64.hpp"
#include "tables_armv8.hpp"

namespace axl {

namespace {

constexpr uint64_t COUNTER_HZ = 100000000; // of the system counter of a Zynq UltraScale+ (UG1085, 5.4)

// Linux, 64-bit: include/uapi/asm-generic/unistd.h.
constexpr Process::Number CALLS[] = {
    {93, &Process::exit},          {94, &Process::exit_group},   {63, &Process::read},         {64, &Process::write},
    {65, &Process::readv},         {66, &Process::writev},       {67, &Process::pread},        {68, &Process::pwrite},
    {56, &Process::open_at},       {57, &Process::close},        {62, &Process::seek},         {29, &Process::ioctl},
    {25, &Process::fcntl},         {80, &Process::stat_of},      {79, &Process::stat_at},      {291, &Process::no_such},
    {48, &Process::access_at},     {78, &Process::not_there},
    {222, &Process::map_bytes},    {215, &Process::unmap},       {226, &Process::zero},        {214, &Process::brk},
    {233, &Process::zero},         {227, &Process::zero},        {228, &Process::zero},        {229, &Process::zero},
    {230, &Process::zero},         {231, &Process::zero},
    {73, &Process::ppoll},         {72, &Process::pselect},
    {113, &Process::clock},        {169, &Process::time_of_day}, {101, &Process::sleep},       {115, &Process::sleep_clock},
    {103, &Process::timer_set},    {85, &Process::timerfd},      {86, &Process::timerfd_set},  {19, &Process::eventfd},
    {220, &Process::clone},        {98, &Process::futex},        {124, &Process::yield},       {178, &Process::thread_id},
    {96, &Process::set_exit_address}, {99, &Process::zero},      {283, &Process::zero},
    {118, &Process::zero},         {119, &Process::zero},        {122, &Process::zero},        {123, &Process::affinity},          {167, &Process::zero},
    {134, &Process::sigaction},    {135, &Process::set_mask},     {139, &Process::sigreturn},   {129, &Process::kill},
    {130, &Process::tkill},        {131, &Process::tgkill},
    {278, &Process::random},       {160, &Process::uname},       {172, &Process::one},         {173, &Process::one},
    {174, &Process::zero},         {175, &Process::zero},        {176, &Process::zero},        {177, &Process::zero},
    {261, &Process::no_such},      {293, &Process::no_such},
};

// <asm/hwcap.h>: FP and SIMD. The number in x8, arguments and result in x0 to x5.
const Host::Linux LINUX = {
    {8, 3, 227, {0xD2801168, 0xD4000001}, std::begin(CALLS), std::end(CALLS)}, // mov x8, #139; svc #0
    UC_ARM64_REG_X8,
    {UC_ARM64_REG_X0, UC_ARM64_REG_X1, UC_ARM64_REG_X2, UC_ARM64_REG_X3, UC_ARM64_REG_X4, UC_ARM64_REG_X5},
};

// Operands of MSR, MRS and SYS (C5.1.2).
struct System {
    uint32_t op0, op1, crn, crm, op2, register_number;
    explicit System(uint32_t w)
        : op0(w >> 19 & 3), op1(w >> 16 & 7), crn(w >> 12 & 15), crm(w >> 8 & 15), op2(w >> 5 & 7), register_number(w & 31) {}
};

// SCTLR_EL1.
bool is_control(const uc_arm64_cp_reg &one) { return one.op0 == 3 && one.op1 == 0 && one.crn == 1 && one.crm == 0 && one.op2 == 0; }

} // namespace

class CortexA53 : public Host {
  public:
    using Host::Host;

    const Registers &registers() const override {
        static const Registers found = {UC_ARM64_REG_PC, UC_ARM64_REG_SP, UC_ARM64_REG_X30};
        return found;
    }

    uc_err open(uc_engine **engine) const override;
    bool add_hooks() override;
    void decode(Block &block, uint32_t address, uint32_t size) const override;
    Special special(uint32_t word) const override;
    void system(uint32_t pc) override;
    std::optional<uint32_t> preload(uint32_t pc) const override { return transfer_address(pc); }
    Hint hint_before(uint32_t pc) const override;
    Trap trap(uint32_t number) const override;
    void read_attributes() override;
    const Linux *linux_abi() const override { return &LINUX; }
    void enter_process(uint32_t stack) override;
    void thread_pointer(uint32_t address) override { cpu.set(UC_ARM64_REG_TPIDR_EL0, address); }

  private:
    uint64_t mmu = 0; // SCTLR_EL1.M, as the program sees it

    uint64_t general(uint32_t number, int register_31) const;
    uint32_t transfer_address(uint32_t pc) const;
    uint64_t system_register(uint32_t op1, uint32_t crn, uint32_t crm, uint32_t op2) const;
    uint32_t system_read(int to, const uc_arm64_cp_reg &from);
    uint32_t system_write(int from, const uc_arm64_cp_reg &to);

    static uint32_t on_system_read(uc_engine *, uc_arm64_reg to, const uc_arm64_cp_reg *from, void *self);
    static uint32_t on_system_write(uc_engine *, uc_arm64_reg from, const uc_arm64_cp_reg *to, void *self);
};

static const RegisterHost<CortexA53> registered("cortex_a53");

// ---- set-up ----------------------------------------------------------------------------------------------------

uc_err CortexA53::open(uc_engine **engine) const {
    const uc_err code = uc_open(UC_ARCH_ARM64, UC_MODE_ARM, engine);
    if (code == UC_ERR_OK)
        uc_ctl_set_cpu_model(*engine, static_cast<int>(UC_CPU_ARM64_A53));
    return code;
}

// The engine's own clock is the host's.
bool CortexA53::add_hooks() {
    return cpu.hook(UC_HOOK_INSN, reinterpret_cast<void *>(on_system_read), this, Cpu::EVERYWHERE, UC_ARM64_INS_MRS) &&
           cpu.hook(UC_HOOK_INSN, reinterpret_cast<void *>(on_system_write), this, Cpu::EVERYWHERE, UC_ARM64_INS_MSR);
}

void CortexA53::enter_process(uint32_t stack) {
    cpu.set(UC_ARM64_REG_CPACR_EL1, 3u << 20); // FPEN
    cpu.set(UC_ARM64_REG_SP, stack);
}

// ---- instructions ----------------------------------------------------------------------------------------------

void CortexA53::decode(Block &block, uint32_t address, uint32_t size) const {
    block.fill(address, size, cpu.config.cost, [this](uint32_t pc, uint32_t &) { return decode_a64(word_at(pc)); });
}

// SYS with DC, IC or TLBI, and MSR of what the attributes of memory come from: SCTLR (c1), TCR and TTBR (c2), MAIR (c10),
// of EL1. DC ZVA (c7, c4) is none: it writes zeros. PRFM for loads and stores with an immediate (C6.2).
Host::Special CortexA53::special(uint32_t w) const {
    const System one(w);
    const bool maintains = (w & 0xFFF80000) == 0xD5080000 && (one.crn == 8 || (one.crn == 7 && one.crm != 4 && one.crm != 8));
    const bool controls =
        (w & 0xFFF80000) == 0xD5180000 && one.op1 == 0 && (one.crn == 1 || one.crn == 2 || one.crn == 10);
    if (maintains || controls)
        return Special::CALL;
    return (w & 0xFFC00008) == 0xF9800000 ? Special::PRELOAD : Special::NONE;
}

// It is about to execute. DC by address goes to the point of coherency: through both levels (C5.3).
void CortexA53::system(uint32_t pc) {
    const System one(word_at(pc));
    if (one.op0 == 3 || one.crn == 8) { // look again when it has executed, at the next block
        cpu.look_again();
        return;
    }
    cpu.maintains_caches();
    if (one.crm == 1 || one.crm == 5) { // IC
        cpu.empty_l1i();
        return;
    }
    const uint32_t value = static_cast<uint32_t>(general(one.register_number, UC_ARM64_REG_XZR));
    const uint32_t operation = one.crm == 6    ? static_cast<uint32_t>(Memory::INVALIDATE)
                               : one.crm == 14 ? Memory::CLEAN | Memory::INVALIDATE
                                               : static_cast<uint32_t>(Memory::CLEAN);
    if (one.op2 == 2) {
        cpu.memory.set_way(value, operation, 2);
        return;
    }
    const uint32_t line = value >> cpu.memory.line_shift;
    cpu.memory.l1_line(line, operation);
    cpu.memory.l2_line(line, operation);
}

uint64_t CortexA53::general(uint32_t number, int register_31) const {
    const int id = number == 31   ? register_31
                   : number == 30 ? static_cast<int>(UC_ARM64_REG_X30)
                   : number == 29 ? static_cast<int>(UC_ARM64_REG_X29)
                                  : static_cast<int>(UC_ARM64_REG_X0 + number);
    uint64_t value = 0;
    uc_reg_read(cpu.engine, id, &value);
    return value;
}

// Base and scaled offset of PRFM and of the loads and stores that share its form; 0 for others.
uint32_t CortexA53::transfer_address(uint32_t pc) const {
    if (pc > RAM_SIZE - 4)
        return 0;
    const uint32_t w = word_at(pc);
    if ((w & 0x3B000000) != 0x39000000)
        return 0;
    return static_cast<uint32_t>(general(w >> 5 & 31, UC_ARM64_REG_SP)) + ((w >> 10 & 0xFFF) << (w >> 30));
}

uint64_t CortexA53::system_register(uint32_t op1, uint32_t crn, uint32_t crm, uint32_t op2) const {
    uc_arm64_cp_reg access{};
    access.op0 = 3;
    access.op1 = op1;
    access.crn = crn;
    access.crm = crm;
    access.op2 = op2;
    uc_reg_read(cpu.engine, UC_ARM64_REG_CP_REG, &access);
    return access.val;
}

// MRS of the system counter, whose time is the simulated one, and of SCTLR_EL1; 0: the engine does it.
uint32_t CortexA53::system_read(int to, const uc_arm64_cp_reg &from) {
    if (is_control(from)) {
        cpu.set(to, system_register(0, 1, 0, 0) | mmu);
        return 1;
    }
    if (from.op0 != 3 || from.op1 != 3 || from.crn != 14 || from.crm != 0 || from.op2 > 2)
        return 0;
    const unsigned __int128 now = static_cast<unsigned __int128>(cpu.cycles()) * COUNTER_HZ / cpu.config.cpu_hz;
    cpu.set(to, from.op2 == 0 ? COUNTER_HZ : static_cast<uint64_t>(now)); // CNTFRQ, CNTPCT, CNTVCT
    return 1;
}

// The engine's own MMU stays off (it does not find its tables here): tables have to be flat, and only the attributes
// in them matter.
uint32_t CortexA53::system_write(int from, const uc_arm64_cp_reg &to) {
    if (!is_control(to))
        return 0;
    uint64_t value = 0;
    uc_reg_read(cpu.engine, from, &value);
    mmu = value & 1;
    uc_arm64_cp_reg without = to;
    without.val = value & ~1ull;
    uc_reg_write(cpu.engine, UC_ARM64_REG_CP_REG, &without);
    return 1;
}

uint32_t CortexA53::on_system_read(uc_engine *, uc_arm64_reg to, const uc_arm64_cp_reg *from, void *self) {
    return static_cast<CortexA53 *>(self)->system_read(static_cast<int>(to), *from);
}

uint32_t CortexA53::on_system_write(uc_engine *, uc_arm64_reg from, const uc_arm64_cp_reg *to, void *self) {
    return static_cast<CortexA53 *>(self)->system_write(static_cast<int>(from), *to);
}

// ---- where the engine has stopped ------------------------------------------------------------------------------

// YIELD is hint 1, WFE 2, WFI 3 (C6.2).
Host::Hint CortexA53::hint_before(uint32_t pc) const {
    if (pc < 4 || pc > RAM_SIZE)
        return Hint::NONE;
    const uint32_t word = word_at(pc - 4), hint = (word & 0xFFFFF01F) == 0xD503201F ? word >> 5 & 15 : 0;
    return hint == 3 ? Hint::SLEEP : hint == 1 || hint == 2 ? Hint::GO_ON : Hint::NONE;
}

// The engine's numbers are QEMU's EXCP_*.
Host::Trap CortexA53::trap(uint32_t number) const {
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

// L2 has no switch of its own: it is on with L1D.
void CortexA53::read_attributes() {
    const TablesArmv8 registers = {system_register(0, 1, 0, 0) | mmu, system_register(0, 2, 0, 0), system_register(0, 2, 0, 2),
                                   system_register(0, 10, 2, 0)};
    std::optional<uint32_t> moved;
    cpu.memory.turn_l2(registers.read(cpu.attributes, cpu.ram, RAM_SIZE, moved));
    if (!moved)
        return;
    const uint32_t pc = cpu.memory.pc;
    cpu.stop_with(AXL_FAULT_EXCEPTION, pc, *moved,
                  format("the tables of the MMU do not map 0x%08X to itself at pc 0x%08X: only flat ones are simulated", *moved, pc));
}

} // namespace axl
