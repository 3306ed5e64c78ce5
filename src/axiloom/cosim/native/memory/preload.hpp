// Lines that PLD has asked for and that are still on their way (Cortex-A9 TRM, 7.6.1: a unit of its own executes all
// PLDs, none is dropped; 7.1: four outstanding misses).
//
// Pessimistic where the manuals are silent: lines come one after the other, with a gap that bounds the rate; a PLD
// for which there is no slot stops the CPU; a load or store that misses waits for all that is on its way.
#pragma once

#include <algorithm>
#include <cstdint>

namespace axl {

class Preloads {
  public:
    static constexpr uint32_t MOST = 16; // slots that a profile may ask for

    void reset() { first = count = 0; }
    bool any() const { return count != 0; }

    // Cycles until a slot is free.
    uint64_t slot(uint64_t now, uint32_t slots) {
        arrived(now);
        return count < slots ? 0 : lines[(first + count - slots) % MOST].at - now;
    }

    // A line that takes `latency` from `now` on, and comes `gap` after the one before at the earliest.
    void add(uint32_t line, uint64_t now, uint64_t latency, uint64_t gap) {
        arrived(now);
        uint64_t at = now + latency;
        if (count)
            at = std::max(at, lines[(first + count - 1) % MOST].at + gap);
        lines[(first + count++) % MOST] = {line, at};
    }

    // Cycles until `line` is there; 0 if it is not on its way.
    uint64_t wait(uint32_t line, uint64_t now) {
        arrived(now);
        for (uint32_t i = 0; i < count; i++)
            if (lines[(first + i) % MOST].line == line)
                return lines[(first + i) % MOST].at - now;
        return 0;
    }

    // Cycles until nothing is on its way.
    uint64_t wait_for_all(uint64_t now) {
        arrived(now);
        return count ? lines[(first + count - 1) % MOST].at - now : 0;
    }

  private:
    struct Line {
        uint32_t line;
        uint64_t at;
    };
    Line lines[MOST];
    uint32_t first = 0, count = 0;

    void arrived(uint64_t now) {
        while (count && lines[first].at <= now) {
            first = (first + 1) % MOST;
            count--;
        }
    }
};

} // namespace axl
