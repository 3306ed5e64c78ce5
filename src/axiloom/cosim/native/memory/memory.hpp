// L1I, L1D and L2 of the CPU, what their misses cost, and the watch over DMA and caches.
//
// The caches are tags, and RAM is what the CPU sees. Where a DMA is not coherent, Contents keeps the data apart: a
// forgotten clean or invalidate gives the bytes that a board gives, and is reported with the code that caused it.
#pragma once

#include <vector>

#include "memory/cache.hpp"
#include "memory/contents.hpp"
#include "memory/preload.hpp"
#include "memory/stale.hpp"

namespace axl {

constexpr uint32_t PAGE_SHIFT = 12; // of the operating system's pages

struct Memory {
    Cache l1i, l1d, l2;
    Preloads preloads;
    StaleReports stale;
    Contents contents{l1d, l2};
    axl_config config{};
    uint32_t line_shift = 5, ocm_lines = 0;
    bool l2_on = false;
    uint64_t loads = 0, load_misses = 0, stores = 0, store_misses = 0;
    uint64_t fetch_misses = 0, l2_references = 0, l2_misses = 0, writebacks = 0;
    uint64_t uncached_loads = 0, uncached_stores = 0, maintenance = 0, page_faults = 0;
    std::vector<uint64_t> touched; // a bit a page; empty without an operating system
    uint64_t penalty = 0;   // CPU cycles since the start of the job
    uint32_t pc = 0;        // block that runs now
    Place sends, receives;  // where the program last started a DMA, or an accelerator that accesses memory itself
    Place (*here)() = nullptr; // where the program is now, exactly
    uint64_t cycle = 0;     // fabric cycle of the last synchronisation, for reports

    bool (*is_guess)(uint32_t address) = nullptr;      // of a word that a DMA reads: it may throw it away
    const bool *in_flight = nullptr;                   // while it is true, misses and first stores go to on_touch
    void (*on_touch)(bool write, uint32_t address, uint32_t size) = nullptr;
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
    void turn_l2(bool on) {
        if (l2_on && !on && contents.on)
            unobserved([this] { each(l2, [this](uint32_t index) { l2_maintain(index, CLEAN | INVALIDATE); }); });
        l2_on = on && config.l2_size;
    }

    // All caches are empty; what was dirty is in memory, and no time has passed.
    void empty() {
        if (contents.on)
            write_back(0, NO_LINE);
        l1i.reset();
        l1d.reset();
        l2.reset();
        preloads.reset();
    }

    // Lines [first, last] are in no cache any more, and no time has passed: memory that the caches may no longer hold.
    void write_back(uint32_t first, uint32_t last) {
        unobserved([&] {
            for (Cache *cache : {&l1d, &l2})
                each(*cache, [&](uint32_t index) {
                    if (cache->tags[index] < first || cache->tags[index] > last)
                        return;
                    cache == &l1d ? l1_maintain(index, CLEAN | INVALIDATE) : l2_maintain(index, CLEAN | INVALIDATE);
                });
        });
    }

    bool has_neighbours = false; // of which one may read and write memory

    void reset() {
        contents.on = false;
        empty();
        stale.reset();
        contents.reset(!config.dma_coherent && (config.mmio_pages || has_neighbours), line_shift);
        sends = receives = Place();
        l2_on = false;
        loads = load_misses = stores = store_misses = 0;
        fetch_misses = l2_references = l2_misses = writebacks = 0;
        uncached_loads = uncached_stores = maintenance = penalty = cycle = page_faults = 0;
        touched.assign(config.has_os ? 1u << (32 - PAGE_SHIFT - 6) : 0, 0);
        pc = 0;
    }

    // ---- CPU ----

    // An access to [address, address + size), as far as it lies in `line`.
    void load(uint32_t line, uint32_t address = 0, uint32_t size = 0) {
        loads++;
        uint32_t index = l1d.guess(line);
        if (__builtin_expect(l1d.tags[index] != line, 0))
            index = search(line, load_misses, false, address, size);
        l1d.touch(index);
        if (__builtin_expect(l1d.states[index] & (STALE | LOST), 0))
            look(index, line, address, size);
    }

    void store(uint32_t line, uint32_t address = 0, uint32_t size = 0) {
        stores++;
        uint32_t index = l1d.guess(line);
        if (__builtin_expect(l1d.tags[index] != line, 0))
            index = search(line, store_misses, true, address, size);
        l1d.touch(index);
        if (__builtin_expect((l1d.states[index] & (DIRTY | STALE | LOST)) != DIRTY, 0))
            soil(index, line, address, size);
    }

    // With contents apart: an access to the line of the last one, which is not counted.
    void again(bool write, uint32_t address, uint32_t size) {
        const uint32_t line = address >> line_shift, index = l1d.find(line);
        if (index == NOT_FOUND || !(l1d.states[index] & (STALE | LOST)))
            return;
        write ? soil(index, line, address, size) : look(index, line, address, size);
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

    // False if it reads other data than the CPU does: then each word is asked for.
    bool dma_read(uint32_t line) {
        if (!config.dma_coherent)
            return !contents.on || contents.is_whole(line);
        if (config.dma_allocates && l1d.find(line) == NOT_FOUND)
            dma_allocate(line);
        return true;
    }

    // A word of a line that is not whole, as memory has it.
    uint32_t dma_word(uint32_t address) {
        const uint32_t line = address >> line_shift;
        const uint64_t bytes = contents.bytes_of(line, address, 4);
        Contents::Lost how;
        Place store;
        if (const auto thrown = contents.thrown(line, bytes, how); thrown.any)
            report(AXL_STALE_THROWN_AWAY, thrown, how.invalidate, sends, how.store, true);
        else if (is_guess && is_guess(address))
            ;
        else if (const auto unwritten = contents.unwritten(line, bytes, store); unwritten.any)
            report(AXL_STALE_MISSING_FLUSH, unwritten, store, sends, {}, true);
        uint32_t word;
        memcpy(&word, contents.memory(line) + (address & ((1u << line_shift) - 1)), sizeof word);
        return word;
    }

    // False if it is in a cache of the CPU's, and not coherent: then each word is told by dma_store.
    bool dma_write(uint32_t line) {
        if (!config.dma_coherent)
            return !contents.on || (l1d.find(line) == NOT_FOUND && l2.find(line) == NOT_FOUND && !contents.has_lost(line));
        uint32_t index = l1d.find(line); // no other copy of the line stays; behind an ACP the data goes to L2
        if (index != NOT_FOUND)
            l1d.drop(index);
        if (config.dma_allocates) {
            index = dma_allocate(line);
            if (index != NOT_FOUND)
                l2.states[index] |= DIRTY;
        } else if (index = l2.find(line); index != NOT_FOUND) {
            l2.drop(index);
        }
        return true;
    }

    void dma_store(uint32_t address, uint32_t word, uint32_t strobes) {
        const uint32_t line = address >> line_shift, offset = address & ((1u << line_shift) - 1);
        uint8_t data[64];
        memcpy(data + offset, &word, sizeof word);
        contents.write(line, data, static_cast<uint64_t>(strobes & 15) << offset);
    }

    // After the program's end: bytes of [address, address + size) that memory has and the caches have not.
    void leave(uint32_t address, uint32_t size) {
        for (uint32_t line = address >> line_shift; contents.on && size && line <= (address + size - 1) >> line_shift; line++) {
            const uint64_t bytes = contents.bytes_of(line, address, size);
            Contents::Lost how;
            report(AXL_STALE_MISSING_INVALIDATE, contents.stale(line, bytes), {}, receives);
            if (const auto thrown = contents.thrown(line, bytes, how); thrown.any)
                report(AXL_STALE_THROWN_AWAY, thrown, how.invalidate, {}, how.store);
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
    [[gnu::noinline]] void report(uint32_t kind, Contents::Bytes bytes, Place culprit, Place other, Place store = {},
                                  bool by_dma = false) {
        if (!bytes.any || is_unobserved)
            return;
        stale.add(kind, bytes.first, bytes.last, culprit, other, store, by_dma, cycle);
        if (on_stale)
            on_stale();
    }

    Place place() const { return here && contents.on ? here() : Place{pc, 0}; }

    // A load from a line that holds old data.
    [[gnu::noinline]] void look(uint32_t index, uint32_t line, uint32_t address, uint32_t size) {
        const uint64_t bytes = contents.bytes_of(line, address, size);
        Contents::Lost how;
        if (l1d.states[index] & STALE)
            if (const auto old = contents.stale(line, bytes); old.any)
                report(AXL_STALE_MISSING_INVALIDATE, old, place(), receives);
        if (l1d.states[index] & LOST)
            if (const auto thrown = contents.thrown(line, bytes, how); thrown.any)
                report(AXL_STALE_THROWN_AWAY, thrown, how.invalidate, place(), how.store);
    }

    // A store to a line that is not dirty alone.
    [[gnu::noinline]] void soil(uint32_t index, uint32_t line, uint32_t address, uint32_t size) {
        if (in_flight && *in_flight)
            on_touch(true, address, size);
        if (contents.on)
            contents.store(index, line, contents.bytes_of(line, address, size));
        if (!(l1d.states[index] & DIRTY))
            l1d.writers[index] = place();
        l1d.states[index] |= DIRTY;
    }

    bool is_unobserved = false;
    template <typename Do> void unobserved(Do action) {
        const uint64_t time = penalty, lines = writebacks, references = l2_references;
        is_unobserved = true;
        action();
        is_unobserved = false;
        penalty = time, writebacks = lines, l2_references = references;
    }
    template <typename Do> static void each(const Cache &cache, Do action) {
        for (uint32_t index = 0; index < cache.tags.size(); index++)
            if (cache.tags[index] != NO_LINE)
                action(index);
    }

    [[gnu::noinline]] uint32_t search(uint32_t line, uint64_t &misses, bool write, uint32_t address, uint32_t size) {
        uint32_t index = l1d.find(line);
        if (index != NOT_FOUND)
            return index;
        if (in_flight && *in_flight && !write)
            on_touch(false, address, size);
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
        if (contents.on)
            return refill_apart(line, index, victim);
        from_l2(line);
        if (victim.state & DIRTY)
            to_l2(victim, nullptr, 0);
        return index;
    }

    uint32_t refill_apart(uint32_t line, uint32_t index, const Cache::Victim &victim) {
        if (victim.state) {
            Contents::Leaving left;
            contents.leaves(victim, left);
            from_l2(line);
            if (left.state & DIRTY)
                to_l2(victim, left.below, left.newer);
            else
                contents.dropped(left.line, left.state, left.below, left.newer, left.writer, place());
            contents.has_left();
        } else {
            from_l2(line);
        }
        contents.arrived(index, line);
        return index;
    }

    // Bring a line from L2 or DDR.
    void from_l2(uint32_t line) {
        if (in_ocm(line)) {
            penalty += config.ocm_cycles;
            return;
        }
        penalty += config.l2_hit_cycles;
        if (!l2_on) {
            penalty += config.ddr_cycles;
            return;
        }
        l2_references++;
        uint32_t index = l2.find(line);
        if (index == NOT_FOUND) {
            l2_misses++;
            penalty += config.ddr_cycles;
            index = l2_allocate(line);
        }
        l2.touch(index);
    }

    // A dirty line goes from L1 to L2, which takes whole lines without reading memory first. With contents apart: what
    // L1 kept of it. True: it went to memory.
    bool to_l2(const Cache::Victim &victim, const uint8_t *below, uint64_t newer) {
        if (!l2_on || in_ocm(victim.line)) {
            to_memory();
            if (newer)
                report(AXL_STALE_LOST_WRITE, contents.over_memory(victim.line, below, newer), place(), victim.writer);
            return true;
        }
        l2_references++;
        uint32_t index = l2.find(victim.line);
        if (index == NOT_FOUND)
            index = l2_allocate(victim.line);
        l2.touch(index);
        if (contents.on)
            contents.to_l2(index, below, newer);
        l2.states[index] |= DIRTY;
        l2.writers[index] = victim.writer;
        return false;
    }

    uint32_t l2_allocate(uint32_t line) {
        Cache::Victim victim;
        uint32_t index = l2.fill(line, victim);
        if (victim.state & APART)
            report(AXL_STALE_LOST_WRITE, contents.leaves_l2(index, victim.line, victim.state, false, victim.writer, {}), place(),
                   victim.writer);
        if (victim.state & DIRTY)
            to_memory();
        return index;
    }

    void to_memory() {
        writebacks++;
        penalty += config.writeback_cycles;
    }

    void l1_maintain(uint32_t index, uint32_t operation) {
        uint8_t &state = l1d.states[index];
        const uint32_t line = l1d.tags[index];
        if (operation & CLEAN && state & DIRTY) {
            const Cache::Victim victim{line, state, l1d.writers[index], index};
            const bool to_memory = to_l2(victim, contents.on ? contents.below_l1(index) : nullptr, contents.newer_l1(index));
            state &= static_cast<uint8_t>(~DIRTY);
            if (contents.on)
                contents.cleaned(index, line, to_memory);
        }
        if (operation & INVALIDATE) {
            if (state & APART)
                contents.drop_l1(index, place());
            l1d.drop(index);
        }
    }

    void l2_maintain(uint32_t index, uint32_t operation) {
        uint8_t &state = l2.states[index];
        const uint32_t line = l2.tags[index];
        const Place writer = l2.writers[index];
        if (operation & CLEAN && state & DIRTY) {
            to_memory();
            if (contents.on)
                report(AXL_STALE_LOST_WRITE, contents.cleaned_l2(index, line), place(), writer);
            state = 0;
        }
        if (operation & INVALIDATE) {
            const uint8_t left = state;
            l2.drop(index);
            if (left & APART)
                contents.leaves_l2(index, line, left, true, writer, place());
        }
    }
};

} // namespace axl
