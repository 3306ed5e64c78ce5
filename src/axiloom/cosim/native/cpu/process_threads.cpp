// Threads of a Linux process, which share one CPU: waits, futexes, sleep, signals.
#include <algorithm>
#include <csignal>
#include <cstring>

#include "cpu/process.hpp"
#include "text.hpp"

namespace axl {

namespace {

constexpr uint64_t SLICE = 3000000; // nanoseconds: sched_min_granularity of a kernel for two CPUs
constexpr uint64_t SA_INFO = 4, SA_RESTART_BIT = 0x10000000, SA_NO_DEFER = 0x40000000, SA_RESET = 0x80000000;

uint64_t bit(uint64_t signal) { return 1ull << (signal - 1); }

bool is_ignored(uint64_t signal, uint64_t handler) {
    const bool quiet = signal == SIGCHLD || signal == SIGURG || signal == SIGWINCH || signal == SIGCONT;
    return handler == 1 || (handler == 0 && quiet);
}

} // namespace

uint64_t Process::nanoseconds_at(uint64_t address, uint32_t field_bytes) const {
    return seconds(number(address, field_bytes)) + number(address + field_bytes, field_bytes == 8 && abi.word_bytes == 4 ? 4 : field_bytes);
}

uint64_t Process::after(uint64_t address, uint32_t field_bytes) const {
    return address ? now() + nanoseconds_at(address, field_bytes) : +NEVER;
}

// ---- who runs

int64_t Process::wait(Thread::Wait wait) {
    current().wait = std::move(wait);
    switches = true;
    return 0;
}

void Process::interrupt(uint32_t lines_now) {
    lines = lines_now;
    for (const auto &[path, node] : named)
        node->interrupt(lines);
}

// Threads whose wait is over can go on.
void Process::look() {
    const uint64_t time = now();
    if (time >= alarm_at) {
        raise(*threads.front(), SIGALRM);
        alarm_at = alarm_every ? alarm_at + alarm_every : +NEVER;
    }
    for (const auto &thread : threads) {
        if (!thread->wait)
            continue;
        int64_t result = 0;
        if (!thread->wait.over(result)) {
            if (has_signal(*thread))
                result = INTERRUPTED;
            else if (time >= thread->wait.until)
                result = thread->wait.late;
            else
                continue;
        }
        thread->returns = true;
        thread->result = result;
        if (result != INTERRUPTED || !thread->wait.restarts)
            thread->wait = {};
    }
}

// A signal, the end of another one's wait, or of its own time.
bool Process::preempts() {
    bool others = false;
    const auto waiting = std::count_if(threads.begin(), threads.end(), [](const auto &thread) { return bool(thread->wait); });
    if (!waiting && threads.size() == 1 && alarm_at == NEVER)
        return false;
    look();
    for (const auto &thread : threads)
        others |= thread.get() != &current() && !thread->wait;
    const auto still = std::count_if(threads.begin(), threads.end(), [](const auto &thread) { return bool(thread->wait); });
    switches = has_signal(current()) || still != waiting || (others && now() >= slice_end);
    return switches;
}

Process::Thread *Process::next() {
    switches = false;
    look();
    for (size_t i = threads.size(); i-- > 0;)
        if (!threads[i]->id) { // it has ended
            threads.erase(threads.begin() + static_cast<std::ptrdiff_t>(i));
            running -= i <= running && running > 0;
        }
    for (size_t i = 1; i <= threads.size(); i++) {
        const size_t candidate = (running + i) % threads.size();
        Thread &thread = *threads[candidate];
        if (thread.wait && !thread.returns)
            continue;
        running = candidate;
        slice_end = now() + SLICE;
        return &thread;
    }
    return nullptr;
}

uint64_t Process::due() const {
    uint64_t first = alarm_at;
    for (const auto &thread : threads)
        if (thread->wait)
            first = std::min(first, thread->wait.until);
    for (const Node::Open &of : open)
        if (of.node && of.node->due() > now())
            first = std::min(first, of.node->due());
    return first;
}

std::string Process::waits(const std::function<std::string(uint32_t)> &place) const {
    std::string said;
    for (const auto &thread : threads) {
        if (!thread->wait)
            continue;
        said += said.empty() ? "" : "; ";
        if (threads.size() > 1)
            said += format("thread %u in ", thread->id);
        said += thread->wait.what + place(thread->called);
        for (const Node::Open &of : open)
            if (of.node && thread->wait.what.find(of.node->name) != std::string::npos && !of.node->why_not().empty())
                said += " (" + of.node->why_not() + ")";
    }
    return said;
}

// ---- threads

int64_t Process::clone(const uint64_t *a) {
    constexpr uint64_t VM = 0x100, THREAD = 0x10000, SET_TLS = 0x80000, PARENT_ID = 0x100000, CLEAR = 0x200000, CHILD_ID = 0x1000000;
    if ((a[0] & (VM | THREAD)) != (VM | THREAD))
        return refuse("only threads are simulated (CLONE_VM and CLONE_THREAD), no second process");
    auto thread = std::make_unique<Thread>();
    thread->id = ++ids;
    thread->mask = current().mask;
    thread->registers = machine.registers();
    thread->begins = true;
    thread->returns = true;
    thread->stack = static_cast<uint32_t>(a[1]);
    thread->local = a[0] & SET_TLS ? static_cast<uint32_t>(a[3]) : 0;
    thread->on_exit = a[0] & CLEAR ? a[4] : 0;
    if (a[0] & PARENT_ID)
        put(a[2], thread->id, 4);
    if (a[0] & CHILD_ID)
        put(a[4], thread->id, 4);
    const uint32_t id = thread->id;
    threads.push_back(std::move(thread));
    return id;
}

int64_t Process::exit_group(const uint64_t *a) {
    exit_code = static_cast<int>(a[0] & 255);
    ended = true;
    return 0;
}

int64_t Process::exit(const uint64_t *a) {
    if (threads.size() == 1)
        return exit_group(a);
    if (current().on_exit) {
        put(current().on_exit, 0, 4);
        wake(current().on_exit, 1);
    }
    // It waits for what never comes, until the next one has its place.
    Thread::Wait gone;
    gone.over = [](int64_t &) { return false; };
    current().id = 0;
    return wait(gone);
}

Process::Thread *Process::thread_of(uint64_t id) {
    const auto place = std::find_if(threads.begin(), threads.end(), [=](const auto &thread) { return thread->id == id; });
    return place == threads.end() ? nullptr : place->get();
}

int64_t Process::thread_id(const uint64_t *) { return current().id; }

int64_t Process::set_exit_address(const uint64_t *a) {
    current().on_exit = a[0];
    return current().id;
}

int64_t Process::affinity(const uint64_t *a) { // of one CPU
    put(a[2], 1, abi.word_bytes);
    return abi.word_bytes;
}

int64_t Process::yield(const uint64_t *) {
    switches = threads.size() > 1;
    return 0;
}

// ---- sleep

int64_t Process::sleep_until(uint64_t until) {
    Thread::Wait sleeps;
    sleeps.until = until;
    sleeps.what = "sleep";
    sleeps.over = [](int64_t &) { return false; };
    return wait(sleeps);
}

int64_t Process::sleep(const uint64_t *a) { return sleep_until(after(a[0], abi.word_bytes)); }

int64_t Process::sleep_clock(const uint64_t *a) { return sleep_until(a[1] & 1 ? nanoseconds_at(a[2], 8) : after(a[2], 8)); }
int64_t Process::sleep_clock_narrow(const uint64_t *a) { return sleep_until(a[1] & 1 ? nanoseconds_at(a[2], 4) : after(a[2], 4)); }

// ---- futexes

uint64_t Process::wake(uint64_t address, uint64_t most) {
    uint64_t woken = 0;
    for (const auto &thread : threads)
        if (woken < most && thread->futex == address) {
            thread->futex = 0;
            woken++;
        }
    return woken;
}

int64_t Process::futex_until(const uint64_t *a, uint32_t field_bytes) {
    enum { WAIT = 0, WAKE = 1, REQUEUE = 3, COMPARE_REQUEUE = 4, WAIT_BITS = 9, WAKE_BITS = 10 };
    const uint64_t address = a[0], value = a[2] & 0xFFFFFFFF, operation = a[1] & 127; // without PRIVATE and CLOCK_REALTIME
    if (!in_ram(address, 4))
        return BAD_ADDRESS;
    switch (operation) {
    case WAIT:
    case WAIT_BITS: {
        if (number(address, 4) != value)
            return AGAIN;
        Thread *self = &current();
        Thread::Wait waits;
        waits.until = operation == WAIT ? after(a[3], field_bytes) : a[3] ? nanoseconds_at(a[3], field_bytes) : +NEVER;
        waits.late = TIMED_OUT;
        waits.restarts = waits.until == NEVER;
        waits.what = format("futex (a mutex, a condition, or the end of another thread) at 0x%08X", static_cast<uint32_t>(address));
        waits.over = [=](int64_t &result) {
            result = 0;
            return self->futex == 0;
        };
        self->futex = address;
        return wait(waits);
    }
    case WAKE:
    case WAKE_BITS:
        return static_cast<int64_t>(wake(address, value));
    case REQUEUE:
    case COMPARE_REQUEUE: {
        if (operation == COMPARE_REQUEUE && number(address, 4) != (a[5] & 0xFFFFFFFF))
            return AGAIN;
        auto moved = static_cast<int64_t>(wake(address, value));
        const auto most = static_cast<int64_t>(value + (a[3] & 0xFFFFFFFF));
        for (const auto &thread : threads)
            if (moved < most && thread->futex == address) {
                thread->futex = a[4];
                moved++;
            }
        return moved;
    }
    default:
        return refuse(format("futex operation %u is not simulated (waits and wakes are)", static_cast<uint32_t>(operation)));
    }
}

int64_t Process::futex(const uint64_t *a) { return futex_until(a, 8); }
int64_t Process::futex_narrow(const uint64_t *a) { return futex_until(a, 4); }

// ---- signals

// struct sigaction of the kernel: handler, flags, restorer, 64 bits of mask; each of the first three a word.
int64_t Process::sigaction(const uint64_t *a) {
    if (a[0] < 1 || a[0] > 64 || a[0] == SIGKILL || a[0] == SIGSTOP)
        return INVALID;
    Action &action = actions[a[0]];
    const uint32_t size = abi.word_bytes;
    const Action before = action;
    if (a[1])
        action = {word(a[1]), word(a[1] + size), number(a[1] + 3 * size, 8)};
    if (a[2]) {
        put(a[2], before.handler, size);
        put(a[2] + size, before.flags, size);
        put(a[2] + 2 * size, 0, size);
        put(a[2] + 3 * size, before.mask, 8);
    }
    return 0;
}

int64_t Process::set_mask(const uint64_t *a) {
    enum { BLOCK, UNBLOCK, SET };
    const uint64_t set = a[1] ? number(a[1], 8) : 0;
    uint64_t &mask = current().mask;
    if (a[2])
        put(a[2], mask, 8);
    if (a[1])
        mask = a[0] == BLOCK ? mask | set : a[0] == UNBLOCK ? mask & ~set : set;
    mask &= ~(bit(SIGKILL) | bit(SIGSTOP));
    return 0;
}

int64_t Process::raise(Thread &thread, uint64_t signal) {
    if (signal > 64)
        return INVALID;
    if (signal && !is_ignored(signal, actions[signal].handler))
        thread.pending |= bit(signal);
    return 0;
}

int64_t Process::kill(const uint64_t *a) { // the process itself; to a thread that takes it
    const auto open_to = std::find_if(threads.begin(), threads.end(), [&](const auto &thread) { return !a[1] || !(thread->mask & bit(a[1])); });
    return raise(open_to == threads.end() ? current() : **open_to, a[1]);
}

int64_t Process::tkill(const uint64_t *a) {
    Thread *thread = thread_of(a[0]);
    return thread ? raise(*thread, a[1]) : -3; // ESRCH
}

int64_t Process::tgkill(const uint64_t *a) { return tkill(a + 1); }

int64_t Process::pause(const uint64_t *) {
    Thread::Wait waits;
    waits.what = "pause";
    waits.over = [](int64_t &) { return false; };
    return wait(waits);
}

// ITIMER_REAL: interval and first time, each seconds and microseconds.
int64_t Process::timer_set(const uint64_t *a) {
    if (a[0] != 0)
        return refuse("only ITIMER_REAL is simulated");
    const uint64_t size = abi.word_bytes;
    const auto time_at = [&](uint64_t address) { return seconds(word(address)) + word(address + size) * 1000; };
    if (a[2])
        for (uint64_t field = 0; field < 4; field++)
            put(a[2] + field * size, 0, abi.word_bytes);
    const uint64_t first = a[1] ? time_at(a[1] + 2 * size) : 0;
    alarm_every = a[1] ? time_at(a[1]) : 0;
    alarm_at = first ? now() + first : +NEVER;
    return 0;
}

// One whose handler is to run now. A signal that ends the process is in `killed`.
Process::Signal Process::take_signal(Thread &thread) {
    while (has_signal(thread)) {
        const auto number = static_cast<int>(__builtin_ctzll(thread.pending & ~thread.mask)) + 1;
        thread.pending &= ~bit(static_cast<uint64_t>(number));
        Action &action = actions[number];
        if (is_ignored(static_cast<uint64_t>(number), action.handler))
            continue;
        if (!action.handler) {
            const char *name = sigabbrev_np(number);
            killed = format("signal %u", number) + (name ? " (SIG" + std::string(name) + ")" : "");
            return {};
        }
        return {number, action.handler, (action.flags & SA_INFO) != 0};
    }
    return {};
}

// The thread's registers are those that it had. Returns the stack pointer of the handler.
uint32_t Process::begin_handler(Thread &thread, const Signal &signal, uint32_t stack, uint32_t &information, uint32_t &context) {
    constexpr uint32_t INFORMATION = 128, CONTEXT = 5120; // siginfo_t; no ucontext_t is larger
    Action &action = actions[signal.number];
    Thread::Wait again;
    if (thread.wait && action.flags & SA_RESTART_BIT)
        again = std::move(thread.wait);
    thread.wait = {};
    thread.frames.push_back({machine.registers(), thread.mask, std::move(again)});
    thread.mask |= action.mask | (action.flags & SA_NO_DEFER ? 0 : bit(static_cast<uint64_t>(signal.number)));
    if (action.flags & SA_RESET)
        action.handler = 0;
    context = (stack - CONTEXT) & ~15u;
    information = context - INFORMATION;
    if (in_ram(information, INFORMATION + CONTEXT))
        memset(at_ram(information), 0, INFORMATION + CONTEXT);
    put(information, static_cast<uint64_t>(signal.number), 4);
    return information;
}

int64_t Process::sigreturn(const uint64_t *) {
    Thread &thread = current();
    if (thread.frames.empty())
        return refuse("no signal's handler runs");
    Thread::Frame frame = std::move(thread.frames.back());
    thread.frames.pop_back();
    thread.registers = std::move(frame.registers);
    thread.mask = frame.mask;
    thread.wait = std::move(frame.wait);
    thread.restores = true;
    switches = true;
    return 0;
}

} // namespace axl
