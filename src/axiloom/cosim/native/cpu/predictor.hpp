// Branch prediction of a Cortex-A9, in outline: a global history table for directions (gshare), a return stack,
// and the last target of every indirect branch.
#pragma once

#include <cstdint>
#include <vector>

namespace axl {

enum class Branch : uint8_t { NONE, DIRECT, CONDITIONAL, CALL, INDIRECT_CALL, RETURN, INDIRECT };

struct Predictor {
    static constexpr uint32_t HISTORY_BITS = 8; // A9: global history of 8 branches
    static constexpr uint32_t RETURNS = 8;      // A9: return stack of 8 entries
    static constexpr uint32_t TARGETS = 512;

    std::vector<uint8_t> counters;
    uint32_t mask = 0, history = 0;
    uint32_t returns[RETURNS] = {}, top = 0;
    uint32_t targets[TARGETS] = {};

    void configure(uint32_t bits) {
        mask = (1u << bits) - 1;
        reset();
    }

    void reset() {
        counters.assign(mask + 1, 1); // weakly not taken
        history = top = 0;
        for (uint32_t &entry : returns)
            entry = 0;
        for (uint32_t &entry : targets)
            entry = 0;
    }

    // The branch at pc, followed in memory by `next`, went to `target`. True if it was predicted.
    bool predict(Branch kind, bool conditional, uint32_t pc, uint32_t next, uint32_t target) {
        bool right = true;
        bool taken = target != next;
        if (conditional)
            right = direction(pc, taken);
        if (!taken)
            return right;
        switch (kind) {
        case Branch::CALL:
            push(next);
            break;
        case Branch::INDIRECT_CALL:
            push(next);
            right &= indirect(pc, target);
            break;
        case Branch::INDIRECT:
            right &= indirect(pc, target);
            break;
        case Branch::RETURN:
            top = (top - 1) % RETURNS;
            right &= returns[top] == target;
            break;
        default:
            break;
        }
        return right;
    }

  private:
    bool direction(uint32_t pc, bool taken) {
        uint8_t &counter = counters[((pc >> 2) ^ history) & mask];
        bool right = (counter >= 2) == taken;
        if (taken && counter < 3)
            counter++;
        if (!taken && counter > 0)
            counter--;
        history = (history << 1 | (taken ? 1u : 0u)) & ((1u << HISTORY_BITS) - 1);
        return right;
    }

    void push(uint32_t address) {
        returns[top] = address;
        top = (top + 1) % RETURNS;
    }

    bool indirect(uint32_t pc, uint32_t target) {
        uint32_t &last = targets[(pc >> 2) % TARGETS];
        bool right = last == target;
        last = target;
        return right;
    }
};

} // namespace axl
