// Where the program is held, and how it goes on.
#include "cpu/cpu.hpp"
#include "debug/debugger.hpp"

#include <utility>

#include "text.hpp"

namespace axl {

namespace {

constexpr char TRAP[] = "T05thread:1;", INTERRUPT[] = "T02thread:1;", FAULT[] = "T0bthread:1;";
constexpr auto LOOK_EVERY = std::chrono::milliseconds(20);
constexpr uint64_t SNAPSHOT_EVERY = 100'000; // fabric cycles

} // namespace

// ---- what the CPU tells

void Debugger::begins() {
    if (reversible && past.begin())
        travel();
    if (!arrives({Moment::BEGIN, 0, 0}, At::START))
        hold(At::START, TRAP);
}

void Debugger::starts() {
    asked = false;
    if (!std::exchange(has_hook, true)) {
        uc_hook hook;
        uc_hook_add(cpu.engine, &hook, UC_HOOK_CODE, reinterpret_cast<void *>(on_instruction), this, 1, 0);
    }
    if (!std::exchange(leaves_snapshot, false))
        return;
    snapshots++;
    if (travels && !past.quest.lands && past.quest.end == snapshots)
        ends_search(false);
    if (!travels && past.snapshot(snapshots, cpu.to_fabric(cpu.cycles())))
        travel();
}

bool Debugger::stopped() { return asked; }

void Debugger::border() {
    if (interrupted) {
        cpu.catch_up();
        hold(At::BLOCK, INTERRUPT);
    } else if (is_due()) {
        due = cpu.to_fabric(cpu.cycles()) + SNAPSHOT_EVERY;
        leaves_snapshot = true;
        passed.pc = NOWHERE;
        pause();
    }
}

void Debugger::sleeps() {
    if (interrupted)
        hold(At::ASLEEP, INTERRUPT);
}

void Debugger::looks() {
    if (interrupted || is_due())
        cpu.come_to_border();
    looks_so_far++;
    if (travels) {
        if (repeated < said.size() && said[repeated].kind == Said::INTERRUPT && said[repeated].moment.count == looks_so_far) {
            repeated++;
            interrupted = true;
            cpu.come_to_border();
        }
        return;
    }
    const auto now = std::chrono::steady_clock::now();
    if (now - looked < LOOK_EVERY)
        return;
    looked = now;
    print_console();
    if (!link.interrupted())
        return;
    if (past.has_begun())
        said.push_back({Said::INTERRUPT, "", {Moment::NOWHERE, looks_so_far, 0}});
    interrupted = true;
    cpu.come_to_border();
}

bool Debugger::is_passed(uint32_t where) {
    if (passed.pc != where)
        return false;
    if (passed.is_next)
        passed = {where, cpu.instructions, false, false};
    return passed.instructions == cpu.instructions;
}

void Debugger::on_instruction(uc_engine *, uint64_t address, uint32_t, void *self) {
    Debugger &debugger = *static_cast<Debugger *>(self);
    const uint32_t pc = static_cast<uint32_t>(address);
    if (debugger.stepping || debugger.travels || debugger.passed.is_next || debugger.points.has(pc))
        debugger.instruction(pc);
}

void Debugger::instruction(uint32_t where) {
    const bool again = is_passed(where);
    if (cpu.state.run != AXL_RUN_RUNNING)
        return;
    const Moment here = before_instruction(where);
    if (!arrives(here, At::INSTRUCTION) && !again && (stepping || points.has(where))) {
        cpu.catch_up();
        hold(At::INSTRUCTION, TRAP);
    }
    if (travels && (past.quest.steps || probes.has(where)))
        note(here, TRAP, "");
}

std::string Debugger::Watchpoint::reply(uint32_t first) const {
    const char *const name = kind == '2' ? "watch" : kind == '3' ? "rwatch" : "awatch";
    return format("T05%s:%x;thread:1;", name, std::max(first, address));
}

const Debugger::Watchpoint *Debugger::Points::watches(bool write, uint32_t address, uint32_t size) const {
    for (const Watchpoint &point : watchpoints)
        if (point.sees(write, address, size))
            return &point;
    return nullptr;
}

void Debugger::accesses(bool write, uint32_t address, uint32_t size) {
    if (cpu.state.run != AXL_RUN_RUNNING)
        return;
    const uint32_t where = cpu.pc();
    const Moment here = before_instruction(where);
    if (const Watchpoint *point = points.watches(write, address, size); point && !(passed.by_access && is_passed(where))) {
        const std::string why = point->reply(address);
        cpu.catch_up();
        hold(is_memory(address, size) ? At::ACCESS : At::DEVICE_ACCESS, why);
    }
    if (const Watchpoint *point = travels ? probes.watches(write, address, size) : nullptr)
        note(here, point->reply(address), "");
}

void Debugger::ended() {
    if (over || !link.open())
        return;
    over = true;
    print_console();
    if (cpu.state.run == AXL_RUN_FAULT && cpu.state.fault != AXL_FAULT_KILLED) {
        say(cpu.state.text);
        hold(At::END, FAULT);
        link.send("X0b");
    } else if (travels) {
        past.tell(false, {});
    } else {
        link.send(format("W%02x", static_cast<uint32_t>(cpu.state.exit_code) & 0xFF));
    }
    detach();
}

void Debugger::hangs(const std::string &why) {
    if (over || !link.open())
        return;
    over = true;
    print_console();
    say(why);
    hold(At::END, TRAP);
    link.send("X06");
    detach();
}

// ---- what the fabric tells

void Debugger::transfers(const char *who, bool write, uint32_t address) {
    steps_of_fabric++;
    mover = who;
    moves_out = write;
    moves = address;
    arrives(in_fabric(), At::FABRIC);
    if (const Watchpoint *point = travels ? probes.watches(write, address, 4) : nullptr)
        note(in_fabric(), point->reply(address), transfer_text());
}

void Debugger::transferred() {
    const Watchpoint *const point = serving ? nullptr : points.watches(moves_out, moves, 4);
    if (!point)
        return;
    say(transfer_text());
    known = true;
    hold(At::FABRIC, point->reply(moves));
    known = false;
}

std::string Debugger::transfer_text() const {
    return format(moves_out ? "%s writes 0x%08X, after fabric cycle %llu" : "%s reads 0x%08X, after fabric cycle %llu", mover, moves,
                  static_cast<unsigned long long>(std::max(fabric, cpu.fabric_cycle())));
}

void Debugger::word(size_t accelerator, bool in, uint32_t value) {
    const std::string wanted = travels ? seen_in_word(probes, accelerator, in, value) : "";
    fabric_event(seen_in_word(points, accelerator, in, value), wanted);
}

std::string Debugger::seen_in_word(Points &of, size_t accelerator, bool in, uint32_t value) const {
    const Protocol &protocol = *devices[accelerator].protocol;
    std::string seen;
    for (auto &[number, event] : of.events) {
        if (event.accelerator != accelerator)
            continue;
        const char *const behind = seen.empty() ? "" : "; ";
        if (event.kind == Event::OPCODE && in) {
            const uint64_t begun = protocol.ops[event.op].begun;
            if (begun != event.begun)
                seen += format("%sbreak %d: %s, for the %lluth time", behind, number, event.text.c_str(), static_cast<unsigned long long>(begun));
            event.begun = begun;
        } else if (event.kind == Event::STREAM && event.in == in) {
            const uint64_t count = in ? protocol.words_in : protocol.words_out;
            if (event.any || (event.by_number ? count : value) == event.value)
                seen += format("%sbreak %d: %s: word %llu is 0x%08X", behind, number, event.text.c_str(),
                               static_cast<unsigned long long>(count), value);
        }
    }
    return seen;
}

void Debugger::cycle(uint64_t now) {
    fabric = std::max(fabric, now);
    const std::string wanted = travels ? seen_in_cycle(probes) : "";
    fabric_event(seen_in_cycle(points), wanted);
}

std::string Debugger::seen_in_cycle(Points &of) const {
    std::string seen;
    for (auto &[number, event] : of.events) {
        if (event.kind != Event::VALUE)
            continue;
        const bool had_it = event.has_it;
        event.has_it = States::low(*event.element, event.index) == event.value;
        if (event.has_it && !had_it)
            seen += format("%sbreak %d: %s", seen.empty() ? "" : "; ", number, event.text.c_str());
    }
    return seen;
}

void Debugger::activity(size_t accelerator, uint64_t now, uint32_t bits) {
    const uint32_t earlier = states[accelerator];
    fabric = now;
    states[accelerator] = bits;
    const std::string wanted = travels ? seen_in_activity(probes, accelerator, earlier, bits) : "";
    fabric_event(seen_in_activity(points, accelerator, earlier, bits), wanted);
}

std::string Debugger::seen_in_activity(const Points &of, size_t accelerator, uint32_t earlier, uint32_t bits) const {
    std::string seen;
    for (const auto &[number, event] : of.events)
        if (event.kind == Event::STATE && event.accelerator == accelerator && ((bits & event.mask) != 0) == event.is_high &&
            ((earlier & event.mask) != 0) != event.is_high)
            seen += format("%sbreak %d: %s", seen.empty() ? "" : "; ", number, event.text.c_str());
    return seen;
}

// `wanted`: what a traveller looks for has happened.
void Debugger::fabric_event(const std::string &text, const std::string &wanted) {
    steps_of_fabric++;
    if (!arrives(in_fabric(), At::FABRIC) && !text.empty() && !serving) {
        say(text);
        hold(At::FABRIC, TRAP);
    }
    if (travels && !wanted.empty())
        note(in_fabric(), TRAP, wanted);
}

// ---- holding

uint32_t Debugger::pc() const { return cpu.waits_in_access() ? cpu.state.mmio_pc : cpu.pc(); }

void Debugger::say(const std::string &text) {
    if (link.open())
        link.send("O" + to_hex("axiloom: " + text + "\n"));
}

void Debugger::print_console() {
    if (printed < cpu.console.text.size() && link.open())
        link.send("O" + to_hex(cpu.console.text.substr(printed)));
    printed = cpu.console.text.size();
}

// gdb has the word until it lets the program go on.
void Debugger::hold(At where, const std::string &why) {
    if (!link.open() || serving)
        return;
    serving = true;
    at = where;
    stepping = interrupted = false;
    print_console();
    reply = why;
    if (at != At::START || why != TRAP) // when it has just called it asks
        link.send(reply);
    std::string packet;
    for (Then then = Then::WAIT; then == Then::WAIT;) {
        if (!next_packet(packet)) {
            detach();
            break;
        }
        then = answer(packet);
        if (then == Then::BACK || then == Then::STEP_BACK) {
            said.pop_back(); // it is not said on this way through time
            if (then == Then::STEP_BACK && std::exchange(known, false))
                link.send(TRAP);
            else
                go_back(then == Then::STEP_BACK);
            then = Then::WAIT;
        } else if (then == Then::STEP && std::exchange(known, false)) { // it only asks for the values as they are now
            link.send(TRAP);
            then = Then::WAIT;
        } else if (then == Then::STEP) {
            stepping = true;
        }
    }
    serving = false;
    leave();
}

void Debugger::leave() {
    if (at == At::END)
        return;
    const bool jumps = std::exchange(moved, false), is_access = at == At::ACCESS || at == At::DEVICE_ACCESS;
    passed = {at == At::FABRIC || at == At::ASLEEP ? NOWHERE : cpu.pc(), cpu.instructions, at == At::START || jumps, is_access};
    if (!jumps)
        return;
    cpu.leaves_block();
    if (at != At::START)
        pause();
}

// The engine stops before the instruction that it is at, and goes on where the program counter is.
void Debugger::pause() {
    asked = true;
    passed.is_next = true;
    cpu.pause_at(cpu.pc());
}

void Debugger::detach() {
    points = probes = {};
    watch();
    past.end();
    said.clear();
    link.close();
}

} // namespace axl
