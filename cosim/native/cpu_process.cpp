// The CPU with a Linux process on it.
#include <cstring>

#include "cpu.hpp"
#include "text.hpp"

namespace axl {

namespace {

constexpr uint32_t NEVER_REACHED = 0xFFFFFFF0u; // a process ends by a system call
constexpr uint64_t NANO = 1000000000;

uint64_t scaled(uint64_t value, uint64_t to, uint64_t from) {
    return static_cast<uint64_t>(static_cast<unsigned __int128>(value) * to / from);
}

} // namespace

// In user mode, everything cached as Linux has it; what the process maps of a device's memory may be uncached then.
int Cpu::start_process(const axl_process_t &program) {
    if (state.run != AXL_RUN_RESET) {
        error = "axl_process_start: call axl_job_begin first";
        return -1;
    }
    if (prepare(program.text_start, program.text_end) != 0)
        return -1;
    Process::Machine machine;
    machine.ram = ram;
    machine.ram_size = RAM_SIZE;
    machine.map = [this](uint32_t address, uint32_t bytes, bool cached) {
        for (uint32_t section = address >> 20; section <= (address + bytes - 1) >> 20; section++)
            attributes.data[section] = cached ? Attribute::CACHED : Attribute::UNCACHED;
    };
    machine.maintain = [this](uint32_t address, uint32_t bytes, bool to_device) { maintain(address, bytes, to_device); };
    machine.nanoseconds = [this] { return scaled(cycles(), NANO, config.cpu_hz); };
    machine.sleep = [this](uint64_t nanoseconds) { memory.penalty += scaled(nanoseconds, config.cpu_hz, NANO); };
    machine.thread_pointer = [this](uint32_t address) { set(UC_ARM_REG_C13_C0_3, address); };
    const uint32_t stack = process.begin(machine, wide, program);
    if (wide) {
        set(UC_ARM64_REG_CPACR_EL1, 3u << 20); // FPEN
        set(UC_ARM64_REG_SP, stack);
    } else {
        uc_arm_cp_reg access{};
        access.cp = 15, access.crn = 1, access.opc2 = 2, access.val = 0xF00000; // CPACR: cp10, cp11
        uc_reg_write(engine, UC_ARM_REG_CP_REG, &access);
        set(UC_ARM_REG_FPEXC, 0x40000000);
        set(UC_ARM_REG_CPSR, 0x10);
        set(UC_ARM_REG_SP, stack);
    }
    for (uint64_t section = 0; section < RAM_SIZE >> 20; section++)
        attributes.data[section] = Attribute::CACHED;
    attributes.fetch_cached = true;
    memory.l2_on = true;
    entry = program.entry;
    exit_pc = NEVER_REACHED;
    state.run = AXL_RUN_RUNNING;
    return 0;
}

// EABI: the number in r7, arguments and result in r0 to r5. AArch64: x8, x0 to x5.
void Cpu::process_call(uint32_t pc) {
    static const int narrow[] = {UC_ARM_REG_R0, UC_ARM_REG_R1, UC_ARM_REG_R2, UC_ARM_REG_R3, UC_ARM_REG_R4, UC_ARM_REG_R5};
    static const int wider[] = {UC_ARM64_REG_X0, UC_ARM64_REG_X1, UC_ARM64_REG_X2, UC_ARM64_REG_X3, UC_ARM64_REG_X4, UC_ARM64_REG_X5};
    const int *registers = wide ? wider : narrow;
    uint64_t arguments[6] = {};
    for (int i = 0; i < 6; i++)
        uc_reg_read(engine, registers[i], &arguments[i]);
    const uint32_t number = reg(wide ? static_cast<int>(UC_ARM64_REG_X8) : static_cast<int>(UC_ARM_REG_R7));
    int64_t result = 0;
    const std::string fault = process.call(number, arguments, result);
    syscalls++;
    if (config.has_os)
        memory.penalty += config.syscall.cycles;
    if (!fault.empty()) {
        fail(AXL_FAULT_EXCEPTION, pc - 4, 0, format("system call %u at pc 0x%08X: ", number, pc - 4) + fault);
        stop_engine();
        return;
    }
    if (process.ended) {
        state.exit_code = process.exit_code;
        state.pc = pc;
        state.run = AXL_RUN_EXITED;
        stop_engine();
        return;
    }
    set(registers[0], static_cast<uint64_t>(result));
}

// The kernel's dma_sync_*: lines cleaned for the device, or thrown away for the CPU, in both levels.
void Cpu::maintain(uint32_t address, uint32_t bytes, bool to_device) {
    timeline.maintenance(cycles(), instructions);
    const uint32_t operation = to_device ? static_cast<uint32_t>(Memory::CLEAN) : Memory::CLEAN | Memory::INVALIDATE;
    for (uint32_t line = address >> memory.line_shift; bytes && line <= (address + bytes - 1) >> memory.line_shift; line++) {
        memory.l1_line(line, operation);
        memory.l2_line(line, operation);
        memory.penalty += config.private_write_cycles;
    }
}

} // namespace axl
