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
    machine.lines = [this] {
        if (!alone && to_fabric(cycles()) > now)
            yield(AXL_OP_ADVANCE, 0, 0);
        return static_cast<uint32_t>(irq_line);
    };
    machine.registers = [this] { return registers(); };
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
    const uint32_t number = reg(linux_abi.number), own = timeline.left_own();
    int64_t result = 0;
    const std::string fault = process.call(number, arguments, own ? own : pc - 4, result);
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
    const Process::Thread &thread = process.current();
    if (!thread.wait && !thread.restores)
        set(linux_abi.arguments[0], static_cast<uint64_t>(result));
    if (process.switches)
        switch_at = host->resume_at(pc);
    if (process.switches || state.run != AXL_RUN_RUNNING)
        stop_engine();
}

// ---- threads

std::shared_ptr<void> Cpu::registers() {
    uc_context *context = nullptr;
    uc_context_alloc(engine, &context);
    uc_context_save(engine, context);
    return {context, [](void *used) { uc_context_free(static_cast<uc_context *>(used)); }};
}

// At the start of a block, which the present thread enters again when it goes on.
void Cpu::preempt() {
    if (!process.preempts())
        return;
    switch_at = host->resume_at(memory.pc);
    leave_block();
    stop_engine();
}

// The engine has stopped, and its present thread goes on at `switch_at` some time. False: the run is over.
bool Cpu::next_thread(const Host::Linux &linux_abi) {
    Process::Thread &before = process.current();
    if (!before.restores) {
        set(host->registers().pc, switch_at);
        before.registers = registers();
    }
    before.restores = false;
    previous = nullptr; // no branch leads to another thread
    bool settled = false;
    while (!aborting && state.run == AXL_RUN_RUNNING) {
        Process::Thread *thread = process.next();
        if (thread) {
            if (resume(*thread, linux_abi))
                return state.run == AXL_RUN_RUNNING;
            continue;
        }
        const uint64_t due = process.due();
        const uint64_t next = due == Process::NEVER ? NEVER : scaled(due, config.cpu_hz, NANO) + 1;
        if (next == NEVER && ((!busy && settled) || alone)) {
            fail(AXL_FAULT_WAITS, switch_at, 0, "the process waits for what cannot happen");
            return false;
        }
        rest_until(next, NEVER, settled);
    }
    return false;
}

// False: it waits on.
bool Cpu::resume(Process::Thread &thread, const Host::Linux &linux_abi) {
    uc_context_restore(engine, static_cast<uc_context *>(thread.registers.get()));
    if (thread.returns)
        set(linux_abi.arguments[0], static_cast<uint64_t>(thread.result));
    if (thread.begins) {
        set(host->registers().stack, thread.stack);
        if (thread.local)
            host->thread_pointer(thread.local);
        thread.begins = false;
    }
    const Process::Signal signal = process.take_signal(thread);
    thread.returns = false;
    if (!process.killed.empty()) {
        fail(AXL_FAULT_EXCEPTION, thread.called, 0, "the process was ended by " + process.killed + format(" at pc 0x%08X", thread.called));
        return true;
    }
    if (!signal.number)
        return !thread.wait;
    const Host::Registers &registers = host->registers();
    uint32_t information = 0, context = 0;
    const uint32_t stack = process.begin_handler(thread, signal, reg(registers.stack), information, context);
    set(linux_abi.arguments[0], static_cast<uint64_t>(signal.number));
    set(linux_abi.arguments[1], information);
    set(linux_abi.arguments[2], context);
    set(registers.stack, stack);
    set(registers.link, process.returns_at());
    set(registers.pc, signal.handler);
    return true;
}

// What all threads wait for; places are addresses.
std::string Cpu::waits() const {
    return process.waits([](uint32_t called) { return format(", called at 0x%08X", called); });
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
