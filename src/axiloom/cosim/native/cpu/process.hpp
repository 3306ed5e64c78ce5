// A Linux process: the few system calls that a driver with UIO and u-dma-buf makes, answered by the core.
//
// There is no kernel underneath: memory is one flat space, and what the process maps from a device is found at the
// device's own address. Files are those that Python names (the device tree of this SoC, so to say). What a call costs
// the CPU is the board's profile.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "axl_core.h"

namespace axl {

class Process {
  public:
    struct File {
        std::string path, text;
        uint32_t kind;
        uint64_t address, size;
    };
    // What the process gets from the machine it runs on.
    struct Machine {
        uint8_t *ram;
        uint64_t ram_size;
        std::function<void(uint32_t address, uint32_t bytes, bool cached)> map;
        std::function<void(uint32_t address, uint32_t bytes, bool to_device)> maintain;
        std::function<uint64_t()> nanoseconds;
        std::function<void(uint64_t nanoseconds)> sleep;
        std::function<void(uint32_t address)> thread_pointer;
        std::function<void(const char *text, size_t size)> print;
    };

    // Calls that are answered.
    enum Call {
        EXIT, READ, WRITE, OPEN, OPENAT, CLOSE, SEEK, SEEK_WIDE, MAP, MAP_PAGES, UNMAP, PROTECT, BREAK, CONTROL, WRITE_VECTOR,
        WRITE_AT, CLOCK, CLOCK_NARROW, SLEEP, SLEEP_CLOCK, NOTHING, ONE, SET_TLS
    };
    struct Number {
        uint32_t number;
        Call call;
    };
    // Linux on one architecture.
    struct Abi {
        uint32_t word_bytes;
        uint64_t hwcap; // AT_HWCAP
        uint32_t msync; // its number
        const Number *begin, *end;
    };

    std::vector<File> files; // stay for all jobs
    bool on = false;         // the job is a process
    int exit_code = 0;
    bool ended = false;

    void reset();
    // `brk`: end of the program's memory. Anonymous maps and the stack are below `top`; returns the stack pointer.
    uint32_t begin(const Machine &machine, const Abi &abi, const axl_process_t &program);
    // 0, or why the call is none that is known here; `result` goes to the first register.
    std::string call(uint32_t number, const uint64_t *arguments, int64_t &result);

  private:
    struct Open {
        int file = -1; // index, CONSOLE; -1: closed
        bool sync = false;
        uint64_t position = 0;
    };
    static constexpr int CONSOLE = -2;

    Machine machine{};
    Abi abi{};
    uint64_t brk_start = 0, brk_now = 0, brk_end = 0, map_next = 0, map_low = 0;
    std::vector<Open> open;

    uint64_t word(uint64_t address) const;
    void put(uint64_t address, uint64_t value, uint32_t bytes);
    bool in_ram(uint64_t address, uint64_t bytes) const { return address <= machine.ram_size && bytes <= machine.ram_size - address; }
    std::string text(uint64_t address) const;
    Open *at(uint64_t descriptor);
    int64_t open_file(uint64_t path, uint64_t flags);
    int64_t read(uint64_t descriptor, uint64_t buffer, uint64_t bytes);
    int64_t write(uint64_t descriptor, uint64_t buffer, uint64_t bytes);
    int64_t write_vector(uint64_t descriptor, uint64_t vector, uint64_t count);
    std::string map(const uint64_t *arguments, uint64_t offset, int64_t &result);
    void clock(uint64_t to, uint32_t bytes);
};

} // namespace axl
