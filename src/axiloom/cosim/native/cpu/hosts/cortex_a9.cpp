// A Cortex-A9 as in a Zynq-7000: ARMv7, a PL310 as its second level, its private page. References are to the ARMv7-A ARM.
#include <cstring>
#include <iterator>

#include "cpu/cpu.hpp"
#include "text.hpp"
#include "decode_a32.hpp"
#include "ps7/ps7.hpp"
#include "tables_armv7.hpp"
#include "transfer_armv7.hpp"

namespace axl {

namespace {

// Linux on 32-bit ARM (EABI), arch/arm/tools/syscall.tbl.
constexpr Process::Number CALLS[] = {
    {1, &Process::exit},           {248, &Process::exit_group},  {3, &Process::read},          {4, &Process::write},
    {145, &Process::readv},        {146, &Process::writev},      {180, &Process::pread},       {181, &Process::pwrite},
    {5, &Process::open_path},      {322, &Process::open_at},     {6, &Process::close},         {19, &Process::seek},
    {140, &Process::seek_wide},    {54, &Process::ioctl},        {55, &Process::fcntl},        {221, &Process::fcntl},
    {195, &Process::stat_path},    {196, &Process::stat_path},   {197, &Process::stat_of},      {327, &Process::stat_at},     {397, &Process::no_such},     {33, &Process::access},
    {334, &Process::access_at},    {217, &Process::entries},     {332, &Process::not_there},   {85, &Process::not_there},
    {192, &Process::map_pages},    {91, &Process::unmap},        {125, &Process::zero},        {45, &Process::brk},
    {220, &Process::zero},         {144, &Process::zero},        {150, &Process::zero},        {151, &Process::zero},
    {152, &Process::zero},         {153, &Process::zero},
    {168, &Process::poll},         {336, &Process::ppoll_narrow}, {414, &Process::ppoll},      {142, &Process::select},
    {335, &Process::pselect_narrow}, {413, &Process::pselect},
    {403, &Process::clock},        {263, &Process::clock_narrow}, {78, &Process::time_of_day}, {162, &Process::sleep},
    {265, &Process::sleep_clock_narrow}, {407, &Process::sleep_clock}, {104, &Process::timer_set},
    {350, &Process::timerfd},      {353, &Process::timerfd_set_narrow}, {411, &Process::timerfd_set}, {356, &Process::eventfd},
    {250, &Process::epoll_create}, {357, &Process::epoll_create}, {251, &Process::epoll_change}, {252, &Process::epoll_wait},
    {346, &Process::epoll_wait},
    {120, &Process::clone},        {240, &Process::futex_narrow}, {422, &Process::futex},      {158, &Process::yield},
    {224, &Process::thread_id},    {256, &Process::set_exit_address}, {338, &Process::zero},   {389, &Process::zero},
    {156, &Process::zero},         {157, &Process::zero},        {241, &Process::zero},        {242, &Process::affinity},          {172, &Process::zero},
    {174, &Process::sigaction},    {175, &Process::set_mask},     {173, &Process::sigreturn},   {37, &Process::kill},
    {238, &Process::tkill},        {268, &Process::tgkill},      {29, &Process::pause},
    {384, &Process::random},       {122, &Process::uname},       {20, &Process::one},          {64, &Process::one},
    {199, &Process::zero},         {200, &Process::zero},        {201, &Process::zero},        {202, &Process::zero},
    {369, &Process::no_such},      {398, &Process::no_such},
    {0xF0005, &Process::set_tls},  {0xF0002, &Process::zero},
};

// <asm/hwcap.h>: halfwords, Thumb, multiplies, VFP, NEON, VFPv3, TLS.
constexpr uint64_t HWCAP = 1 << 1 | 1 << 2 | 1 << 4 | 1 << 6 | 1 << 12 | 1 << 13 | 1 << 15;

// EABI: the number in r7, arguments and result in r0 to r5.
const Host::Linux LINUX = {
    {4, HWCAP, 144, {0xE3A070AD, 0xEF000000}, std::begin(CALLS), std::end(CALLS)}, // mov r7, #173; svc 0
    UC_ARM_REG_R7,
    {UC_ARM_REG_R0, UC_ARM_REG_R1, UC_ARM_REG_R2, UC_ARM_REG_R3, UC_ARM_REG_R4, UC_ARM_REG_R5},
};

// The program status register: B1.3.3.
enum : uint32_t { MODE = 0x1F, IRQ = 0x12, SVC = 0x13, ABT = 0x17, UND = 0x1B, THUMB = 0x20, MASK_IRQ = 0x80, MASK_ABORT = 0x100, MASKS = 0x1C0,
                  IT_BITS = 0x0600FC00 };

const std::vector<int> GENERAL = {UC_ARM_REG_R0, UC_ARM_REG_R1, UC_ARM_REG_R2,  UC_ARM_REG_R3,  UC_ARM_REG_R4, UC_ARM_REG_R5,
                             UC_ARM_REG_R6, UC_ARM_REG_R7, UC_ARM_REG_R8,  UC_ARM_REG_R9,  UC_ARM_REG_R10, UC_ARM_REG_R11,
                             UC_ARM_REG_R12, UC_ARM_REG_SP, UC_ARM_REG_LR, UC_ARM_REG_PC, UC_ARM_REG_CPSR};

const Family CHIP = {
    ZYNQ7000,
    {0xF8F00000, 0x3000}, // the CPU's private page
    {{0xE0000000, 0x300000}, {0xF8000000, 0xF00000}, {0xF8F03000, 0xFD000}},
    {0xFFFF0000, 0x10000},
    96,
    1u << 27 | 1u << 29 | 1u << 30, // of its timers
    0xFC22,
    0x0102043B,
    0x3901243B,
    {0x04, 0, 0, 0, 0x90, 0xB3, 0x1B, 0x00, 0x0D, 0xF0, 0x05, 0xB1},
    [](uint32_t line) { return line < 8 ? 61 + line : 76 + line; }, // IRQ_F2P
    {0, 0xFFFF},
};

} // namespace

class CortexA9 : public Host {
  public:
    explicit CortexA9(Cpu &cpu) : Host(cpu), ps7(cpu, CHIP) {}

    const Registers &registers() const override {
        static const Registers numbers = {UC_ARM_REG_PC, UC_ARM_REG_SP, UC_ARM_REG_LR};
        return numbers;
    }

    uc_err open(uc_engine **engine) const override;
    uc_err map_devices() override { return ps7.map_private(); }
    Surroundings *open_board() override;
    bool masks_interrupts() const override { return cpu.reg(UC_ARM_REG_CPSR) & MASK_IRQ; }
    bool handles_crash() const override;
    uint32_t enter(const Trap &trap) override;
    const std::vector<int> &general_registers() const override { return GENERAL; }
    void decode(Block &block, uint32_t address, uint32_t size) const override;
    Special special(uint32_t word) const override;
    void system(uint32_t pc) override;
    std::optional<uint32_t> preload(uint32_t pc) const override;
    uint32_t resume_at(uint32_t pc) const override { return thumb() ? pc | 1 : pc; }
    Hint hint_before(uint32_t pc) const override;
    Trap trap(uint32_t number) const override;
    void read_attributes() override;
    const Target *target() const override;
    bool is_memory(uint32_t address, uint32_t size) const override { return ps7.is_memory(address, size); }
    const Linux *linux_abi() const override { return &LINUX; }
    void enter_process(uint32_t stack) override;
    void thread_pointer(uint32_t address) override { cpu.set(UC_ARM_REG_C13_C0_3, address); }

  private:
    Ps7 ps7;

    bool thumb() const { return cpu.reg(UC_ARM_REG_CPSR) & THUMB; }
    uint32_t general(uint32_t field) const;
    uint32_t cp15(uint32_t crn, uint32_t crm, uint32_t opc1, uint32_t opc2) const;
    uint32_t transfer_address(uint32_t pc) const;
    bool stores(uint32_t pc) const;
    void set_cp15(uint32_t crn, uint32_t crm, uint32_t opc1, uint32_t opc2, uint32_t value);
    uint32_t fault_status(const Trap &trap) const;
};

static const RegisterHost<CortexA9> registered("cortex_a9");

// ---- set-up ----------------------------------------------------------------------------------------------------

uc_err CortexA9::open(uc_engine **engine) const {
    const uc_err code = uc_open(UC_ARCH_ARM, UC_MODE_ARM, engine);
    if (code == UC_ERR_OK)
        uc_ctl_set_cpu_model(*engine, static_cast<int>(UC_CPU_ARM_CORTEX_A9));
    return code;
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
    return cpu.reg(GENERAL[field & 15]);
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

void CortexA9::set_cp15(uint32_t crn, uint32_t crm, uint32_t opc1, uint32_t opc2, uint32_t value) {
    uc_arm_cp_reg access{};
    access.cp = 15;
    access.crn = crn;
    access.crm = crm;
    access.opc1 = opc1;
    access.opc2 = opc2;
    access.val = value;
    uc_reg_write(cpu.engine, UC_ARM_REG_CP_REG, &access);
}

// The engine stops before it writes the fault address register.
uint32_t CortexA9::transfer_address(uint32_t pc) const {
    if (pc > RAM_SIZE - 4)
        return 0;
    const auto general = [this](uint32_t number) { return this->general(number); };
    const TransferArmv7<decltype(general)> transfer(pc & ~1u, general);
    const uint32_t word = word_at(pc & ~1u);
    return thumb() ? transfer.thumb(word << 16 | word >> 16) : transfer.arm(word);
}

// Or loads. Two words (LDRD, STRD) and vectors (VLD1, VST1) say it by another bit than the rest.
bool CortexA9::stores(uint32_t pc) const {
    if (pc > RAM_SIZE - 4)
        return false;
    const uint32_t w = word_at(pc & ~1u), half = w & 0xFFFF;
    if (!thumb()) {
        if ((w & 0xFF100000) == 0xF4000000)
            return !(w & 1u << 21);
        return (w & 0x0E1000D0) == 0x000000D0 ? w & 0x20 : !(w & 1u << 20);
    }
    if (half >> 11 >= 0x1D)
        return !(half & ((half & 0xFF10) == 0xF900 ? 0x20 : 0x10));
    return half >> 12 == 5 ? (half >> 9 & 7) < 3 : !(half & 0x800);
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
        return {Trap::FETCH_ABORT, pc, pc, number};
    case 4:
        return {Trap::DATA_ABORT, pc, transfer_address(pc), number, stores(pc)};
    default:
        return {Trap::OTHER, pc, 0, number};
    }
}

// ---- memory ----------------------------------------------------------------------------------------------------

void CortexA9::read_attributes() {
    TablesArmv7::read(cpu.attributes, cp15(1, 0, 0, 0), cp15(2, 0, 0, 0), cpu.ram, RAM_SIZE);
}

// ---- a debugger -------------------------------------------------------------------------------------------------

const Target *CortexA9::target() const {
    static const Target target = [] {
        Target::Feature core{"org.gnu.gdb.arm.core", {}}, vfp{"org.gnu.gdb.arm.vfp", {}};
        Target::add(core, "r", 0, 13, UC_ARM_REG_R0, 32);
        core.registers.push_back({"sp", UC_ARM_REG_SP, 32, "data_ptr"});
        core.registers.push_back({"lr", UC_ARM_REG_LR, 32, ""});
        core.registers.push_back({"pc", UC_ARM_REG_PC, 32, "code_ptr"});
        core.registers.push_back({"cpsr", UC_ARM_REG_CPSR, 32, ""});
        Target::add(vfp, "d", 0, 32, UC_ARM_REG_D0, 64, "ieee_double");
        vfp.registers.push_back({"fpscr", UC_ARM_REG_FPSCR, 32, ""});
        return Target{"arm", {core, vfp}};
    }();
    return &target;
}

// ---- programs of other tools -----------------------------------------------------------------------------------

// In SVC mode with interrupts masked, as a boot loader leaves it.
Surroundings *CortexA9::open_board() {
    if (ps7.map_board() != UC_ERR_OK)
        return nullptr;
    cpu.set(UC_ARM_REG_CPSR, SVC | MASKS);
    return &ps7;
}

bool CortexA9::handles_crash() const {
    const uint32_t mode = cpu.reg(UC_ARM_REG_CPSR) & MODE;
    return mode == ABT || mode == UND;
}

// B1.8.3 and B1.9: the new mode first, which has a bank of its own for SPSR and LR.
uint32_t CortexA9::enter(const Trap &trap) {
    const uint32_t before = cpu.reg(UC_ARM_REG_CPSR), control = cp15(1, 0, 0, 0);
    const bool was_thumb = before & THUMB;
    uint32_t mode = SVC, vector = 0x08, link = trap.pc;
    switch (trap.kind) {
    case Trap::UNDEFINED:
        mode = UND, vector = 0x04, link += was_thumb ? 2 : 4;
        break;
    case Trap::FETCH_ABORT:
        mode = ABT, vector = 0x0C, link += 4;
        set_cp15(5, 0, 0, 1, fault_status(trap));
        set_cp15(6, 0, 0, 2, trap.address);
        break;
    case Trap::DATA_ABORT:
        mode = ABT, vector = 0x10, link += 8;
        set_cp15(5, 0, 0, 0, fault_status(trap));
        set_cp15(6, 0, 0, 0, trap.address);
        break;
    case Trap::INTERRUPT:
        mode = IRQ, vector = 0x18, link += 4;
        break;
    default:
        break;
    }
    uint32_t now = (before & ~(MODE | THUMB | IT_BITS)) | mode | MASK_IRQ;
    if (mode == ABT || mode == IRQ)
        now |= MASK_ABORT;
    if (control & 1u << 30) // SCTLR.TE
        now |= THUMB;
    cpu.set(UC_ARM_REG_CPSR, now);
    cpu.set(UC_ARM_REG_SPSR, before);
    cpu.set(UC_ARM_REG_LR, link);
    const uint32_t at = (control & 1u << 13 ? 0xFFFF0000 : cp15(12, 0, 0, 0)) + vector;
    cpu.set(UC_ARM_REG_PC, now & THUMB ? at | 1 : at);
    return at;
}

// B3.13.3, short descriptors: what stopped the walk of the program's table, or that the bus did.
uint32_t CortexA9::fault_status(const Trap &trap) const {
    const uint32_t writes = trap.write ? 1u << 11 : 0;
    if (trap.external)
        return writes | 0x08;
    const uint32_t table = cp15(2, 0, 0, 0) & 0xFFFFC000, entry = word_at(table + 4 * (trap.address >> 20));
    if ((entry & 3) == 0)
        return writes | 0x05;
    if ((entry & 3) != 1)
        return writes | 0x0D;
    const uint32_t page = word_at((entry & 0xFFFFFC00) + 4 * (trap.address >> 12 & 0xFF));
    return writes | (page & 3 ? 0x0F : 0x07);
}

} // namespace axl
