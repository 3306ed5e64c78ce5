// Follows the words of both streams by the specification's opcodes: which opcode was last, which words are missing.
// It knows nothing of what the accelerator computes.
#pragma once

#include <algorithm>
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
        int place; // in the order in which a word that combines opcodes executes them; -1: it stands alone
        std::vector<axl_action_t> actions;
        uint64_t begun = 0; // since the start of the job
    };
    struct Store {
        std::string operand, opcode;
        uint64_t words, left;
    };

    std::vector<Op> ops;
    std::vector<uint32_t> reset_sizes, sizes;
    uint64_t beat_words = 1;
    const Op *op = nullptr; // the opcode whose payload comes in now; nullptr: the next word is an opcode
    size_t action = 0;
    std::deque<Store> stores;
    uint64_t words_in = 0, words_out = 0;
    uint64_t load_left = 0; // words, of what the current action waits for
    bool unknown = false;
    uint32_t unknown_word = 0;
    std::string last; // instruction; empty before the first

    void clear(const uint32_t *values, uint32_t n, uint32_t words_per_beat) {
        ops.clear();
        reset_sizes.assign(values, values + n);
        beat_words = words_per_beat;
        reset();
    }

    void reset() {
        sizes = reset_sizes;
        op = nullptr;
        last.clear();
        parts.clear();
        part = action = 0;
        instruction_words = load_words = load_left = saved = 0;
        filling = ahead = false;
        stores.clear();
        unknown = false;
        unknown_word = 0;
    }

    void begin_job() {
        words_in = words_out = 0;
        for (Op &one : ops)
            one.begun = 0;
    }

    // The next word belongs to a tile.
    bool loads() const {
        return op && !unknown && !filling && action < op->actions.size() && op->actions[action].kind == AXL_ACT_LOAD;
    }

    // As `in`, for a word of a tile that is not its last.
    void in_tile() {
        words_in++;
        instruction_words++;
        load_left--;
    }

    void in(uint32_t word) {
        words_in++;
        if (ops.empty() || unknown)
            return;
        if (!op) {
            begin(word);
            return;
        }
        instruction_words++;
        if (!filling && op->actions[action].kind == AXL_ACT_DIMS)
            set_sizes(op->actions[action], word);
        if (--load_left)
            return;
        action += !filling;
        filling = false;
        proceed();
    }

    // What is wrong with a word of the output: an axl_fault, 0 if all is well.
    struct Wrong {
        uint32_t fault = 0;
        std::string text;
    };
    Wrong out(bool tlast) {
        words_out++;
        if (ops.empty() || unknown)
            return {};
        char text[160];
        if (stores.empty())
            expect_early();
        if (stores.empty()) {
            snprintf(text, sizeof text, "the accelerator sent word %" PRIu64 " of its output, which no opcode asks for",
                     words_out);
            return {AXL_FAULT_PROTOCOL, text};
        }
        Store store = stores.front();
        stores.front().left--;
        if (stores.front().left == 0)
            stores.pop_front();
        if (tlast == (store.left == 1))
            return {};
        snprintf(text, sizeof text, "%s on word %" PRIu64 " of the %" PRIu64 " of %s (opcode %s)",
                 tlast ? "TLAST" : "no TLAST", store.words - store.left + 1, store.words, store.operand.c_str(),
                 store.opcode.c_str());
        return {AXL_FAULT_TLAST, text};
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
    std::vector<const Op *> parts; // of the current instruction
    size_t part = 0;
    uint64_t instruction_words = 0;
    uint64_t load_words = 0;
    bool filling = false; // zeros, up to the next beat
    uint64_t saved = 0;   // results, since they were cleared
    bool ahead = false;   // the opcode whose payload comes in has begun to send its result

    // A device that streams sends the first words of a result while operands still come in.
    void expect_early() {
        if (!op || ahead)
            return;
        for (size_t i = action; i < op->actions.size(); i++) {
            const axl_action_t &later = op->actions[i];
            const uint64_t words = later.kind == AXL_ACT_STORE ? words_of(later) : 0;
            if (!words)
                continue;
            ahead = true;
            stores.push_back({later.operand, op->name, words, words});
            return;
        }
    }

    // The opcodes that a word stands for: one, or all of its bits.
    void decode(uint32_t word) {
        parts.clear();
        for (const Op &one : ops)
            if (!one.has_literal || one.literal == word) {
                parts.assign(1, &one);
                return;
            }
        uint32_t rest = word;
        for (const Op &one : ops)
            if (one.place >= 0 && (one.literal & word)) {
                parts.push_back(&one);
                rest &= ~one.literal;
            }
        if (rest)
            parts.clear();
        std::sort(parts.begin(), parts.end(), [](const Op *a, const Op *b) { return a->place < b->place; });
    }

    void begin(uint32_t word) {
        decode(word);
        if (parts.empty()) {
            unknown = true;
            unknown_word = word;
            return;
        }
        last.clear();
        for (const Op *one : parts)
            last += (last.empty() ? "" : " ") + one->name;
        const bool payload = !parts[0]->has_literal;
        for (const Op *one : parts)
            ops[static_cast<size_t>(one - ops.data())].begun++;
        op = parts[0];
        part = action = 0;
        instruction_words = !payload;
        proceed();
        if (payload && op) {
            words_in--; // the word is no opcode: take it again as what it is
            in(word);
        }
    }

    bool fill_up() {
        load_words = load_left = (beat_words - instruction_words % beat_words) % beat_words;
        return filling = load_left != 0;
    }

    // Go on to the next action that waits for a word; at the end to the next opcode.
    void proceed() {
        for (;; action++) {
            while (action == op->actions.size()) {
                if (part + 1 == parts.size()) {
                    if (!fill_up())
                        op = nullptr;
                    return;
                }
                op = parts[++part];
                action = 0;
            }
            const axl_action_t &now = op->actions[action];
            if (now.kind == AXL_ACT_SAVE)
                saved++;
            else if (now.kind == AXL_ACT_CLEAR)
                saved = 0;
            else if (now.kind == AXL_ACT_STORE) {
                const uint64_t words = words_of(now);
                if (words && !ahead)
                    stores.push_back({now.operand, op->name, words, words});
                ahead = false;
            } else if (now.kind == AXL_ACT_LOAD) {
                if (fill_up())
                    return;
                load_words = load_left = words_of(now);
                if (load_left)
                    return;
            } else {
                load_words = load_left = 1;
                return;
            }
        }
    }

    // Of a tile under the current sizes.
    uint64_t words_of(const axl_action_t &a) const {
        uint64_t lines = 1, elements = a.saved ? saved : 1;
        for (uint32_t i = 0; i < a.n; i++)
            (i < a.lines ? lines : elements) *= sizes[a.dim[i]];
        const uint64_t unit = 32ull * a.unit_words;
        return lines * ((elements * a.element_bits + unit - 1) / unit) * a.unit_words;
    }

    void set_sizes(const axl_action_t &a, uint32_t word) {
        for (uint32_t i = 0; i < a.n; i++) {
            uint32_t mask = a.bits[i] >= 32 ? 0xFFFFFFFFu : (1u << a.bits[i]) - 1;
            sizes[a.dim[i]] = (word >> a.shift[i]) & mask;
        }
    }

    std::string text_in() const {
        char text[256];
        if (unknown) {
            snprintf(text, sizeof text, "word %" PRIu64 " is 0x%08X where an opcode should be (last opcode %s)", words_in,
                     unknown_word, last.empty() ? "none" : last.c_str());
            return text;
        }
        if (last.empty())
            return "no opcode yet";
        if (!op) {
            snprintf(text, sizeof text, "last opcode %s is complete (%" PRIu64 " words in)", last.c_str(), words_in);
            return text;
        }
        const char *what = "that fill up a beat";
        if (!filling) {
            const axl_action_t &now = op->actions[action];
            what = now.kind == AXL_ACT_LOAD ? now.operand : now.kind == AXL_ACT_DIMS ? "the dims" : "its payload";
        }
        snprintf(text, sizeof text,
                 "last opcode %s waits for %" PRIu64 " of the %" PRIu64 " words %s%s (%" PRIu64 " words in)", last.c_str(),
                 load_left, load_words, filling ? "" : "of ", what, words_in);
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
