// L1I, L1D and L2 of the CPU, what their misses cost, and the watch over DMA and caches.
//
// Data lives in RAM alone; the caches are tags. So a forgotten flush or invalidate does not corrupt the
// simulated result: it is reported, with the code that caused it, which says more than a wrong number.
#pragma once

#include <vector>

#include "memory/cache.hpp"
#include "memory/preload.hpp"
#include "memory/stale.hpp"

namespace axl {

constexpr uint32_t PAGE_SHIFT = 12; // of the operating system's pages

struct Memory {
    Cache l1i, l1d, l2;
    Preloads preloads;
    StaleReports stale;
    axl_config config{};
    uint32_t line_shift = 5, ocm_lines = 0;
    bool l2_on = false;
    uint64_t loads = 0, load_misses = 0, stores = 0, store_misses = 0;
    uint64_t fetch_misses = 0, l2_references = 0, l2_misses = 0, writebacks = 0;
    uint64_t uncached_loads = 0, uncached_stores = 0, maintenance = 0, page_faults = 0;
    std::vector<uint64_t> touched; // a bit a page; empty without an operating system
    uint64_t penalty = 0;   // CPU cycles since the start of the job
    uint32_t pc = 0;        // block that runs now: the culprit of reports
    uint64_t cycle = 0;     // fabric cycle of the last synchronisation, for reports

    void (*on_stale)() = nullptr; // called at each event; nullptr: they are only counted

    void configure(const axl_config &c) {
        config = c;
        bool lru = c.replacement == AXL_REPLACE_LRU;
        l1i.configure(c.l1i_size, c.l1i_ways, lru, c.line_bytes);
        l1d.configure(c.l1d_size, c.l1d_ways, lru, c.line_bytes);
        if (c.l2_size)
            l2.configure(c.l2_size, c.l2_ways, lru, c.line_bytes);
        else
            l2.configure(c.line_bytes, 1, lru, c.line_bytes); // never on: so small that it costs nothing
        line_shift = static_cast<uint32_t>(__builtin_ctz(c.line_bytes));
        ocm_lines = c.ocm_bytes >> line_shift;
    }

    // Memory on the chip, from address 0, lies beside L2.
    bool in_ocm(uint32_t line) const { return line < ocm_lines; }

    // Without a second level it stays off.
    void turn_l2(bool on) { l2_on = on && config.l2_size; }

    // All caches are empty; what was dirty is in memory, and no time has passed.
    void empty() {
        l1i.reset();
        l1d.reset();
        l2.reset();
        preloads.reset();
    }

    void reset() {
        empty();
        stale.reset();
        l2_on = false;
        loads = load_misses = stores = store_misses = 0;
        fetch_misses = l2_references = l2_misses = writebacks = 0;
        uncached_loads = uncached_stores = maintenance = penalty = cycle = page_faults = 0;
        touched.assign(config.has_os ? 1u << (32 - PAGE_SHIFT - 6) : 0, 0);
        pc = 0;
    }

    // ---- CPU ----

    void load(uint32_t line) {
        loads++;
        uint32_t index = l1d.guess(line);
        if (__builtin_expect(l1d.tags[index] != line, 0))
            index = search(line, load_misses);
        l1d.touch(index);
        if (__builtin_expect(l1d.states[index] & STALE, 0))
            report(AXL_STALE_MISSING_INVALIDATE, line, pc);
    }

    void store(uint32_t line) {
        stores++;
        uint32_t index = l1d.guess(line);
        if (__builtin_expect(l1d.tags[index] != line, 0))
            index = search(line, store_misses);
        l1d.touch(index);
        uint8_t &state = l1d.states[index];
        if (!(state & DIRTY)) {
            state |= DIRTY;
            l1d.writers[index] = pc;
        }
    }

    // PLD at time `now`. It counts as a load, and as a miss where it fetches the line.
    void preload(uint32_t line, uint64_t now) {
        if (!touched.empty() && !is_touched(line))
            return; // its page is not mapped yet: PLD does not fault
        loads++;
        if (l1d.find(line) != NOT_FOUND)
            return;
        const uint64_t wait = preloads.slot(now, config.preloads), misses = l2_misses, before = penalty;
        load_misses++;
        refill(line);
        const uint64_t latency = penalty - before;
        penalty = before + wait;
        preloads.add(line, now + wait, latency, l2_misses == misses ? config.line_gap_cycles : config.ddr_gap_cycles);
    }

    // Before a load or store at time `now` while preloads.any().
    void wait_for_preloads(uint32_t line, uint64_t now) {
        penalty += l1d.find(line) == NOT_FOUND ? preloads.wait_for_all(now) : preloads.wait(line, now);
    }

    void uncached_load() {
        uncached_loads++;
        penalty += config.uncached_read_cycles;
    }

    void uncached_store() {
        uncached_stores++;
        penalty += config.uncached_write_cycles;
    }

    void fetch(uint32_t line) {
        uint32_t index = l1i.guess(line);
        if (__builtin_expect(l1i.tags[index] != line, 0))
            index = search_instruction(line);
        l1i.touch(index);
    }

    void fetch_uncached() { penalty += config.uncached_read_cycles; }

    // ---- cache maintenance by the guest ----

    enum Operation : uint32_t { CLEAN = 1, INVALIDATE = 2 };

    void l1_line(uint32_t line, uint32_t operation) {
        maintenance++;
        penalty += config.maintenance_cycles;
        uint32_t index = l1d.find(line);
        if (index != NOT_FOUND)
            l1_maintain(index, operation);
    }

    // `value` of a set/way operation: way in the top bits, set above the line offset, level in bits 3:1. `levels` are
    // maintained so.
    void set_way(uint32_t value, uint32_t operation, uint32_t levels) {
        maintenance++;
        const uint32_t level = (value >> 1) & 7;
        if (level >= levels)
            return;
        const Cache &cache = level ? l2 : l1d;
        uint32_t set = (value >> line_shift) & cache.set_mask;
        uint32_t way = cache.ways > 1 ? value >> (32 - __builtin_ctz(cache.ways)) : 0;
        uint32_t index = set * cache.ways + way;
        if (cache.tags[index] != NO_LINE)
            level ? l2_maintain(index, operation) : l1_maintain(index, operation);
    }

    void l2_line(uint32_t line, uint32_t operation) {
        maintenance++;
        uint32_t index = l2.find(line);
        if (index != NOT_FOUND)
            l2_maintain(index, operation);
    }

    void l2_ways(uint32_t ways, uint32_t operation) {
        maintenance++;
        for (uint32_t index = 0; index < l2.tags.size(); index++)
            if ((ways >> (index % l2.ways)) & 1 && l2.tags[index] != NO_LINE)
                l2_maintain(index, operation);
    }

    // ---- DMA ----

    // False if the line is dirty in a cache: the DMA reads what is old.
    bool dma_read(uint32_t line) {
        if (config.dma_coherent) {
            if (config.dma_allocates && l1d.find(line) == NOT_FOUND)
                dma_allocate(line);
            return true;
        }
        for (Cache *cache : {&l1d, &l2}) {
            uint32_t index = cache->find(line);
            if (index == NOT_FOUND || !(cache->states[index] & DIRTY))
                continue;
            report(AXL_STALE_MISSING_FLUSH, line, cache->writers[index]);
            return false;
        }
        return true;
    }

    void dma_write(uint32_t line) {
        if (config.dma_coherent) { // no other copy of the line stays; behind an ACP the data goes to L2
            uint32_t index = l1d.find(line);
            if (index != NOT_FOUND)
                l1d.drop(index);
            if (config.dma_allocates) {
                index = dma_allocate(line);
                if (index != NOT_FOUND)
                    l2.states[index] |= DIRTY;
            } else if (index = l2.find(line); index != NOT_FOUND) {
                l2.drop(index);
            }
            return;
        }
        for (Cache *cache : {&l1d, &l2}) {
            uint32_t index = cache->find(line);
            if (index != NOT_FOUND)
                cache->states[index] |= STALE;
        }
    }

  private:
    // Where the line is in L2 for the DMA, which waits for memory itself: no time of the CPU passes.
    [[gnu::noinline]] uint32_t dma_allocate(uint32_t line) {
        if (!l2_on || in_ocm(line))
            return NOT_FOUND;
        uint32_t index = l2.find(line);
        if (index == NOT_FOUND) {
            Cache::Victim victim;
            index = l2.fill(line, victim);
            writebacks += victim.state & DIRTY;
        }
        l2.touch(index);
        return index;
    }

    // The rare paths stay out of line, so that the common ones need few registers: they run at every access.
    [[gnu::noinline]] void report(uint32_t kind, uint32_t line, uint32_t culprit) {
        stale.add(kind, line << line_shift, culprit, cycle);
        if (on_stale)
            on_stale();
    }

    [[gnu::noinline]] uint32_t search(uint32_t line, uint64_t &misses) {
        uint32_t index = l1d.find(line);
        if (index != NOT_FOUND)
            return index;
        misses++;
        return refill(line);
    }

    [[gnu::noinline]] uint32_t search_instruction(uint32_t line) {
        uint32_t index = l1i.find(line);
        if (index != NOT_FOUND)
            return index;
        fetch_misses++;
        Cache::Victim victim;
        index = l1i.fill(line, victim);
        from_l2(line);
        return index;
    }

    bool is_touched(uint32_t line) const {
        uint32_t page = line >> (PAGE_SHIFT - line_shift);
        return touched[page >> 6] >> (page & 63) & 1;
    }

    // A page that the cache has never held was never accessed: so it is enough to look at misses.
    [[gnu::noinline]] void touch_page(uint32_t line) {
        uint32_t page = line >> (PAGE_SHIFT - line_shift);
        if (is_touched(line))
            return;
        touched[page >> 6] |= 1ull << (page & 63);
        page_faults++;
        penalty += config.page_fault.cycles;
    }

    uint32_t refill(uint32_t line) {
        if (!touched.empty())
            touch_page(line);
        Cache::Victim victim;
        uint32_t index = l1d.fill(line, victim);
        l1d.states[index] = from_l2(line);
        if (victim.state & DIRTY)
            to_l2(victim);
        return index;
    }

    // Bring a line from L2 or DDR; returns the state that L1 inherits.
    uint8_t from_l2(uint32_t line) {
        if (in_ocm(line)) {
            penalty += config.ocm_cycles;
            return 0;
        }
        penalty += config.l2_hit_cycles;
        if (!l2_on) {
            penalty += config.ddr_cycles;
            return 0;
        }
        l2_references++;
        uint32_t index = l2.find(line);
        if (index == NOT_FOUND) {
            l2_misses++;
            penalty += config.ddr_cycles;
            index = l2_allocate(line);
        }
        l2.touch(index);
        return l2.states[index] & STALE;
    }

    // A dirty line leaves L1. L2 takes whole lines without reading memory first.
    void to_l2(const Cache::Victim &victim) {
        if (!l2_on || in_ocm(victim.line)) {
            to_memory(victim);
            return;
        }
        l2_references++;
        uint32_t index = l2.find(victim.line);
        if (index == NOT_FOUND)
            index = l2_allocate(victim.line);
        l2.touch(index);
        l2.states[index] |= victim.state;
        l2.writers[index] = victim.writer;
    }

    uint32_t l2_allocate(uint32_t line) {
        Cache::Victim victim;
        uint32_t index = l2.fill(line, victim);
        if (victim.state & DIRTY)
            to_memory(victim);
        return index;
    }

    void to_memory(const Cache::Victim &victim) {
        writebacks++;
        penalty += config.writeback_cycles;
        if (victim.state & STALE)
            report(AXL_STALE_LOST_WRITE, victim.line, pc);
    }

    void l1_maintain(uint32_t index, uint32_t operation) {
        uint8_t &state = l1d.states[index];
        if (operation & CLEAN && state & DIRTY) {
            Cache::Victim line{l1d.tags[index], state, l1d.writers[index]};
            state &= static_cast<uint8_t>(~DIRTY);
            to_l2(line);
        }
        if (operation & INVALIDATE)
            l1d.drop(index);
    }

    void l2_maintain(uint32_t index, uint32_t operation) {
        uint8_t &state = l2.states[index];
        if (operation & CLEAN && state & DIRTY) {
            to_memory({l2.tags[index], state, l2.writers[index]});
            state &= static_cast<uint8_t>(~DIRTY);
        }
        if (operation & INVALIDATE)
            l2.drop(index);
    }
};

} // namespace axl
