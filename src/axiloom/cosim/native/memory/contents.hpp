// What L1, L2 and memory hold where they differ, byte by byte.
//
// The engine works on RAM, so RAM is what the CPU sees: L1's data of lines in L1, else L2's, else memory's. A slot of a
// cache that is APART keeps what the level below holds (`below`): of L1 that is L2's data if the line is in L2, else
// memory's; of L2 it is memory's. A slot that is not APART holds what the level below does. `newer` has a bit for each
// byte that the DMA has written to memory since it came into the cache, and that the CPU has not stored to since.
// So nothing is copied but when a clean line becomes dirty, and when the DMA meets a line that is in a cache.
//
// A stale byte is one that differs: a line that only might have been stale is not reported. Limits: no line comes or goes
// by itself (a real CPU also prefetches and evicts for other reasons); memory that stops being cacheable is written back
// at once; an access past the caches to a line that is in one sees the cache; instruction fetches see RAM.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <unordered_map>
#include <vector>

#include "memory/cache.hpp"

namespace axl {

class Contents {
  public:
    struct Lost { // stores that an invalidate has thrown away
        uint64_t bytes = 0;
        Place invalidate, store;
    };
    // A line that has left L1 and has not arrived below.
    struct Leaving {
        uint32_t line;
        uint8_t state;
        uint64_t newer;
        Place writer;
        uint8_t below[64];
    };
    // Bytes of a line that a report is about.
    struct Bytes {
        uint32_t first = 0, last = 0;
        bool any = false;
    };

    bool on = false;
    uint8_t *ram = nullptr;

    Contents(Cache &l1, Cache &l2) : l1(l1), l2(l2) {}

    void reset(bool on_, uint32_t line_shift) {
        on = on_ && ram;
        shift = line_shift;
        lost.clear();
        leaving = nullptr;
        for (Cache *cache : {&l1, &l2}) {
            below(*cache).assign(on ? cache->tags.size() << shift : 0, 0);
            newer(*cache).assign(on ? cache->tags.size() : 0, 0);
        }
    }

    bool any_lost() const { return !lost.empty(); }
    bool has_lost(uint32_t line) const { return any_lost() && lost.count(line); }

    // Bits of the bytes of [address, address + size) that lie in `line`.
    uint64_t bytes_of(uint32_t line, uint32_t address, uint32_t size) const {
        const uint64_t begin = static_cast<uint64_t>(line) << shift, end = begin + bytes();
        const uint64_t from = std::max<uint64_t>(begin, address), to = std::min<uint64_t>(end, static_cast<uint64_t>(address) + size);
        return from < to ? ones(to - from) << (from - begin) : 0;
    }

    // ---- the CPU

    // Bytes are about to be stored to a slot of L1.
    void store(uint32_t index, uint32_t line, uint64_t stored) {
        part(l1, index, view(line));
        uint64_t &mask = l1_newer[index];
        mask &= ~stored;
        if (!mask)
            l1.states[index] &= static_cast<uint8_t>(~STALE);
        if (l1.states[index] & LOST && forget(line, stored))
            l1.states[index] &= static_cast<uint8_t>(~LOST);
    }

    // Of bytes that are read: those of which memory has newer ones, and others.
    Bytes stale(uint32_t line, uint64_t read) { return among(line, differing(view(line), memory(line)) & read & overtaken(line)); }

    // Of bytes that are read: those whose stores were thrown away.
    Bytes thrown(uint32_t line, uint64_t read, Lost &how) {
        const auto at = lost.find(line);
        if (at == lost.end())
            return {};
        how = at->second;
        return among(line, at->second.bytes & read);
    }

    // ---- the caches

    // A slot of L1 was filled.
    void arrived(uint32_t index, uint32_t line) {
        const uint32_t in_l2 = l2.find(line);
        if (in_l2 != NOT_FOUND && l2.states[in_l2] & STALE && !(l1.states[index] & APART)) {
            part(l1, index, view(line));
            l1_newer[index] = l2_newer[in_l2];
            l1.states[index] |= STALE;
        }
        if (has_lost(line))
            l1.states[index] |= LOST;
    }

    // A slot of L1 is given to another line: `out` keeps what was in it until it has arrived.
    void leaves(const Cache::Victim &victim, Leaving &out) {
        out.line = victim.line;
        out.state = victim.state;
        out.writer = victim.writer;
        out.newer = l1_newer[victim.index];
        if (victim.state & APART)
            memcpy(out.below, at(l1_below, victim.index), bytes());
        l1_newer[victim.index] = 0;
        leaving = &out;
    }
    void has_left() { leaving = nullptr; }

    // L1's data of a line goes to its slot in L2; `mask` is L1's.
    void to_l2(uint32_t in_l2, const uint8_t *l1_had_below, uint64_t mask) {
        part(l2, in_l2, l1_had_below);
        l2_newer[in_l2] = mask;
        l2.states[in_l2] = static_cast<uint8_t>((l2.states[in_l2] & ~STALE) | (mask ? STALE : 0));
    }

    // L1's data of a line goes over memory's: what the DMA has written there, and is lost.
    Bytes over_memory(uint32_t line, const uint8_t *memory_had, uint64_t mask) {
        return among(line, differing(view(line), memory_had) & mask);
    }

    // A slot of L1 was cleaned, and its line stays; `to_memory`: not to L2.
    void cleaned(uint32_t index, uint32_t line, bool to_memory) {
        const uint8_t kept = l1.states[index] & LOST;
        if (to_memory || !l1_newer[index]) {
            l1_newer[index] = 0;
            l1.states[index] = kept;
            return;
        }
        memcpy(at(l1_below, index), view(line), bytes());
        l1.states[index] = kept | STALE | APART;
    }

    // A line leaves L1 unwritten: the CPU sees what is below. Stores to it are lost.
    void dropped(uint32_t line, uint8_t state, const uint8_t *had_below, uint64_t mask, Place store, Place by) {
        if (!(state & APART))
            return;
        lose(line, differing(view(line), had_below) & ~mask, store, by);
        memcpy(view(line), had_below, bytes());
    }
    const uint8_t *below_l1(uint32_t index) { return at(l1_below, index); }
    uint64_t newer_l1(uint32_t index) const { return on ? l1_newer[index] : 0; }
    void drop_l1(uint32_t index, Place by) {
        dropped(l1.tags[index], l1.states[index], at(l1_below, index), l1_newer[index], l1.writers[index], by);
        l1_newer[index] = 0;
    }

    // A line leaves L2, to memory if it is dirty and not thrown away. What was lost of the DMA's.
    Bytes leaves_l2(uint32_t index, uint32_t line, uint8_t state, bool thrown_away, Place store, Place by) {
        if (!(state & APART))
            return {};
        const uint8_t *memory_has = at(l2_below, index);
        const uint64_t mask = l2_newer[index];
        l2_newer[index] = 0;
        const Side above = in_l1(line);
        const uint8_t *has = above.state && *above.state & APART ? above.below : view(line);
        if (state & DIRTY && !thrown_away) {
            const Bytes found = among(line, differing(has, memory_has) & mask);
            if (above.state) {
                *above.newer = 0;
                *above.state &= static_cast<uint8_t>(~STALE);
                if (!(*above.state & DIRTY))
                    *above.state &= static_cast<uint8_t>(~APART);
            }
            return found;
        }
        if (above.state) {
            memmove(above.below, memory_has, bytes());
            *above.state |= APART;
            return {};
        }
        lose(line, differing(has, memory_has) & ~mask, store, by);
        memcpy(view(line), memory_has, bytes());
        return {};
    }

    // A slot of L2 was cleaned, and its line stays. What was lost of the DMA's.
    Bytes cleaned_l2(uint32_t index, uint32_t line) {
        const Bytes found = leaves_l2(index, line, l2.states[index], false, {}, {});
        l2.states[index] = 0;
        return found;
    }

    // ---- the DMA

    // The line is the same everywhere.
    bool is_whole(uint32_t line) {
        for (Cache *cache : {&l1, &l2}) {
            const uint32_t index = cache->find(line);
            if (index != NOT_FOUND && cache->states[index] & APART)
                return false;
        }
        return !has_lost(line);
    }

    // What memory holds of a line.
    const uint8_t *memory(uint32_t line) {
        const uint32_t in_l2 = l2.find(line);
        if (in_l2 != NOT_FOUND && l2.states[in_l2] & APART)
            return at(l2_below, in_l2);
        const Side above = in_l1(line);
        return above.state && *above.state & APART ? above.below : view(line);
    }

    // Of a word that the DMA reads: bytes that the CPU has stored, and memory has not. `store`: by what.
    Bytes unwritten(uint32_t line, uint64_t read, Place &store) {
        const uint32_t in_l1 = l1.find(line), in_l2 = l2.find(line);
        const bool first = in_l1 != NOT_FOUND && l1.states[in_l1] & DIRTY;
        store = first ? l1.writers[in_l1] : in_l2 != NOT_FOUND ? l2.writers[in_l2] : Place();
        return among(line, differing(view(line), memory(line)) & read & ~overtaken(line));
    }

    // The DMA writes `written` bytes of a line, which are those of `data` (a line). True: the line is in no cache.
    bool write(uint32_t line, const uint8_t *data, uint64_t written) {
        if (any_lost())
            forget(line, written);
        const uint32_t in_l1 = l1.find(line), in_l2 = l2.find(line);
        if (in_l1 == NOT_FOUND && in_l2 == NOT_FOUND) {
            merge(view(line), data, written);
            return true;
        }
        if (in_l2 != NOT_FOUND) {
            const bool apart = in_l1 != NOT_FOUND && l1.states[in_l1] & APART;
            part(l2, in_l2, apart ? at(l1_below, in_l1) : view(line));
            overtake(l2, in_l2, written);
        }
        if (in_l1 != NOT_FOUND) {
            part(l1, in_l1, view(line));
            overtake(l1, in_l1, written);
        }
        merge(in_l2 != NOT_FOUND ? at(l2_below, in_l2) : at(l1_below, in_l1), data, written);
        return false;
    }

  private:
    // What L1 says of a line, also of one that is leaving it.
    struct Side {
        uint8_t *state = nullptr;
        uint64_t *newer = nullptr;
        uint8_t *below = nullptr;
    };

    Cache &l1, &l2;
    uint32_t shift = 5;
    std::vector<uint8_t> l1_below, l2_below;
    std::vector<uint64_t> l1_newer, l2_newer;
    std::unordered_map<uint32_t, Lost> lost;
    Leaving *leaving = nullptr;

    uint32_t bytes() const { return 1u << shift; }
    // The bytes of which memory has newer ones than the CPU sees.
    uint64_t overtaken(uint32_t line) {
        const uint32_t in_l1 = l1.find(line), in_l2 = l2.find(line);
        return in_l1 != NOT_FOUND ? l1_newer[in_l1] : in_l2 != NOT_FOUND ? l2_newer[in_l2] : 0;
    }
    static uint64_t ones(uint64_t n) { return n >= 64 ? ~0ull : (1ull << n) - 1; }
    uint8_t *view(uint32_t line) { return ram + (static_cast<size_t>(line) << shift); }
    uint8_t *at(std::vector<uint8_t> &of, uint32_t index) { return of.data() + (static_cast<size_t>(index) << shift); }
    std::vector<uint8_t> &below(const Cache &cache) { return &cache == &l1 ? l1_below : l2_below; }
    std::vector<uint64_t> &newer(const Cache &cache) { return &cache == &l1 ? l1_newer : l2_newer; }

    Side in_l1(uint32_t line) {
        if (leaving && leaving->line == line)
            return {&leaving->state, &leaving->newer, leaving->below};
        const uint32_t index = l1.find(line);
        if (index == NOT_FOUND)
            return {};
        return {&l1.states[index], &l1_newer[index], at(l1_below, index)};
    }

    // A slot keeps from now on what is below it: `data`.
    void part(Cache &cache, uint32_t index, const uint8_t *data) {
        if (cache.states[index] & APART)
            return;
        cache.states[index] |= APART;
        newer(cache)[index] = 0;
        memcpy(at(below(cache), index), data, bytes());
    }

    void overtake(Cache &cache, uint32_t index, uint64_t written) {
        newer(cache)[index] |= written;
        cache.states[index] |= STALE;
    }

    void merge(uint8_t *to, const uint8_t *data, uint64_t written) {
        for (uint32_t i = 0; i < bytes(); i++)
            if (written >> i & 1)
                to[i] = data[i];
    }

    uint64_t differing(const uint8_t *one, const uint8_t *other) const {
        uint64_t mask = 0;
        for (uint32_t i = 0; i < bytes(); i++)
            mask |= static_cast<uint64_t>(one[i] != other[i]) << i;
        return mask;
    }

    Bytes among(uint32_t line, uint64_t mask) const {
        if (!mask)
            return {};
        const uint32_t begin = line << shift;
        return {begin + static_cast<uint32_t>(__builtin_ctzll(mask)), begin + 63 - static_cast<uint32_t>(__builtin_clzll(mask)), true};
    }

    void lose(uint32_t line, uint64_t mask, Place store, Place by) {
        if (!mask)
            return;
        Lost &one = lost[line];
        one.bytes |= mask;
        one.store = store;
        one.invalidate = by;
    }

    // True if nothing of the line is lost any more.
    bool forget(uint32_t line, uint64_t mask) {
        const auto found = lost.find(line);
        if (found == lost.end())
            return true;
        found->second.bytes &= ~mask;
        if (found->second.bytes)
            return false;
        lost.erase(found);
        return true;
    }
};

} // namespace axl
