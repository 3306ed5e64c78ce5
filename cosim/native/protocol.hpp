// Follows the words of both streams by the specification's opcodes: which opcode was last, which words are missing.
// It knows nothing of what the accelerator computes.
#pragma once

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "axl_core.h"

namespace axl {

struct Protocol {
    struct Op {
        std::string name;
        bool has_literal;
        uint32_t literal;
        std::vector<axl_action_t> actions;
    };
    struct Store {
        std::string operand, opcode;
        uint64_t words, left;
    };

    std::vector<Op> ops;
    std::vector<uint32_t> reset_dims, dims;
    const Op *op = nullptr;  // the opcode whose payload comes in now; nullptr: the next word is an opcode
    const Op *last = nullptr;
    size_t action = 0;
    uint64_t load_words = 0, load_left = 0; // of the current action
    std::deque<Store> stores;
    uint64_t words_in = 0, words_out = 0;
    bool unknown = false;
    uint32_t unknown_word = 0;

    void clear(const uint32_t *sizes, uint32_t n) {
        ops.clear();
        reset_dims.assign(sizes, sizes + n);
        reset();
    }

    void reset() {
        dims = reset_dims;
        op = last = nullptr;
        action = 0;
        load_words = load_left = 0;
        stores.clear();
        unknown = false;
        unknown_word = 0;
    }

    void in(uint32_t word) {
        words_in++;
        if (ops.empty() || unknown)
            return;
        if (!op) {
            begin(word);
            return;
        }
        const axl_action_t &now = op->actions[action];
        if (now.kind == AXL_ACT_DIMS)
            set_dims(now, word);
        if (--load_left == 0) {
            action++;
            proceed();
        }
    }

    // Empty if all is well, else what is wrong with this word.
    std::string out(bool tlast) {
        words_out++;
        if (ops.empty() || unknown)
            return "";
        char text[160];
        if (stores.empty()) {
            snprintf(text, sizeof text, "the accelerator sent word %" PRIu64 " of its output, which no opcode asks for",
                     words_out);
            return text;
        }
        Store store = stores.front();
        stores.front().left--;
        if (stores.front().left == 0)
            stores.pop_front();
        if (tlast == (store.left == 1))
            return "";
        snprintf(text, sizeof text, "%s on word %" PRIu64 " of the %" PRIu64 " of %s (opcode %s)",
                 tlast ? "TLAST" : "no TLAST", store.words - store.left + 1, store.words, store.operand.c_str(),
                 store.opcode.c_str());
        return text;
    }

    uint64_t store_left() const {
        uint64_t sum = 0;
        for (const Store &store : stores)
            sum += store.left;
        return sum;
    }

    std::string text() const {
        if (ops.empty())
            return std::to_string(words_in) + " words in, " + std::to_string(words_out) + " words out";
        return "input: " + text_in() + "; output: " + text_out();
    }

  private:
    void begin(uint32_t word) {
        for (const Op &candidate : ops) {
            if (candidate.has_literal && candidate.literal != word)
                continue;
            op = last = &candidate;
            action = 0;
            proceed();
            if (!candidate.has_literal && op) {
                words_in--; // the word is payload, not an opcode: take it again as such
                in(word);
            }
            return;
        }
        unknown = true;
        unknown_word = word;
    }

    // Go on to the next action that waits for a word; at the end to the next opcode.
    void proceed() {
        for (; action < op->actions.size(); action++) {
            const axl_action_t &now = op->actions[action];
            uint64_t words = now.kind == AXL_ACT_LOAD || now.kind == AXL_ACT_STORE ? size(now) : 1;
            if (now.kind == AXL_ACT_STORE) {
                if (words)
                    stores.push_back({now.operand, op->name, words, words});
                continue;
            }
            load_words = load_left = words;
            if (words)
                return;
        }
        op = nullptr;
    }

    uint64_t size(const axl_action_t &a) const {
        uint64_t elements = 1;
        for (uint32_t i = 0; i < a.n; i++)
            elements *= dims[a.dim[i]];
        return elements / a.per_word;
    }

    void set_dims(const axl_action_t &a, uint32_t word) {
        for (uint32_t i = 0; i < a.n; i++) {
            uint32_t mask = a.bits[i] >= 32 ? 0xFFFFFFFFu : (1u << a.bits[i]) - 1;
            dims[a.dim[i]] = (word >> a.shift[i]) & mask;
        }
    }

    std::string text_in() const {
        char text[200];
        if (unknown) {
            snprintf(text, sizeof text, "word %" PRIu64 " is 0x%08X where an opcode should be (last opcode %s)", words_in,
                     unknown_word, last ? last->name.c_str() : "none");
            return text;
        }
        if (!last)
            return "no opcode yet";
        if (!op) {
            snprintf(text, sizeof text, "last opcode %s is complete (%" PRIu64 " words in)", last->name.c_str(), words_in);
            return text;
        }
        const axl_action_t &now = op->actions[action];
        const char *what = now.kind == AXL_ACT_LOAD ? now.operand : now.kind == AXL_ACT_DIMS ? "the dims" : "its payload";
        snprintf(text, sizeof text,
                 "last opcode %s waits for %" PRIu64 " of the %" PRIu64 " words of %s (%" PRIu64 " words in)",
                 op->name.c_str(), load_left, load_words, what, words_in);
        return text;
    }

    std::string text_out() const {
        char text[200];
        if (stores.empty()) {
            snprintf(text, sizeof text, "nothing more is due (%" PRIu64 " words out)", words_out);
            return text;
        }
        const Store &store = stores.front();
        snprintf(text, sizeof text,
                 "%" PRIu64 " of the %" PRIu64 " words of %s (opcode %s) are still to come (%" PRIu64 " words out)",
                 store.left, store.words, store.operand.c_str(), store.opcode.c_str(), words_out);
        return text;
    }
};

} // namespace axl
