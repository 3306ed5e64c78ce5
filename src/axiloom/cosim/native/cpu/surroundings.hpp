// What is around the CPU of a board, for programs that other tools built: interrupts and time come from it.
#pragma once

#include <cstdint>

namespace axl {

class Surroundings {
  public:
    static constexpr uint64_t NEVER = ~0ull;
    virtual ~Surroundings() = default;

    virtual void lines(uint32_t fabric) = 0;  // the interrupts of the fabric, a bit each
    virtual void run() = 0;                   // all that happens by itself until now
    virtual uint64_t next() const = 0;        // the CPU cycle at which the next thing does
    virtual bool interrupts() const = 0;      // the CPU's interrupt line
    virtual bool wants_input() const = 0;     // the program waits for what a person types
    virtual uint64_t changes() const = 0;     // counts what the CPU changed or saw change in it
    // A register was accessed; `counts_time`: see Peripheral::clock.
    virtual void accesses(bool counts_time) = 0;
};

} // namespace axl
