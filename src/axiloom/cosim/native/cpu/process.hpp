// A Linux process: the system calls that a driver with UIO, u-dma-buf, dma-heap or /dev/mem makes, answered by the core.
//
// There is no kernel underneath: memory is one flat space, and what the process maps from a device is found at the
// device's own address. Files are those that Python names (the device tree of this SoC, so to say). What a call costs
// the CPU is the board's profile. Threads share one CPU; the Cpu switches their registers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "axl_core.h"

namespace axl {

class Process;

// Answers of calls that failed: errno.h, negative.
enum Errno : int64_t {
    NOT_THERE = -2, INTERRUPTED = -4, BAD_FILE = -9, AGAIN = -11, NO_MEMORY = -12, BAD_ADDRESS = -14, EXISTS = -17, INVALID = -22, TOO_MANY = -24, NO_TERMINAL = -25,
    ILLEGAL_SEEK = -29, NO_SUCH_CALL = -38, TIMED_OUT = -110
};

// What a descriptor is of; who opened it twice has one Node with two descriptors.
class Node {
  public:
    struct Open {
        std::shared_ptr<Node> node;
        bool sync = false, blocks = true;
        uint64_t position = 0; // as the node has it
    };
    static constexpr uint32_t CAN_READ = 0x41, CAN_WRITE = 0x04; // POLLIN and POLLRDNORM, POLLOUT

    explicit Node(std::string name) : name(std::move(name)) {}
    virtual ~Node() = default;
    const std::string name;

    // AGAIN: not yet. Addresses were looked at.
    virtual int64_t read(Process &, Open &, uint8_t *, uint64_t) { return INVALID; }
    virtual int64_t write(Process &, Open &, const char *, uint64_t) { return INVALID; }
    virtual int64_t control(Process &, uint64_t /*request*/, uint64_t /*argument*/) { return NO_TERMINAL; }
    // What mmap shows; false: it shows nothing.
    virtual bool range(uint64_t & /*address*/, uint64_t & /*bytes*/) const { return false; }
    virtual uint32_t events(Process &, const Open &) { return CAN_READ | CAN_WRITE; }
    virtual uint64_t due() const { return ~0ull; } // nanoseconds at which `events` may change by itself
    virtual void interrupt(uint32_t /*lines*/) {}
    virtual std::string why_not() const { return ""; } // there is nothing to read
    virtual bool is_console() const { return false; }
    virtual bool seeks() const { return false; } // its position is a place in it
    virtual uint32_t mode() const { return 0020666; } // S_IFCHR
    virtual uint64_t size() const { return 0; }
};

class Process {
  public:
    struct File {
        std::string path, text;
        uint32_t kind;
        uint64_t address, size;
        uint32_t lines; // of the fabric's interrupts
    };
    // What the process gets from the machine it runs on.
    struct Machine {
        uint8_t *ram;
        uint64_t ram_size;
        std::function<void(uint32_t address, uint32_t bytes, bool cached)> map;
        std::function<void(uint32_t address, uint32_t bytes, bool to_device)> maintain;
        std::function<uint64_t()> nanoseconds;
        std::function<uint32_t()> lines; // of interrupts, as they are when the fabric has come as far as the CPU
        std::function<void(uint32_t address)> thread_pointer;
        std::function<void(const char *text, size_t size)> print;
        std::function<std::shared_ptr<void>()> registers; // a copy of all
    };

    static constexpr uint64_t NEVER = ~0ull;
    static constexpr size_t MOST_OPEN = 1024; // descriptors, and parts of a vector: RLIMIT_NOFILE, UIO_MAXIOV

    struct Thread {
        // A wait: `over` is true when it has ended with a result; after `until` it has ended with `late`.
        struct Wait {
            std::function<bool(int64_t &result)> over;
            uint64_t until = NEVER;
            int64_t late = 0;
            bool restarts = false; // behind a signal's handler
            std::string what;
            explicit operator bool() const { return static_cast<bool>(over); }
        };
        struct Frame { // under a signal's handler
            std::shared_ptr<void> registers;
            uint64_t mask;
            Wait wait;
        };
        uint32_t id = 1, called = 0; // where the program made the call in which it waits
        std::shared_ptr<void> registers; // while another one runs
        Wait wait;
        bool returns = false; // from a wait
        int64_t result = 0;
        uint64_t futex = 0, on_exit = 0; // addresses
        uint64_t mask = 0, pending = 0;  // signals, a bit each from that of number 1 on
        std::vector<Frame> frames;
        bool restores = false; // its registers are those from before a handler
        // What a thread that was started begins with.
        bool begins = false;
        uint32_t stack = 0, local = 0;
    };
    struct Signal { // to be handled
        int number = 0;
        uint64_t handler = 0;
        bool has_info = false;
    };

    using Call = int64_t (Process::*)(const uint64_t *arguments);
    struct Number {
        uint32_t number;
        Call call;
    };
    // Linux on one architecture.
    struct Abi {
        uint32_t word_bytes;
        uint64_t hwcap;        // AT_HWCAP
        uint32_t msync;        // its number
        uint32_t sigreturn[2]; // instructions that return from a signal's handler
        const Number *begin, *end;
    };

    std::vector<File> files; // stay for all jobs
    bool on = false;         // the job is a process
    int exit_code = 0;
    bool ended = false;
    bool switches = false; // the engine is to stop: another thread, or a signal's handler, goes on
    uint32_t lines = 0;    // of interrupts, as the nodes have seen them

    void reset();
    // `brk`: end of the program's memory. Anonymous maps and the stack are below `top`; returns the stack pointer.
    uint32_t begin(const Machine &machine, const Abi &abi, const axl_process_t &program);
    // 0, or why the call is none that is known here; `result` goes to the first register, unless the caller waits.
    std::string call(uint32_t number, const uint64_t *arguments, uint32_t called, int64_t &result);

    // ---- threads, for the Cpu

    Thread &current() { return *threads[running]; }
    void interrupt(uint32_t lines); // they are so now
    // Another thread, or a handler, is to go on, though the present one could.
    bool preempts();
    // The next one that can go on, now the present one; nullptr: all wait.
    Thread *next();
    uint64_t due() const; // nanoseconds at which a wait ends by itself
    std::string waits(const std::function<std::string(uint32_t)> &place) const; // all of them, in words
    Signal take_signal(Thread &thread);
    uint32_t begin_handler(Thread &thread, const Signal &signal, uint32_t stack, uint32_t &information, uint32_t &context);
    uint32_t returns_at() const { return trampoline; }
    std::string killed; // by a signal that nobody handles: which

    // ---- for nodes

    bool in_ram(uint64_t address, uint64_t bytes) const { return address <= machine.ram_size && bytes <= machine.ram_size - address; }
    uint8_t *at_ram(uint64_t address) { return machine.ram + address; }
    uint64_t now() const { return machine.nanoseconds(); }
    int64_t new_descriptor(std::shared_ptr<Node> node, bool blocks, bool sync = false, uint64_t position = 0);
    uint64_t take_pages(uint64_t bytes); // 0: none are left
    // They are a buffer: of `node` as long as it has descriptors or is mapped.
    void are_of(uint64_t place, const std::shared_ptr<Node> &node);
    std::map<std::string, std::shared_ptr<Node>> named; // of `files`
    Machine machine{};
    Abi abi{};

    // ---- the calls, as the manual pages have them

#define AXL_CALL(name) int64_t name(const uint64_t *a);
    AXL_CALL(exit) AXL_CALL(exit_group) AXL_CALL(read) AXL_CALL(write) AXL_CALL(readv) AXL_CALL(writev) AXL_CALL(pread) AXL_CALL(pwrite)
    AXL_CALL(open_at) AXL_CALL(open_path) AXL_CALL(close) AXL_CALL(seek) AXL_CALL(seek_wide) AXL_CALL(map_bytes) AXL_CALL(map_pages) AXL_CALL(unmap)
    AXL_CALL(brk) AXL_CALL(ioctl) AXL_CALL(fcntl) AXL_CALL(stat_of) AXL_CALL(stat_at) AXL_CALL(stat_path) AXL_CALL(access) AXL_CALL(access_at) AXL_CALL(entries)
    AXL_CALL(poll) AXL_CALL(ppoll_narrow) AXL_CALL(ppoll) AXL_CALL(select) AXL_CALL(pselect_narrow) AXL_CALL(pselect)
    AXL_CALL(clock_narrow) AXL_CALL(clock) AXL_CALL(time_of_day) AXL_CALL(sleep) AXL_CALL(sleep_clock_narrow) AXL_CALL(sleep_clock)
    AXL_CALL(timer_set) AXL_CALL(timerfd) AXL_CALL(timerfd_set_narrow) AXL_CALL(timerfd_set) AXL_CALL(eventfd)
    AXL_CALL(epoll_create) AXL_CALL(epoll_change) AXL_CALL(epoll_wait)
    AXL_CALL(clone) AXL_CALL(futex_narrow) AXL_CALL(futex) AXL_CALL(affinity) AXL_CALL(yield) AXL_CALL(thread_id) AXL_CALL(set_exit_address)
    AXL_CALL(set_tls) AXL_CALL(sigaction) AXL_CALL(set_mask) AXL_CALL(sigreturn) AXL_CALL(kill) AXL_CALL(tkill) AXL_CALL(tgkill)
    AXL_CALL(pause) AXL_CALL(random) AXL_CALL(uname) AXL_CALL(zero) AXL_CALL(one) AXL_CALL(not_there) AXL_CALL(no_such)
#undef AXL_CALL

  private:
    struct Action {
        uint64_t handler = 0, flags = 0, mask = 0;
    };
    struct Pages { // that are taken
        uint64_t end;
        bool is_buffer = false;
        std::weak_ptr<Node> buffer;
        int maps = 0; // of a buffer
    };
    uint64_t brk_start = 0, brk_now = 0, brk_end = 0, map_top = 0, map_low = 0;
    std::map<uint64_t, Pages> taken; // by their begin
    uint32_t trampoline = 0;
    std::vector<Node::Open> open;
    std::vector<std::unique_ptr<Thread>> threads;
    size_t running = 0;
    uint32_t ids = 1;
    uint64_t slice_end = 0, alarm_at = NEVER, alarm_every = 0;
    Action actions[65];
    std::string refused; // why the present call is not answered

    uint64_t word(uint64_t address) const { return number(address, abi.word_bytes); }
    uint64_t number(uint64_t address, uint32_t bytes) const;
    void put(uint64_t address, uint64_t value, uint32_t bytes);
    std::string text(uint64_t address) const;
    Node::Open *at(uint64_t descriptor);
    int64_t refuse(const std::string &why);

    int64_t open_file(uint64_t path, uint64_t flags);
    int64_t read_into(Node::Open &from, uint64_t buffer, uint64_t bytes);
    int64_t write_from(Node::Open &to, uint64_t buffer, uint64_t bytes);
    int64_t vector(const uint64_t *a, bool writes);
    int64_t seek_to(Node::Open *of, int64_t offset, uint64_t whence);
    int64_t set_timer(const uint64_t *a, uint32_t field_bytes);
    int64_t map(const uint64_t *a, uint64_t offset);
    std::shared_ptr<Node> find(const std::string &path) const;
    int64_t stat_to(const Node *node, uint64_t to);
    int64_t poll_until(uint64_t set, uint64_t count, uint64_t until);
    int64_t select_until(const uint64_t *a, uint64_t until);

    // In nanoseconds; what is longer than 272 years is that.
    static uint64_t seconds(uint64_t count) { return std::min<uint64_t>(count, 1ull << 33) * 1000000000; }
    uint64_t nanoseconds_at(uint64_t address, uint32_t field_bytes) const; // a timespec
    uint64_t after(uint64_t address, uint32_t field_bytes) const;          // NEVER where it is NULL
    int64_t wait(Thread::Wait wait);
    int64_t sleep_until(uint64_t until);
    int64_t futex_until(const uint64_t *a, uint32_t field_bytes);
    uint64_t wake(uint64_t address, uint64_t most);
    void put_time(uint64_t to, uint32_t bytes);
    int64_t raise(Thread &thread, uint64_t signal);
    Thread *thread_of(uint64_t id);
    void look(); // at what time has brought
    bool has_signal(const Thread &thread) const { return (thread.pending & ~thread.mask) != 0; }
};

} // namespace axl
