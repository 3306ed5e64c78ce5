// A Cortex-A53 as in a Zynq UltraScale+: AArch64. References are to the ARMv8-A ARM.
#include <iterator>
#include <map>
#include <tuple>

#include "cpu/cpu.hpp"
#include "text.hpp"
#include "decode_a64.hpp"
#include "tables_armv8.hpp"
#include "zynqmp/generic_timer.hpp"

namespace axl {

namespace {

// UG1085, chapters 10 and 13, and UG1087.
const Family CHIP = {
    ZYNQMP,
    {0, 0},
    {{0xF9000000, 0x100000}, {0xFD000000, 0x2FC0000}},
    {0xFFFC0000, 0x40000},
    224,
    0,
    0xFC65,
    0x0200143B,
    0x0202143B,
    {0x04, 0, 0, 0, 0x90, 0xB4, 0x2B, 0x00, 0x0D, 0xF0, 0x05, 0xB1},
    [](uint32_t line) { return line < 8 ? 121 + line : 128 + line; }, // PL_PS_Group0 and 1
    {100000000, 0xFFFFFFFF},
};

// PSTATE and SPSR (C5.2), ESR (D12.2.36).
enum : uint32_t { EL1H = 5, MASK_IRQ = 0x80, MASKS = 0x3C0, OWN_STACK = 1 };
enum : uint32_t { UNKNOWN = 0x00, VECTORS = 0x07, SYSTEM_CALLS = 0x15, FETCH = 0x21, DATA = 0x25, IL = 1u << 25, EXTERNAL = 0x10, WRITES = 0x40 };
constexpr uint32_t TIMER_LINES[] = {30, 27, 29}; // CNTP, CNTV, CNTPS

// Linux, 64-bit: include/uapi/asm-generic/unistd.h.
constexpr Process::Number CALLS[] = {
    {93, &Process::exit},          {94, &Process::exit_group},   {63, &Process::read},         {64, &Process::write},
    {65, &Process::readv},         {66, &Process::writev},       {67, &Process::pread},        {68, &Process::pwrite},
    {56, &Process::open_at},       {57, &Process::close},        {62, &Process::seek},         {29, &Process::ioctl},
    {25, &Process::fcntl},         {80, &Process::stat_of},      {79, &Process::stat_at},      {291, &Process::no_such},
    {48, &Process::access_at},     {61, &Process::entries},      {78, &Process::not_there},
    {222, &Process::map_bytes},    {215, &Process::unmap},       {226, &Process::zero},        {214, &Process::brk},
    {233, &Process::zero},         {227, &Process::zero},        {228, &Process::zero},        {229, &Process::zero},
    {230, &Process::zero},         {231, &Process::zero},
    {73, &Process::ppoll},         {72, &Process::pselect},
    {113, &Process::clock},        {169, &Process::time_of_day}, {101, &Process::sleep},       {115, &Process::sleep_clock},
    {103, &Process::timer_set},    {85, &Process::timerfd},      {86, &Process::timerfd_set},  {19, &Process::eventfd},
    {20, &Process::epoll_create},  {21, &Process::epoll_change}, {22, &Process::epoll_wait},
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

// CNTP, CNTV: (3, 3, c14, c2 or c3); CNTPS: (3, 7, c14, c2). Their place in TIMER_LINES, or -1.
int timer_of(const uc_arm64_cp_reg &reg) {
    if (reg.op0 != 3 || reg.crn != 14 || reg.op2 > 2)
        return -1;
    return reg.op1 == 3 && reg.crm == 2 ? 0 : reg.op1 == 3 && reg.crm == 3 ? 1 : reg.op1 == 7 && reg.crm == 2 ? 2 : -1;
}

// The engine has no EL3, and knows few of the registers that each kind of CPU has of its own.
bool is_unknown(const uc_arm64_cp_reg &reg) { return reg.op0 == 3 && (reg.op1 == 6 || reg.crn == 11 || reg.crn == 15); }
// It does there what the register of the same place does in EL1: SCTLR, TTBR0, TCR, SPSR, ELR, ESR, FAR, MAIR, VBAR.
bool is_as_in_el1(const uc_arm64_cp_reg &reg) {
    if (reg.op1 != 6)
        return false;
    const uint32_t place = reg.crn << 8 | reg.crm << 4 | reg.op2;
    for (const uint32_t known : {0x100u, 0x200u, 0x202u, 0x400u, 0x401u, 0x520u, 0x600u, 0xA20u, 0xC00u})
        if (place == known)
            return true;
    return false;
}

// SCTLR_EL1.
bool is_control(const uc_arm64_cp_reg &reg) { return reg.op0 == 3 && reg.op1 == 0 && reg.crn == 1 && reg.crm == 0 && reg.op2 == 0; }

} // namespace

class CortexA53 : public Host {
  public:
    explicit CortexA53(Cpu &cpu) : Host(cpu), ps(cpu, CHIP) {}

    const Registers &registers() const override {
        static const Registers numbers = {UC_ARM64_REG_PC, UC_ARM64_REG_SP, UC_ARM64_REG_X30};
        return numbers;
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
    Surroundings *open_board() override;
    bool masks_interrupts() const override { return cpu.reg(UC_ARM64_REG_PSTATE) & MASK_IRQ; }
    bool handles_crash() const override { return abort_stack && masks_interrupts() && cpu.reg(UC_ARM64_REG_SP) < abort_stack; }
    const std::vector<int> &general_registers() const override;
    uint32_t enter(const Trap &trap) override;
    const Target *target() const override;
    bool is_memory(uint32_t address, uint32_t size) const override { return ps.is_memory(address, size); }
    const Linux *linux_abi() const override { return &LINUX; }
    void enter_process(uint32_t stack) override;
    void thread_pointer(uint32_t address) override { cpu.set(UC_ARM64_REG_TPIDR_EL0, address); }

  private:
    Ps7 ps;
    GenericTimer *timers[3] = {};
    bool is_board = false;
    mutable bool knows_el3 = false; // the text has instructions for its registers
    uint32_t abort_stack = 0; // where it was when the last abort was taken
    std::map<std::tuple<uint32_t, uint32_t, uint32_t, uint32_t>, uint64_t> unknown; // registers without an effect here
    uint64_t mmu = 0; // SCTLR_EL1.M, as the program sees it

    uint64_t general(uint32_t number, int register_31) const;
    uint32_t transfer_address(uint32_t pc) const;
    uint64_t system_register(uint32_t op1, uint32_t crn, uint32_t crm, uint32_t op2) const;
    void set_system_register(uint32_t crn, uint32_t crm, uint32_t op2, uint64_t value);
    void skip() { cpu.set(UC_ARM64_REG_PC, cpu.pc() + 4); } // the engine does not know the instruction
    uint64_t unknown_read(const uc_arm64_cp_reg &from);
    void unknown_write(const uc_arm64_cp_reg &to, uint64_t value);
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

const Target *CortexA53::target() const {
    static const Target target = [] {
        Target::Feature core{"org.gnu.gdb.aarch64.core", {}};
        Target::add(core, "x", 0, 29, UC_ARM64_REG_X0, 64);
        Target::add(core, "x", 29, 2, UC_ARM64_REG_X29, 64);
        core.registers.push_back({"sp", UC_ARM64_REG_SP, 64, "data_ptr"});
        core.registers.push_back({"pc", UC_ARM64_REG_PC, 64, "code_ptr"});
        core.registers.push_back({"cpsr", UC_ARM64_REG_PSTATE, 32, ""});
        return Target{"aarch64", {core}};
    }();
    return &target;
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
    knows_el3 |= (w & 0xFFDF0000) == 0xD51E0000;
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
    if (is_board && one.crn == 8 && one.op1 == 6)
        skip(); // TLBI ALLE3
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

void CortexA53::set_system_register(uint32_t crn, uint32_t crm, uint32_t op2, uint64_t value) {
    uc_arm64_cp_reg access{};
    access.op0 = 3, access.crn = crn, access.crm = crm, access.op2 = op2, access.val = value;
    uc_reg_write(cpu.engine, UC_ARM64_REG_CP_REG, &access);
}

// A program that starts in EL3 runs in EL1, and the registers of EL3 are those of EL1.
uint64_t CortexA53::unknown_read(const uc_arm64_cp_reg &from) {
    if (!is_as_in_el1(from))
        return unknown[{from.op1, from.crn, from.crm, from.op2}];
    uc_arm64_cp_reg same = from;
    same.op1 = 0;
    return system_register(0, from.crn, from.crm, from.op2) | (is_control(same) ? mmu : 0);
}

void CortexA53::unknown_write(const uc_arm64_cp_reg &to, uint64_t value) {
    if (!is_as_in_el1(to)) {
        unknown[{to.op1, to.crn, to.crm, to.op2}] = value;
        return;
    }
    uc_arm64_cp_reg same = to;
    same.op1 = 0;
    if (is_control(same)) {
        mmu = value & 1;
        value &= ~1ull;
    }
    set_system_register(to.crn, to.crm, to.op2, value);
    if (to.crn == 1 || to.crn == 2 || to.crn == 10)
        cpu.look_again();
}

// MRS of the system counter, whose time is the simulated one, and of SCTLR_EL1; 0: the engine does it.
uint32_t CortexA53::system_read(int to, const uc_arm64_cp_reg &from) {
    if (is_board && from.op0 == 3 && from.op1 == 0 && from.crn == 4 && from.crm == 2 && from.op2 == 2) {
        cpu.set(to, (knows_el3 ? 3 : 1) << 2); // CurrentEL
        return 1;
    }
    if (is_board && is_unknown(from)) {
        cpu.set(to, unknown_read(from));
        skip();
        return 1;
    }
    const int timer = is_board ? timer_of(from) : -1;
    if (timer >= 0) {
        cpu.set(to, timers[timer]->get(from.op2));
        if (from.op1 == 7)
            skip();
        return 1;
    }
    if (is_control(from)) {
        cpu.set(to, system_register(0, 1, 0, 0) | mmu);
        return 1;
    }
    if (from.op0 != 3 || from.op1 != 3 || from.crn != 14 || from.crm != 0 || from.op2 > 2)
        return 0;
    if (is_board && from.op2) {
        cpu.state.mmio_pc = cpu.pc();
        ps.looks_at_clock();
    }
    cpu.set(to, from.op2 == 0 ? GenericTimer::COUNTER_HZ : GenericTimer::count(cpu)); // CNTFRQ, CNTPCT, CNTVCT
    return 1;
}

// The engine's own MMU stays off (it does not find its tables here): tables have to be flat, and only the attributes
// in them matter.
uint32_t CortexA53::system_write(int from, const uc_arm64_cp_reg &to) {
    const int timer = is_board ? timer_of(to) : -1;
    uint64_t value = 0;
    if (from != UC_ARM64_REG_XZR)
        uc_reg_read(cpu.engine, from, &value);
    if (is_board && is_unknown(to)) {
        unknown_write(to, value);
        skip();
        return 1;
    }
    if (timer >= 0) {
        timers[timer]->set(to.op2, value);
        if (to.op1 == 7)
            skip();
        return 1;
    }
    if (is_board && to.op0 == 3 && to.op1 == 3 && to.crn == 14 && to.crm == 0 && to.op2 == 0)
        return 1; // CNTFRQ
    if (!is_control(to))
        return 0;
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
        return {Trap::DATA_ABORT, pc, transfer_address(pc), number, !(word_at(pc) & 1u << 22)};
    default:
        return {Trap::OTHER, pc, 0, number};
    }
}

// ---- programs of other tools -----------------------------------------------------------------------------------

// With interrupts masked, as a boot loader leaves it: in EL3, or in EL1 if it was not built for EL3.
Surroundings *CortexA53::open_board() {
    if (ps.map_board() != UC_ERR_OK)
        return nullptr;
    for (size_t i = 0; i < std::size(timers); i++) {
        auto timer = std::make_unique<GenericTimer>(ps, TIMER_LINES[i]);
        timers[i] = timer.get();
        ps.add(std::move(timer));
    }
    is_board = true;
    cpu.set(UC_ARM64_REG_CPACR_EL1, 3u << 20); // FPEN
    cpu.set(UC_ARM64_REG_PSTATE, MASKS | EL1H);
    return &ps;
}

const std::vector<int> &CortexA53::general_registers() const {
    static const std::vector<int> all = [] {
        std::vector<int> numbers;
        for (int number = UC_ARM64_REG_X0; number <= UC_ARM64_REG_X28; number++)
            numbers.push_back(number);
        for (const int number : {UC_ARM64_REG_X29, UC_ARM64_REG_X30, UC_ARM64_REG_SP, UC_ARM64_REG_PC, UC_ARM64_REG_PSTATE})
            numbers.push_back(number);
        return numbers;
    }();
    return all;
}

// D1.10. ESR says why; of an abort it is the bus.
uint32_t CortexA53::enter(const Trap &trap) {
    uint64_t before = 0, vectors = 0;
    uc_reg_read(cpu.engine, UC_ARM64_REG_PSTATE, &before);
    vectors = system_register(0, 12, 0, 0);
    uint32_t reason = 0;
    switch (trap.kind) {
    case Trap::UNDEFINED:
        reason = (cpu.reg(UC_ARM64_REG_CPACR_EL1) >> 20 & 3) != 3 ? VECTORS << 26 | IL : UNKNOWN << 26 | IL;
        break;
    case Trap::SYSTEM_CALL:
        reason = SYSTEM_CALLS << 26 | IL | (word_at(trap.pc - 4) >> 5 & 0xFFFF);
        break;
    case Trap::FETCH_ABORT:
        reason = FETCH << 26 | IL | EXTERNAL;
        break;
    case Trap::DATA_ABORT:
        reason = DATA << 26 | IL | EXTERNAL | (trap.write ? WRITES : 0u);
        break;
    default:
        break;
    }
    if (reason) {
        set_system_register(5, 2, 0, reason);
        set_system_register(6, 0, 0, trap.address);
    }
    const bool is_abort = trap.kind != Trap::SYSTEM_CALL && trap.kind != Trap::INTERRUPT;
    abort_stack = is_abort ? cpu.reg(UC_ARM64_REG_SP) : trap.kind == Trap::INTERRUPT ? 0 : abort_stack;
    cpu.set(UC_ARM64_REG_PSTATE, MASKS | EL1H);
    set_system_register(4, 0, 0, before);
    set_system_register(4, 0, 1, trap.pc);
    const uint32_t at = static_cast<uint32_t>(vectors) + (before & OWN_STACK ? 0x200 : 0) + (trap.kind == Trap::INTERRUPT ? 0x80 : 0);
    cpu.set(UC_ARM64_REG_PC, at);
    return at;
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
