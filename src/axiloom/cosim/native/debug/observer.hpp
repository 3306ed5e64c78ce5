// Who looks on while a program runs, and may hold it up: a debugger. The CPU and the core tell it what happens; where
// nobody looks on there is none, and nothing is asked.
#pragma once

#include <cstddef>
#include <cstdint>

namespace axl {

class Observer {
  public:
    virtual ~Observer() = default;

    // ---- the CPU, on its own stack

    virtual void begins() = 0;    // before the first instruction
    virtual void starts() = 0;    // the engine is about to run
    virtual bool stopped() = 0;   // it has stopped for starts() alone
    virtual void border() = 0;    // a block begins
    virtual void sleeps() = 0;    // WFI
    virtual void looks() = 0;     // often, wherever it is
    virtual void accesses(bool write, uint32_t address, uint32_t size) = 0; // is about to; in a watched section
    virtual void ended() = 0;

    // ---- the fabric

    virtual void transfers(const char *who, bool write, uint32_t address) = 0; // a word, from or to memory; is about to
    virtual void transferred() = 0;
    virtual void word(size_t accelerator, bool in, uint32_t word) = 0;         // of a stream; the monitor has seen it
    virtual void cycle(uint64_t now) = 0; // begins; in a simulation that shows its state
    virtual void activity(size_t accelerator, uint64_t now, uint32_t bits) = 0; // AXL_BIT_*
};

} // namespace axl
