// Keeps the rules that the ports of the SoC have broken: what the watching modules of rtl/axl_watch.v report, and what
// is looked at here burst by burst. The rules: IHI 0022 (AXI4), IHI 0051 (AXI4-Stream), PG021 (the DMA's streams).
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "axl_core.h"

namespace axl {

struct Referee {
    static constexpr size_t LIMIT = 64;
    static constexpr uint32_t PAGE = 4096, INCR = 1, WRAP = 2, RESERVED = 3;
    std::vector<axl_breach_t> list;
    std::vector<axl_access_t> accesses; // of a user's registers, by address and kind
    std::vector<axl_wait_t> waits;      // register and bits that say that the device is done
    uint64_t answers_due[2] = {0, 0};   // of the user's master: bursts under way, read and written

    void clear() {
        list.clear();
        accesses.clear();
        dropped.clear();
        answers_due[0] = answers_due[1] = 0;
    }

    void add(uint32_t port, uint32_t channel, uint32_t rule, uint64_t cycle, uint32_t a, uint32_t b) {
        for (axl_breach_t &known : list)
            if (known.port == port && known.channel == channel && known.rule == rule) {
                known.count++;
                return;
            }
        if (list.size() < LIMIT)
            list.push_back({port, channel, rule, a, b, 0, 1, cycle});
    }

    void burst(uint32_t port, bool writes, uint32_t address, uint32_t beats, uint32_t size, uint32_t kind, uint64_t cycle) {
        const uint32_t channel = writes ? AXL_CHANNEL_AW : AXL_CHANNEL_AR;
        if (port == AXL_PORT_MASTER)
            answers_due[writes]++;
        const uint32_t aligned = address & ~((1u << size) - 1);
        const bool short_kind = kind == WRAP ? beats == 2 || beats == 4 || beats == 8 || beats == 16 : beats <= 16;
        if (kind == INCR && (aligned % PAGE) + (beats << size) > PAGE)
            add(port, channel, AXL_RULE_4K, cycle, address, beats << size);
        if (kind == RESERVED)
            add(port, channel, AXL_RULE_BURST, cycle, kind, beats);
        else if (kind != INCR && !short_kind)
            add(port, channel, AXL_RULE_LENGTH, cycle, kind, beats);
        else if (kind == WRAP && aligned != address)
            add(port, channel, AXL_RULE_WRAP, cycle, address, 1u << size);
    }

    void answered(bool writes) {
        if (answers_due[writes])
            answers_due[writes]--;
    }

    void access(bool writes, uint32_t address, uint32_t data, uint64_t cycle) {
        for (const axl_wait_t &wait : waits)
            if (!writes && wait.offset == address && (data & wait.mask) && answers_due[1])
                add(AXL_PORT_MASTER, AXL_CHANNEL_B, AXL_RULE_DONE_EARLY, cycle, address, static_cast<uint32_t>(answers_due[1]));
        for (axl_access_t &known : accesses)
            if (known.address == address && (known.writes != 0) == writes) {
                known.count++;
                known.last = data;
                return;
            }
        if (accesses.size() < LIMIT)
            accesses.push_back({writes, address, data, 0, 1});
    }

    // A word of an operand that the user's master writes, with the strobes of its bytes.
    void strobes(uint32_t address, uint32_t strb, uint64_t cycle) {
        if (strb == 15 && dropped.empty())
            return;
        auto known = dropped.find(address);
        if (known == dropped.end()) {
            if (strb != 15)
                dropped[address] = {15 & ~strb, cycle};
        } else if (!(known->second.bytes &= ~strb))
            dropped.erase(known);
    }

    // The run has come to its end: bytes of operands that no beat has written though one went over them.
    void finish() {
        if (dropped.empty())
            return;
        auto first = std::min_element(dropped.begin(), dropped.end(),
                                      [](const auto &a, const auto &b) { return a.second.cycle < b.second.cycle; });
        axl_breach_t breach{AXL_PORT_MASTER, AXL_CHANNEL_W, AXL_RULE_STROBES, first->first, 15 & ~first->second.bytes, 0, 0, first->second.cycle};
        for (const auto &[address, word] : dropped)
            breach.count += static_cast<uint64_t>(__builtin_popcount(word.bytes));
        list.push_back(breach);
        dropped.clear();
    }

  private:
    struct Dropped {
        uint32_t bytes;
        uint64_t cycle;
    };
    std::unordered_map<uint32_t, Dropped> dropped; // by the word's address
};

} // namespace axl
