// A RISC-V soft core: RV32IM with Zicsr and Zicbom in machine mode, without an MMU. References are to the RISC-V
// Unprivileged (U) and Privileged (P) Architecture, and to the Cache Management Operations (CMO).
#include "cpu/cpu.hpp"
#include "text.hpp"
#include "decode_rv32.hpp"

namespace axl {

namespace {

constexpr uint32_t WFI = 0x10500073;
// Exceptions (P, table "mcause values"). The engine takes each ECALL for one from user mode.
enum : uint32_t { ILLEGAL = 2, CALL_FROM_USER = 8, CALL_FROM_MACHINE = 11 };

// Counters (P, 3.1.10; U, "Zicntr"): the unprivileged ones are read only. Their upper halves are at +0x80.
enum : uint32_t { MCYCLE = 0xB00, MINSTRET = 0xB02, CYCLE = 0xC00, TIME = 0xC01, INSTRET = 0xC02, UPPER = 0x80 };

bool is_counter(uint32_t csr) {
    const uint32_t lower = csr & ~UPPER;
    return lower == MCYCLE || lower == MINSTRET || lower == CYCLE || lower == TIME || lower == INSTRET;
}

// Fields of the instructions that the engine does not execute as this core does.
struct Fields {
    uint32_t opcode, rd, funct3, rs1, immediate;
    explicit Fields(uint32_t w) : opcode(w & 127), rd(w >> 7 & 31), funct3(w >> 12 & 7), rs1(w >> 15 & 31), immediate(w >> 20) {}

    bool is_unknown() const { return !is_rv32im(opcode); }
    bool is_counter_access() const { return opcode == RV_SYSTEM && funct3 & 3 && is_counter(immediate); }
    bool is_read() const { return (funct3 & 2) && !rs1; } // CSRRS and CSRRC of x0
    bool is_fence_i() const { return opcode == RV_FENCE && funct3 == 1; }
    bool is_cbo() const { return opcode == RV_FENCE && funct3 == 2 && !rd && immediate <= 2; }
};

} // namespace

class Rv32im : public Host {
  public:
    using Host::Host;

    const Registers &registers() const override {
        static const Registers numbers = {UC_RISCV_REG_PC, UC_RISCV_REG_SP, UC_RISCV_REG_RA};
        return numbers;
    }

    uc_err open(uc_engine **engine) const override { return uc_open(UC_ARCH_RISCV, UC_MODE_RISCV32, engine); }
    void reset_attributes() override;
    bool must_align() const override { return true; }

    void decode(Block &block, uint32_t address, uint32_t size) const override {
        block.fill(address, size, cpu.config.cost, [this](uint32_t pc, uint32_t &) { return decode_rv32(word_at(pc)); });
    }
    Special special(uint32_t word) const override;
    void system(uint32_t pc) override;

    Hint hint_before(uint32_t pc) const override { return pc >= 4 && word_at(pc - 4) == WFI ? Hint::SLEEP : Hint::NONE; }
    Trap trap(uint32_t number) const override;
    const Target *target() const override;

  private:
    uint32_t general(uint32_t number) const { return cpu.reg(static_cast<int>(UC_RISCV_REG_X0 + number)); }
    void skip(uint32_t pc) { cpu.set(UC_RISCV_REG_PC, pc + 4); }
    void maintain(uint32_t address, uint32_t operation);
    void counter(uint32_t pc, const Fields &from);
    void undefined(uint32_t pc) { cpu.stop_with(AXL_FAULT_UNDEFINED, pc, pc, format("undefined instruction at pc 0x%08X", pc)); }
};

static const RegisterHost<Rv32im> registered("rv32im");

// Physical memory attributes are the core's own (P, 3.6): its caches are on from reset, for all RAM but the regions that
// the board's profile names.
void Rv32im::reset_attributes() {
    cpu.attributes.set(0, RAM_SIZE, Attribute::CACHED);
    for (uint32_t i = 0; i < cpu.config.uncached_regions; i++)
        cpu.attributes.set(cpu.config.uncached[i].address, cpu.config.uncached[i].bytes, Attribute::UNCACHED);
    cpu.attributes.fetch_cached = true;
}

// The engine's counters are those of this machine, it knows no Zicbom, and has instructions that the core has not.
Host::Special Rv32im::special(uint32_t w) const {
    const Fields one(w);
    return one.is_counter_access() || one.is_fence_i() || one.is_cbo() || one.is_unknown() ? Special::CALL : Special::NONE;
}

void Rv32im::system(uint32_t pc) {
    const Fields one(word_at(pc));
    if (one.is_unknown())
        return undefined(pc);
    if (one.is_counter_access())
        return counter(pc, one);
    cpu.maintains_caches();
    if (one.is_fence_i()) // the engine goes on with it
        return cpu.empty_l1i();
    static const uint32_t operations[] = {Memory::INVALIDATE, Memory::CLEAN, Memory::CLEAN | Memory::INVALIDATE};
    cpu.memory.l1_line(general(one.rs1) >> cpu.memory.line_shift, operations[one.immediate]); // CMO, 2.5: inval, clean, flush
    skip(pc);
}

// TIME counts the core's cycles, as the only clock there is.
void Rv32im::counter(uint32_t pc, const Fields &from) {
    if (!from.is_read()) {
        if (from.immediate >= CYCLE)
            return undefined(pc);
        cpu.stop_with(AXL_FAULT_UNDEFINED, pc, pc,
                      format("write to a counter at pc 0x%08X: the simulated core's counters can only be read", pc));
        return;
    }
    const uint32_t lower = from.immediate & ~UPPER;
    const uint64_t value = lower == MINSTRET || lower == INSTRET ? cpu.instructions : cpu.cycles();
    if (from.rd)
        cpu.set(static_cast<int>(UC_RISCV_REG_X0 + from.rd), from.immediate & UPPER ? value >> 32 : value & 0xFFFFFFFF);
    skip(pc);
}

const Target *Rv32im::target() const {
    static const Target target = [] {
        Target::Feature core{"org.gnu.gdb.riscv.cpu", {}};
        Target::add(core, "x", 0, 32, UC_RISCV_REG_X0, 32);
        core.registers.push_back({"pc", UC_RISCV_REG_PC, 32, "code_ptr"});
        return Target{"riscv:rv32", {core}};
    }();
    return &target;
}

// What raises an exception ends its block, but a word of zeros is not even in it: then the PC tells, which some versions of
// the engine have moved on by 4.
Host::Trap Rv32im::trap(uint32_t number) const {
    const uint32_t last = cpu.last_of_block(), pc = cpu.pc() == last + 8 ? last + 4 : last;
    if (number == ILLEGAL)
        return {Trap::UNDEFINED, pc, 0, number};
    return {Trap::OTHER, pc, 0, number == CALL_FROM_USER ? CALL_FROM_MACHINE : number};
}

} // namespace axl
