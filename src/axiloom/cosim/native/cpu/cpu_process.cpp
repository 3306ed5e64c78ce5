// The CPU with a Linux process on it.
#include <cstring>

#include "cpu/cpu.hpp"
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
    const Host::Linux *linux_abi = host->linux_abi();
    if (!linux_abi) {
        error = "axl_process_start: no Linux processes run on this CPU";
        return -1;
    }
    if (prepare(program.text_start, program.text_end) != 0)
        return -1;
    Process::Machine machine;
    machine.ram = ram;
    machine.ram_size = RAM_SIZE;
    machine.map = [this](uint32_t address, uint32_t bytes, bool cached) {
        attributes.set(address, bytes, cached ? Attribute::CACHED : Attribute::UNCACHED);
    };
    machine.maintain = [this](uint32_t address, uint32_t bytes, bool to_device) { maintain(address, bytes, to_device); };
    machine.nanoseconds = [this] { return scaled(cycles(), NANO, config.cpu_hz); };
    machine.sleep = [this](uint64_t nanoseconds) { memory.penalty += scaled(nanoseconds, config.cpu_hz, NANO); };
    machine.thread_pointer = [this](uint32_t address) { host->thread_pointer(address); };
    machine.print = [this](const char *text, size_t size) { print("", text, size); };
    host->enter_process(process.begin(machine, linux_abi->abi, program));
    attributes.set(0, RAM_SIZE, Attribute::CACHED);
    attributes.fetch_cached = true;
    memory.turn_l2(true);
    entry = program.entry;
    exit_pc = NEVER_REACHED;
    state.run = AXL_RUN_RUNNING;
    return 0;
}

void Cpu::process_call(uint32_t pc, const Host::Linux &linux_abi) {
    uint64_t arguments[6] = {};
    for (int i = 0; i < 6; i++)
        uc_reg_read(engine, linux_abi.arguments[i], &arguments[i]);
    const uint32_t number = reg(linux_abi.number);
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
    set(linux_abi.arguments[0], static_cast<uint64_t>(result));
}

// The kernel's dma_sync_*: lines cleaned for the device, or thrown away for the CPU, in both levels; at the ends, where a
// line is not all of the buffer's, cleaned before (arch/arm/mm/cache-v7.S, v7_dma_inv_range).
void Cpu::maintain(uint32_t address, uint32_t bytes, bool to_device) {
    timeline.maintenance(cycles(), instructions);
    const uint32_t line_bytes = 1u << memory.line_shift;
    for (uint32_t line = address >> memory.line_shift; bytes && line <= (address + bytes - 1) >> memory.line_shift; line++) {
        const uint32_t begin = line << memory.line_shift;
        const bool whole = begin >= address && begin + line_bytes <= address + bytes;
        const uint32_t operation = to_device ? static_cast<uint32_t>(Memory::CLEAN)
                                   : whole   ? static_cast<uint32_t>(Memory::INVALIDATE)
                                             : Memory::CLEAN | Memory::INVALIDATE;
        memory.l1_line(line, operation);
        memory.l2_line(line, operation);
        memory.penalty += config.private_write_cycles;
    }
}

} // namespace axl
