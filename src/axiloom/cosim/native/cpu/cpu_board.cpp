// The CPU with a program of other tools on it: exceptions, sleep, the program's end.
#include <algorithm>
#include <cstring>

#include "cpu/cpu.hpp"
#include "text.hpp"

namespace axl {

namespace {

constexpr uint32_t NEVER_REACHED = 0xFFFFFFF0u; // such a program ends in a loop
constexpr uint64_t NANO = 1000000000;
constexpr uint64_t SETTLE_CYCLES = 1000;  // in which the fabric shows that it has begun something
constexpr uint64_t BUSY_CYCLES = 1u << 18; // between two looks of the watchdog at a DMA that does not end
constexpr int FABRIC_ALONE = 1 << 16;
constexpr size_t MOST_NOTES = 64;

bool is_in(uint32_t pc, uint32_t begin, uint32_t end) { return pc >= begin && pc < end; }

} // namespace

bool Cpu::Board::State::operator==(const State &other) const {
    return changes == other.changes && std::equal(std::begin(registers), std::end(registers), std::begin(other.registers));
}

int Cpu::start_board(const axl_board_t &program) {
    if (state.run != AXL_RUN_RESET) {
        error = "axl_board_start: call axl_job_begin first";
        return -1;
    }
    if (prepare(program.text_start, program.text_end) != 0)
        return -1;
    surroundings = host->open_board();
    if (!surroundings) {
        error = "axl_board_start: programs of other tools do not run on this CPU";
        return -1;
    }
    board.program = program;
    console.begin(std::string(program.input ? program.input : "", program.input_bytes), program.reads, program.prints,
                  program.until ? program.until : "");
    const unsigned __int128 limit = static_cast<unsigned __int128>(program.limit_ns) * config.cpu_hz / NANO;
    board.limit = program.limit_ns ? static_cast<uint64_t>(limit) : NEVER;
    if (program.assert_begin && !hook(UC_HOOK_CODE, reinterpret_cast<void *>(on_assertion), this, program.assert_begin & ~1u))
        return -1;
    entry = program.entry;
    exit_pc = NEVER_REACHED;
    state.run = AXL_RUN_RUNNING;
    return 0;
}

// ---- what blocks use

void Cpu::print(const char *port, const char *text, size_t size) {
    if (!console.print(port, text, size))
        note(state.mmio_pc, "prints more than 1 MB: the rest is not kept");
    if (console.ended() && state.run == AXL_RUN_RUNNING) {
        state.run = AXL_RUN_EXITED;
        state.exit_code = 0;
        stop_engine();
    }
}

void Cpu::note(uint32_t at, const std::string &text) {
    if (notes.size() < MOST_NOTES && board.noted.emplace(at, text).second)
        notes.push_back({at, notes.size() + 1 < MOST_NOTES ? text : "there were more notes: they are not kept"});
}

void Cpu::pass_time(uint64_t until) {
    if (aborting || state.run != AXL_RUN_RUNNING || until <= cycles())
        return;
    until = std::min(until, board.limit);
    if (alone)
        memory.penalty += until > cycles() ? until - cycles() : 0;
    else if (to_fabric(until) > std::max(now, to_fabric(cycles())))
        yield(AXL_OP_SLEEP, 0, static_cast<uint32_t>(irq_line), until);
}

// ---- exceptions

void Cpu::take_trap(const Host::Trap &trap, const std::string &why) {
    board.has_trap = true;
    board.trap = trap;
    if (trap.kind == Host::Trap::SYSTEM_CALL || trap.kind == Host::Trap::INTERRUPT)
        return;
    board.crash = trap;
    board.why = why;
}

// The engine has stopped for an exception: it goes on at the vector.
bool Cpu::enters_trap(uc_err code, uint32_t pc) {
    if (!board.has_trap && code == UC_ERR_INSN_INVALID && host->hint_before(pc) != Host::Hint::GO_ON)
        take_trap({Host::Trap::UNDEFINED, pc & ~1u, pc & ~1u, 0}, format("undefined instruction at pc 0x%08X", pc & ~1u));
    if (!board.has_trap)
        return false;
    board.has_trap = false;
    interrupts++;
    previous = nullptr; // no branch leads to a vector
    const uint32_t vector = host->enter(board.trap);
    uint32_t instruction = 0;
    uc_mem_read(engine, vector, &instruction, sizeof instruction);
    if (instruction)
        return true;
    if (board.trap.kind == Host::Trap::INTERRUPT)
        fail(AXL_FAULT_EXCEPTION, board.trap.pc, 0, format("an interrupt before pc 0x%08X: there is no handler at the vector", board.trap.pc));
    else if (board.trap.kind == Host::Trap::SYSTEM_CALL)
        fail(AXL_FAULT_EXCEPTION, board.trap.pc, 0, format("SVC before pc 0x%08X: there is no handler at the vector", board.trap.pc));
    else
        fail(AXL_FAULT_EXCEPTION, board.trap.pc, board.trap.address, board.why + ": there is no handler at the vector");
    return true;
}

// At the start of a block that may wait, because an interrupt goes before it, or because time has come.
void Cpu::board_event() {
    if (board.waits_for_mask && !board.must_look && cycles() < board.due && host->masks_interrupts())
        return;
    board.must_look = false;
    const bool quantum_over = cycles() >= board.quantum_end;
    if (cycles() >= board.limit) {
        fail(AXL_FAULT_LIMIT, memory.pc, 0, format("still running at pc 0x%08X after %u ms of the board's time", memory.pc, board.limit_ms()));
        return stop_engine();
    }
    if (alone && max_instructions && instructions >= max_instructions) {
        fail(AXL_FAULT_LIMIT, memory.pc, 0, format("still running at pc 0x%08X after the limit of instructions", memory.pc));
        return stop_engine();
    }
    if (quantum_over && alone) {
        timeline.hand_over(cycles());
        timeline.advance(to_fabric(cycles()));
    } else if (quantum_over) {
        yield(AXL_OP_ADVANCE, 0, 0);
    }
    if (state.run != AXL_RUN_RUNNING || aborting)
        return stop_engine();
    if (quantum_over) {
        console.flush();
        console.look_again();
    }
    surroundings->run();
    if (quantum_over && is_idle() && !rests(false))
        return stop_engine();
    const bool wanted = surroundings->interrupts();
    if (wanted && !host->masks_interrupts()) {
        take_trap({Host::Trap::INTERRUPT, memory.pc, 0, 0}, "");
        leave_block(); // it is entered again when the handler returns
        stop_engine();
    }
    schedule();
    board.waits_for_mask = wanted;
    if (wanted)
        next_event = 0; // as soon as it is not masked
}

// ---- rest

// Registers and memory are as they were at the end of an earlier quantum: so it goes on until somebody else changes them.
bool Cpu::is_idle() {
    Board::State now_is{};
    const std::vector<int> &ids = host->general_registers();
    void *values[std::size(now_is.registers)];
    for (size_t i = 0; i < ids.size(); i++)
        values[i] = &now_is.registers[i];
    uc_reg_read_batch(engine, ids.data(), values, static_cast<int>(ids.size()));
    now_is.changes = memory.stores + memory.uncached_stores + surroundings->changes() + neighbours.changes + mmio_reads + mmio_writes + interrupts;
    const bool was_before = std::find(std::begin(board.states), std::end(board.states), now_is) != std::end(board.states);
    board.states[board.next_state++ % std::size(board.states)] = now_is;
    return was_before;
}

// Nothing happens but in the fabric until `next`, if that comes; `settled`: and there neither.
void Cpu::rest_until(uint64_t next, uint64_t limit, bool &settled) {
    timeline.sleep(cycles());
    if (observer)
        observer->sleeps();
    last_read = read_before = NO_ACCESS; // what is read after sleep is no poll
    const uint64_t until = std::min(next != NEVER ? next : cycles() + (busy ? BUSY_CYCLES : SETTLE_CYCLES), limit);
    settled = !busy;
    if (alone)
        memory.penalty += until > cycles() ? until - cycles() : 0;
    else
        yield(AXL_OP_SLEEP, 0, static_cast<uint32_t>(irq_line | (next == NEVER ? FABRIC_ALONE : 0)), std::max(until, cycles() + 1));
}

// The CPU sleeps, or runs in a loop that only an interrupt can end, until there is one. False: the run is over.
bool Cpu::rests(bool asleep) {
    const uint32_t at = asleep ? pc() : memory.pc;
    const bool is_end = is_in(at, board.program.exit_begin, board.program.exit_end) ||
                        is_in(at, board.program.assert_begin, board.program.assert_end) || host->handles_crash();
    bool settled = false;
    while (!aborting && state.run == AXL_RUN_RUNNING) {
        surroundings->run();
        const bool can_wake = asleep || !host->masks_interrupts();
        if (surroundings->interrupts() && can_wake)
            return true;
        const uint64_t next = can_wake ? surroundings->next() : NEVER;
        if (!is_end && waits_for_typing(next)) {
            if (!asleep)
                return true;
            continue;
        }
        if (is_end || (next == NEVER && !busy && (settled || alone))) {
            ends_idle(at);
            return false;
        }
        if (cycles() >= board.limit) {
            fail(AXL_FAULT_LIMIT, at, 0, format("still waiting at pc 0x%08X after %u ms of the board's time", at, board.limit_ms()));
            return false;
        }
        rest_until(next, board.limit, settled);
        if (!asleep && (busy || next != NEVER))
            return true; // what the fabric writes to memory may end the loop, or a register that it polls
    }
    return false;
}

// A person may type what the program waits for: until then time passes as it does for the person, or, where nothing else
// will happen, not at all. It does not count for the limit. True: something was typed, or nothing will be.
bool Cpu::waits_for_typing(uint64_t next) {
    if (!console.is_open() || !surroundings->wants_input() || busy)
        return false;
    const bool forever = next == NEVER;
    const uint64_t pause = forever || next < cycles() ? 0 : next - cycles();
    const size_t before = console.available();
    console.wait(forever ? -1 : static_cast<double>(pause) * 1000 / static_cast<double>(config.cpu_hz));
    if (board.limit != NEVER)
        board.limit += pause;
    if (!forever && console.available() == before && console.is_open())
        return false;
    surroundings->run();
    return true;
}

// Nothing can happen any more.
void Cpu::ends_idle(uint32_t at) {
    state.pc = at;
    if (board.has_asserted && is_in(at, board.program.assert_begin, board.program.assert_end)) {
        fail(AXL_FAULT_EXCEPTION, at, 0, board.asserted);
        return;
    }
    if (host->handles_crash()) {
        fail(AXL_FAULT_EXCEPTION, board.crash.pc, board.crash.address, board.why);
        return;
    }
    state.run = AXL_RUN_EXITED;
    if (is_in(at, board.program.exit_begin, board.program.exit_end))
        state.exit_code = static_cast<int32_t>(reg(host->general_registers()[0]));
    else
        note(at, surroundings->wants_input() ? "the program ends here: it waits for input, and there is no more"
                                             : "the program ends here: it goes on for ever, and nothing can change that");
}

void Cpu::sees_assertion() {
    char file[128] = "?";
    const uint32_t text = reg(host->general_registers()[0]), line = reg(host->general_registers()[1]);
    if (text < RAM_SIZE - sizeof file)
        snprintf(file, sizeof file, "%s", reinterpret_cast<const char *>(ram + text));
    board.has_asserted = true;
    board.asserted = std::string("a false assertion at ") + file + format(":%u", line);
}

void Cpu::on_assertion(uc_engine *, uint64_t, uint32_t, void *self) { static_cast<Cpu *>(self)->sees_assertion(); }

} // namespace axl
