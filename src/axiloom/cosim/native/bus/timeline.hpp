// Where the time of a run goes: what CPU and hardware do in every fabric cycle and, if asked, since when.
//
// Several accelerators share the table: what any of them does is done. Words and transfers are kept apart, a lane each.
//
// Three sources, each in order of time: state bits of the RTL when they change, words of both streams, and the
// CPU's own account, which runs ahead of the RTL by at most a quantum. Every fabric cycle is put in one cell of a
// table (what the hardware does, what the CPU does meanwhile); docs/report.md says by which rules.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "axl_core.h"
#include "axl_profile.h"
#include "cpu/block.hpp"
#include "memory/memory.hpp"
#include "bus/protocol.hpp"
#include "bus/tracks.hpp"

namespace axl {

class Timeline {
  public:
    Tracks tracks;

    void configure(const axl_config &config);
    void program(const uint32_t *addresses, uint32_t n, uint32_t entry, uint32_t main);
    void own(const uint8_t *flags) { own_code.assign(flags, flags + starts.size()); } // as many as `program` got
    void windows(uint32_t in, uint32_t in_bytes, uint32_t out, uint32_t out_bytes, uint32_t words_per_beat);
    void accelerators(size_t n);
    void select(size_t number) { lane = &lanes[number]; } // windows and the RTL's calls are about this one
    void reset();                                         // a new job
    const axl_profile_t *finish(uint64_t now, uint64_t cycle);
    void lap(uint64_t cycle);                             // the CPU is at the border of two parts of the run
    const axl_profile_t *until_lap(size_t number) const { return &laps[number].profile; } // after `finish`

    // ---- the CPU; times in CPU cycles ----

    uint32_t function_of(uint32_t address) const; // its index; that behind the last one: none

    // A block of `function` begins, after `instructions` others and the block `before` (nullptr: none).
    void block(uint32_t function, uint64_t cycle, uint64_t instructions, const Block *before) {
        if (__builtin_expect(function != current || instructions >= quiet_at, 0))
            enter(function, cycle, instructions, before);
    }
    // The instruction that last left the program's own code for other code; 0: own code runs, or never did.
    uint32_t left_own() const { return is_own(current) ? 0 : left; }
    void access(bool write, uint32_t address, uint64_t cycle, uint64_t instructions) {
        if (__builtin_expect(address - window_low < window_span || address < ocm_bytes, 0))
            touch(write, address, cycle, instructions);
    }
    void maintenance(uint64_t cycle, uint64_t instructions) { busy_with(AXL_CPU_MAINTENANCE, cycle, instructions); }
    // The CPU waits from `cycle` on; `again`: a read of the register that it read last.
    void read(bool again, uint64_t cycle, uint64_t instructions);
    void write(uint32_t address, uint32_t value, uint64_t cycle);
    void sleep(uint64_t cycle) { wait(AXL_CPU_SLEEP, cycle); }
    void hand_over(uint64_t cycle) { flush(cycle); } // the quantum is over
    void resume(uint64_t cycle, uint64_t stalled, uint64_t instructions);

    // ---- the RTL; times in fabric cycles ----

    void activity(uint64_t now, uint32_t bits);
    void word_in(Protocol &protocol, uint32_t word);
    Protocol::Wrong word_out(Protocol &protocol, bool last); // as Protocol::out
    void advance(uint64_t now);                          // account for all cycles before `now`
    void protocol_reset();

  private:
    static constexpr uint64_t NEVER = ~0ull;
    // Instructions after the last access to a window that still belong to the copy: the loop around short rows.
    static constexpr uint64_t QUIET_INSTRUCTIONS = 100;
    // Instructions between two reads of one register that still are one wait.
    static constexpr uint64_t POLL_INSTRUCTIONS = 200;

    struct Segment {
        uint64_t begin; // CPU cycles
        uint32_t state, function;
    };
    struct Turn {
        uint64_t begin; // fabric cycles
        uint32_t state;
    };
    struct Channel {
        uint32_t address = 0;
        uint64_t begin = 0, words = 0;
    };
    struct Payload {
        uint64_t begin = 0, hash = 0, words = 0;
        uint32_t name = 0;
    };

    struct Lap {
        uint64_t at = 0; // fabric cycles
        axl_profile_t profile{};
        std::vector<axl_function_t> functions;
        std::vector<axl_transfer_t> transfers;
    };

    // What one accelerator does on its streams.
    struct Work {
        uint32_t bits = 0;
        uint64_t bits_at = 0, words_in = 0, words_out = 0; // words since the bits changed
        uint64_t in_since = 0, compute_since = 0;
        bool loading = false;
        std::map<std::string, uint64_t> resident; // operand: hash of the tile that the device was sent last
        Payload load, store;
        uint64_t store_left = 0;
        Channel channels[2];
    };
    struct Lane : Work {
        uint32_t beat_words = 1;
        uint32_t in_low = 0, in_span = 0, out_low = 0, out_span = 0;
        uint64_t beat_in() const { return bits_at + words_in / beat_words; }
        uint64_t beat_out() const { return bits_at + words_out / beat_words; }
    };

    uint64_t cpu_ratio = 1, fabric_ratio = 1;
    uint32_t pages[AXL_ACCELERATORS] = {}, page_bytes = 0;
    axl_profile_t profile{};
    Lane lanes[AXL_ACCELERATORS];
    Lane *lane = lanes;
    size_t n_lanes = 1;

    std::vector<uint32_t> starts; // of functions
    std::vector<axl_function_t> functions;
    uint32_t entry_function = 0, main_function = 0;
    uint32_t window_low = 0, window_span = 0; // around the windows of all
    uint32_t ocm_bytes = 0;
    uint32_t current = 0, state = AXL_CPU_STARTUP;
    bool in_main = false;
    std::vector<uint8_t> own_code; // a flag a function; empty: nobody asks
    uint32_t left = 0;
    bool is_own(uint32_t function) const { return function < own_code.size() && own_code[function]; }
    uint64_t quiet_at = NEVER, last_read = 0, mark = 0;
    std::vector<Segment> pending; // since the CPU waited last: a poll that follows takes them all
    std::deque<Turn> turns;       // the first is what the CPU does at `done`
    axl_interval_t drawn{};       // the interval of the CPU's track that still grows
    uint64_t longest = 0;         // of the functions in it

    uint64_t done = 0;                           // fabric cycles accounted for
    uint64_t loading_cells[AXL_CPU_STATES] = {}; // cycles of the payload under way; of several, the first to end has them
    std::map<std::pair<uint32_t, uint32_t>, axl_transfer_t> sizes;
    std::vector<axl_transfer_t> transfers;
    std::vector<Lap> laps;
    size_t laps_passed = 0; // by the RTL, which is behind the CPU

    uint64_t to_fabric(uint64_t cycle) const { return cycle * fabric_ratio / cpu_ratio; }
    void enter(uint32_t function, uint64_t cycle, uint64_t instructions, const Block *before);
    void touch(bool write, uint32_t address, uint64_t cycle, uint64_t instructions);
    void busy_with(uint32_t what, uint64_t cycle, uint64_t instructions);
    void account(uint64_t cycle);
    void wait(uint32_t what, uint64_t cycle);
    void change(uint32_t to, uint64_t cycle);
    void flush(uint64_t cycle);
    void draw(const Segment &segment, uint64_t end);
    uint32_t hardware() const;
    void end_load(const char *operand);
    void settle(uint32_t row);
    void end_transfer(uint32_t which, uint64_t now);
    void fill_cells(uint64_t now);
    void pass(Lap &one);
};

} // namespace axl
