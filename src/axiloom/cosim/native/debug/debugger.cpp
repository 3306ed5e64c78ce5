// Where the program is held, and how it goes on.
#include "cpu/cpu.hpp"
#include "debug/debugger.hpp"

#include <utility>

#include "text.hpp"

namespace axl {

namespace {

constexpr char TRAP[] = "T05thread:1;", INTERRUPT[] = "T02thread:1;", FAULT[] = "T0bthread:1;";
constexpr auto LOOK_EVERY = std::chrono::milliseconds(20);

} // namespace

// ---- what the CPU tells

void Debugger::begins() { hold(At::START, TRAP); }

// Hooks that came or went need other translations.
void Debugger::reload() {
    asked = false;
    if (!hooks_differ())
        return;
    for (auto hook = hooks.begin(); hook != hooks.end();) {
        if (!breaks.count(hook->first)) {
            uc_hook_del(cpu.engine, hook->second);
            hook = hooks.erase(hook);
        } else {
            ++hook;
        }
    }
    void *const callback = reinterpret_cast<void *>(on_instruction);
    for (uint32_t address : breaks)
        if (!hooks.count(address))
            uc_hook_add(cpu.engine, &hooks[address], UC_HOOK_CODE, callback, this, address, address);
    if (has_step_hook != stepping) {
        stepping ? uc_hook_add(cpu.engine, &step_hook, UC_HOOK_CODE, callback, this, 1, 0) : uc_hook_del(cpu.engine, step_hook);
        has_step_hook = stepping;
    }
    uc_ctl_flush_tb(cpu.engine);
}

bool Debugger::stopped() { return asked; }

bool Debugger::hooks_differ() const {
    if (has_step_hook != stepping || hooks.size() != breaks.size())
        return true;
    for (const auto &[address, hook] : hooks)
        if (!breaks.count(address))
            return true;
    return false;
}

void Debugger::border() {
    if (interrupted) {
        cpu.catch_up();
        hold(At::BLOCK, INTERRUPT);
    } else if (hooks_differ()) {
        passed.pc = NOWHERE;
        pause();
    }
}

void Debugger::sleeps() {
    if (interrupted)
        hold(At::ASLEEP, INTERRUPT);
}

void Debugger::looks() {
    if (interrupted || hooks_differ())
        cpu.come_to_border();
    const auto now = std::chrono::steady_clock::now();
    if (now - looked < LOOK_EVERY)
        return;
    looked = now;
    print_console();
    if (!link.interrupted())
        return;
    interrupted = true;
    cpu.come_to_border();
}

bool Debugger::is_passed(uint32_t where) {
    if (passed.pc != where)
        return false;
    if (passed.is_next)
        passed = {where, cpu.instructions, false};
    return passed.instructions == cpu.instructions;
}

void Debugger::on_instruction(uc_engine *, uint64_t address, uint32_t, void *self) {
    static_cast<Debugger *>(self)->instruction(static_cast<uint32_t>(address));
}

void Debugger::instruction(uint32_t where) {
    if (is_passed(where) || !(stepping || breaks.count(where)) || cpu.state.run != AXL_RUN_RUNNING)
        return;
    cpu.catch_up();
    hold(At::INSTRUCTION, TRAP);
}

std::string Debugger::Watchpoint::reply(uint32_t first) const {
    const char *const name = kind == '2' ? "watch" : kind == '3' ? "rwatch" : "awatch";
    return format("T05%s:%x;thread:1;", name, std::max(first, address));
}

void Debugger::accesses(bool write, uint32_t address, uint32_t size) {
    if (cpu.state.run != AXL_RUN_RUNNING || watchpoints.empty())
        return;
    for (const Watchpoint &point : watchpoints) {
        if (!point.sees(write, address, size))
            continue;
        const uint32_t where = cpu.pc();
        if (is_passed(where))
            return;
        cpu.catch_up();
        hold(is_memory(address, size) ? At::ACCESS : At::DEVICE_ACCESS, point.reply(address));
        if (asked)
            cpu.repeats_to(address);
        return;
    }
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
    } else {
        link.send(format("W%02x", static_cast<uint32_t>(cpu.state.exit_code) & 0xFF));
    }
    link.close();
}

void Debugger::hangs(const std::string &why) {
    if (over || !link.open())
        return;
    over = true;
    print_console();
    say(why);
    hold(At::END, TRAP);
    link.send("X06");
    link.close();
}

// ---- what the fabric tells

void Debugger::transfers(const char *who, bool write, uint32_t address) {
    for (const Watchpoint &point : watchpoints) {
        if (!point.sees(write, address, 4) || serving)
            continue;
        say(format(write ? "%s writes 0x%08X, after fabric cycle %llu" : "%s reads 0x%08X, after fabric cycle %llu", who, address,
                   static_cast<unsigned long long>(std::max(fabric, cpu.fabric_cycle()))));
        known = true;
        hold(At::FABRIC, point.reply(address));
        known = false;
        return;
    }
}

void Debugger::word(size_t accelerator, bool in, uint32_t value) {
    const Protocol &protocol = *devices[accelerator].protocol;
    std::string seen;
    for (auto &[number, event] : events) {
        if (event.accelerator != accelerator)
            continue;
        if (event.kind == Event::OPCODE && in) {
            const uint64_t begun = protocol.ops[event.op].begun;
            if (begun != event.begun)
                seen = format("break %d: %s, for the %lluth time", number, event.text.c_str(), static_cast<unsigned long long>(begun));
            event.begun = begun;
        } else if (event.kind == Event::STREAM && event.in == in) {
            const uint64_t count = in ? protocol.words_in : protocol.words_out;
            if (event.any || (event.by_number ? count : value) == event.value)
                seen = format("break %d: %s: word %llu is 0x%08X", number, event.text.c_str(),
                              static_cast<unsigned long long>(count), value);
        }
    }
    if (!seen.empty())
        fabric_event(seen);
}

void Debugger::activity(size_t accelerator, uint64_t now, uint32_t bits) {
    const uint32_t before = states[accelerator];
    fabric = now;
    states[accelerator] = bits;
    std::string seen;
    for (const auto &[number, event] : events)
        if (event.kind == Event::STATE && event.accelerator == accelerator && ((bits & event.mask) != 0) == event.is_high &&
            ((before & event.mask) != 0) != event.is_high)
            seen = format("break %d: %s", number, event.text.c_str());
    if (!seen.empty())
        fabric_event(seen);
}

void Debugger::fabric_event(const std::string &text) {
    if (serving)
        return;
    say(text);
    hold(At::FABRIC, TRAP);
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
    if (at != At::START) // then gdb asks
        link.send(reply);
    std::string packet;
    for (Then then = Then::WAIT; then == Then::WAIT;) {
        if (!link.receive(packet)) {
            detach();
            break;
        }
        then = answer(packet);
        if (then == Then::STEP && std::exchange(known, false)) { // it only asks for the values as they are now
            link.send(TRAP);
            then = Then::WAIT;
        } else if (then == Then::STEP) {
            stepping = true;
        }
    }
    serving = false;
    leave();
}

// The program goes on: with the hooks that it has, or the engine stops and takes others.
void Debugger::leave() {
    if (at == At::END)
        return;
    const bool jumps = std::exchange(moved, false);
    passed = {at == At::FABRIC || at == At::ASLEEP ? NOWHERE : cpu.pc(), cpu.instructions, at == At::START || jumps};
    if (jumps)
        cpu.leaves_block();
    if (at == At::START || at == At::ASLEEP || (!jumps && !hooks_differ()))
        return;
    if (at == At::FABRIC || at == At::DEVICE_ACCESS) // an access to a device is not repeated
        cpu.come_to_border();
    else
        pause();
}

// The engine stops before the instruction that it is at, and goes on there.
void Debugger::pause() {
    asked = true;
    passed.is_next = true;
    cpu.pause_at(cpu.pc());
}

void Debugger::detach() {
    breaks.clear();
    watchpoints.clear();
    cpu.observe(0, 0);
    events.clear();
    link.close();
}

} // namespace axl
