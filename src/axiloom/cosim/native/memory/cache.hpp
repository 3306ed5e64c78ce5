// One set-associative cache: tags and states of lines. Their data is in Contents, where it is not what RAM holds.
#pragma once

#include <cstdint>
#include <vector>

#include "memory/stale.hpp"

namespace axl {

constexpr uint32_t NO_LINE = 0xFFFFFFFFu;
constexpr uint32_t NOT_FOUND = 0xFFFFFFFFu;

enum LineState : uint8_t {
    DIRTY = 1, // is written to the level below when it leaves
    STALE = 2, // the DMA has written bytes of the line's memory since then
    APART = 4, // the level below holds other data: see Contents
    LOST = 8   // has bytes whose stores were thrown away
};

struct Cache {
    struct Victim {
        uint32_t line = NO_LINE; // NO_LINE: the way was free
        uint8_t state = 0;
        Place writer;
        uint32_t index = 0;
    };

    uint32_t set_mask = 0, ways = 0;
    std::vector<uint32_t> tags;   // line number, or NO_LINE
    std::vector<uint8_t> states;
    std::vector<Place> writers;    // what made the line dirty, for reports
    std::vector<uint8_t> recent;   // way of the last hit of each set: looked at first
    std::vector<uint32_t> stamps;  // LRU only: time of the last use
    uint32_t time = 0, lfsr = 1;
    bool lru = false;

    void configure(uint32_t size, uint32_t ways_, bool lru_, uint32_t line_bytes) {
        uint32_t sets = size / line_bytes / ways_;
        set_mask = sets - 1;
        ways = ways_;
        lru = lru_;
        reset();
    }

    void reset() {
        uint32_t sets = set_mask + 1;
        tags.assign(sets * ways, NO_LINE);
        states.assign(sets * ways, 0);
        writers.assign(sets * ways, Place());
        recent.assign(sets, 0);
        stamps.assign(lru ? sets * ways : 0, 0);
        time = 0;
        lfsr = 0xACE1u;
    }

    // Where the line would be if its set was last hit by it: the common case, small enough to be inlined.
    uint32_t guess(uint32_t line) const {
        uint32_t set = line & set_mask;
        return set * ways + recent[set];
    }

    uint32_t find(uint32_t line) {
        uint32_t set = line & set_mask;
        uint32_t base = set * ways;
        if (tags[base + recent[set]] == line)
            return base + recent[set];
        for (uint32_t way = 0; way < ways; way++)
            if (tags[base + way] == line) {
                recent[set] = static_cast<uint8_t>(way);
                return base + way;
            }
        return NOT_FOUND;
    }

    void touch(uint32_t index) {
        if (lru)
            stamps[index] = ++time;
    }

    // Put a line that is not there into its set; returns its index and what had to leave.
    uint32_t fill(uint32_t line, Victim &victim) {
        uint32_t set = line & set_mask;
        uint32_t base = set * ways;
        uint32_t way = choose(base);
        uint32_t index = base + way;
        victim.line = tags[index];
        victim.state = states[index];
        victim.writer = writers[index];
        victim.index = index;
        tags[index] = line;
        states[index] = 0;
        recent[set] = static_cast<uint8_t>(way);
        touch(index);
        return index;
    }

    void drop(uint32_t index) {
        tags[index] = NO_LINE;
        states[index] = 0;
    }

  private:
    // A free way first, as the A9 and the PL310 do; else pseudo-random (a 16-bit LFSR, so that runs repeat) or LRU.
    uint32_t choose(uint32_t base) {
        for (uint32_t way = 0; way < ways; way++)
            if (tags[base + way] == NO_LINE)
                return way;
        if (!lru) {
            lfsr = (lfsr >> 1) ^ (-(lfsr & 1u) & 0xB400u);
            return lfsr % ways;
        }
        uint32_t oldest = 0;
        for (uint32_t way = 1; way < ways; way++)
            if (stamps[base + way] < stamps[base + oldest])
                oldest = way;
        return oldest;
    }
};

} // namespace axl
