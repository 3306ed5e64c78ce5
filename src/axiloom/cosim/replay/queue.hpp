// A driver that queues what the DMA reads from the matrices themselves: what accel-place makes with `queue`,
// on sw/src/dma_queue.c. Or all of that is a table, with `tables`, on sw/src/dma_table.c. Its descriptors are filled in
// at the start of the program, and a call tells the DMA of them once.
#pragma once

#include <vector>

#include "driver.hpp"

namespace axl {

class Queue : public Driver {
  public:
    using Driver::Driver;

    void run() {
        begin();
        open();
        loop(0);
        tell();
        while (taken < posted)
            take_oldest();
        wait_sent(pushed);
    }

  private:
    static constexpr double POLL = 33.0; // fabric cycles: a descriptor, a register of the DMA, and the loop around them
    static constexpr double ROW = 4.0;   // and from one row's burst to the next: shorter rows leave the stream idle
    static constexpr int32_t SEND_RING = 128, RECEIVE_RING = 64, DESCRIPTOR_WORDS = 8, TELL_WORDS = 1024;
    static constexpr int32_t SLOT_WORDS = 2048, OCM_WORDS = 8192, MOST_TABLED = 64;
    static constexpr uint32_t SLOTS = 0x10000; // where they are on chip
    static constexpr int32_t AHEAD_BYTES = 16 << 10; // of a tile whose place is brought into L1

    struct Destination {
        const Operand *operand;
        int32_t at[LOOPS];
    };

    int32_t at[LOOPS] = {};
    std::vector<Item> single, pending; // words that are no descriptor yet; descriptors that the DMA does not know
    int32_t singles = 0, words_queued = 0;
    size_t pushed = 0, told = 0, done = 0;
    size_t posted = 0, posts_told = 0, taken = 0, limit = 2, begun = 0; // `begun`: posted before this call
    std::vector<Destination> destinations;
    int32_t tile_words = 0;
    int32_t half = 0, half_used = 0;
    size_t half_last[2] = {};
    bool whole_window = false, written = false;

    void open() {
        begun = posted;
        half = half_used = 0;
        half_last[0] = half_last[1] = pushed;
        whole_window = written = false;
        for (int i = 0; i < plan.stages; i++)
            if (plan.stage[i].receives >= 0)
                tile_words = plan.operand[plan.stage[i].receives].words;
        const int32_t fitting = tile_words ? OCM_WORDS / tile_words : 2;
        const int32_t many = std::clamp(tile_words ? SLOT_WORDS / tile_words : 2, 2, RECEIVE_RING / 2);
        const int32_t wanted = tile_words % 8 ? 1 : many; // slots must not share a line
        for (int i = 0; i < plan.operands; i++)
            written |= plan.operand[i].taken == WRITTEN;
        if (written) { // the DMA needs no slots for what it writes to its place
            limit = RECEIVE_RING / 2;
            return;
        }
        if (plan.tabled) { // each tile has a slot
            limit = MOST_TABLED;
            return;
        }
        for (limit = 1; limit * 2 <= static_cast<size_t>(std::max(1, std::min(wanted, fitting)));)
            limit *= 2;
    }

    // What a queue does in each call, and a table once, at the start of the program.
    void work(Cost cost) {
        if (!plan.tabled)
            pay(cost);
        else if (first && (cost == QUEUE_ROWS || cost == QUEUE_RECEIVE))
            pay(PIECE);
    }

    // From telling the DMA to its first transfer; for later calls of a table descriptors are there already.
    double fetch_time() const { return plan.tabled && !first ? 0 : machine.fetch; }

    void loop(int level) {
        if (level == plan.loops)
            return;
        for (at[level] = 0; at[level] < plan.trips[level]; at[level]++) {
            work(ITERATION);
            queue_all(level, false);
            loop(level + 1);
            queue_all(level, true);
        }
        at[level] = 0;
    }

    void queue_all(int level, bool behind) {
        for (int i = 0; i < plan.stages; i++) {
            const Stage &s = plan.stage[i];
            if (s.level == level && !!s.behind == behind)
                queue(s);
        }
    }

    void queue(const Stage &s) {
        if (s.receives >= 0)
            receive(plan.operand[s.receives]);
        for (int32_t i = 0; i < s.head; i++)
            word();
        if (s.operand >= 0)
            send_tile(plan.operand[s.operand], s);
        if (s.compute)
            begins({Item::COMPUTE, static_cast<double>(s.compute), 0});
        if (s.receives >= 0)
            begins({Item::STORE, static_cast<double>(tile_words) / machine.beat_words, 0, &s});
    }

    // By the words before it; without any, as there are no opcodes, by the tile.
    void begins(const Item &item) {
        if (singles)
            single.push_back(item);
        else if (told < pushed)
            pending.push_back(item);
        else
            device.items.push_back(item);
    }

    // ---- what goes out

    void word() {
        if (singles == DESCRIPTOR_WORDS)
            end_words();
        make_room();
        work(QUEUE_WORD);
        fill_in(1);
        single.push_back({Item::WORDS, 1.0 / machine.beat_words, 0});
        singles++;
        words_queued++;
    }

    // Words of a descriptor: uncached, or in a line of L1.
    void fill_in(int n) {
        for (int i = 0; i < n && !coherent(); i++)
            memory.uncached_store();
    }

    void end_words() {
        if (!singles)
            return;
        push(single);
        single.clear();
        singles = 0;
    }

    void push(const std::vector<Item> &items) {
        work(QUEUE_ROWS);
        fill_in(3);
        pending.insert(pending.end(), items.begin(), items.end());
        pending.push_back({Item::END, 0, 0});
        pushed++;
    }

    void make_room() {
        if (pushed - done >= SEND_RING - 1)
            wait_sent(done + SEND_RING / 4);
    }

    void send_tile(const Operand &o, const Stage &s) {
        const Tile t = tile(o, at);
        uint32_t row_bytes = static_cast<uint32_t>(t.cols * o.element), rows = static_cast<uint32_t>(t.rows);
        const uint32_t stride = static_cast<uint32_t>(o.row_stride * o.element);
        if (row_bytes == stride && t.cols == o.tile_cols) { // one piece
            row_bytes *= rows;
            rows = 1;
        }
        bool first = true; // nobody has cleaned it: the loops that do not move it are at their beginning
        for (int l = 0; l <= s.level; l++)
            first &= (s.moved_by >> l & 1) != 0 || at[l] == 0;
        if (first)
            clean(t.address, row_bytes, rows, stride);
        if (t.whole)
            dma(t.address, row_bytes, rows, stride, false);
        if (!t.whole) {
            const uint32_t to = window_room(o.words);
            pad(o, at, to);
            clean(to, 4u * static_cast<uint32_t>(o.words));
        }
        end_words();
        make_room();
        const double beats = static_cast<double>(o.words) / machine.beat_words, bursts = t.whole ? ROW * rows : 0;
        push({{Item::LOAD, std::max(beats, bursts), static_cast<int>(&o - plan.operand)}});
        words_queued += o.words;
        if (words_queued >= TELL_WORDS && !plan.tabled)
            tell();
    }

    uint32_t window_room(int32_t n) {
        const int32_t half_words = machine.in_words / 2;
        n = (n + 7) / 8 * 8;
        if (whole_window || n > half_words) {
            wait_sent(pushed);
            half = half_used = 0;
            whole_window = n > half_words;
        }
        if (!whole_window && half_used + n > half_words) {
            half_last[half] = pushed;
            half ^= 1;
            half_used = 0;
            wait_sent(half_last[half]);
        }
        const int32_t offset = half * half_words + half_used;
        half_used += n;
        return static_cast<uint32_t>(machine.in + 4 * offset);
    }

    // Descriptors and receives that the DMA does not know yet: receives first, but of a table.
    void tell() {
        end_words();
        const Part before = enter(ACCESS);
        if (!plan.tabled)
            tell_receives();
        if (told < pushed) {
            pay(TELL);
            fill_in(1);
            const double cycle = access() + fetch_time();
            device.items.push_back({Item::BEGIN, cycle, 0});
            device.items.insert(device.items.end(), pending.begin(), pending.end());
            pending.clear();
            told = pushed;
            words_queued = 0;
        }
        if (plan.tabled)
            tell_receives();
        device.run();
        enter(before);
    }

    void tell_receives() {
        if (posts_told == posted)
            return;
        pay(TELL);
        const double cycle = access() + fetch_time();
        for (; posts_told < posted; posts_told++)
            device.armed.push_back(cycle);
    }

    void wait_sent(size_t end) {
        if (end <= done)
            return;
        tell();
        wait_for(device.sent, end);
        done = end;
    }

    // Of a descriptor: uncached, or in L2, as the DMA has taken the line from L1.
    void read_status() {
        if (coherent())
            memory.penalty += memory.config.l2_hit_cycles;
        else
            memory.uncached_load();
    }

    // Until `number` of what is in `when` have happened.
    void wait_for(const std::vector<double> &when, size_t number) {
        read_status();
        device.run();
        if (when.size() < number || sees(when[number - 1]))
            return;
        const Part before = enter(ACCESS);
        pay(LOOK);
        access();
        enter(before);
        poll_until(when[number - 1], POLL);
    }

    // ---- what comes back

    uint32_t slots() const { return coherent() ? static_cast<uint32_t>(machine.out) : SLOTS; }
    uint32_t slot(size_t number) const { return slots() + 4u * static_cast<uint32_t>(tile_words) * static_cast<uint32_t>((number - begun) % limit); }

    void receive(const Operand &o) {
        work(QUEUE_RECEIVE);
        if (posted - taken == limit && !plan.tabled)
            take_oldest();
        Destination to{&o, {}};
        std::copy(at, at + LOOPS, to.at);
        destinations.push_back(to);
        if (written)
            discard_place(o, to.at);
        else if (posted - begun < limit)
            invalidate(slot(posted));
        fill_in(posted - begun < RECEIVE_RING ? 3 : 1);
        posted++;
    }

    // No line of a place that the DMA writes to may be in a cache, before and after.
    void discard_place(const Operand &o, const int32_t *where) {
        if (coherent())
            return;
        const Part before = enter(DISCARDS);
        const Tile t = tile(o, where);
        pay(DISCARD);
        pay(DISCARD_LINE, maintain(t.address, static_cast<uint32_t>(t.cols * o.element), static_cast<uint32_t>(t.rows),
                                   static_cast<uint32_t>(o.row_stride * o.element), Memory::INVALIDATE));
        enter(before);
    }

    // A slot on chip is in L1 alone; behind a coherent port the tile has come to L2.
    void invalidate(uint32_t address) {
        if (coherent())
            return dma(address, 4u * static_cast<uint32_t>(tile_words), 1, 0, true);
        const Part before = enter(DISCARDS);
        const uint32_t first = address >> LINE_SHIFT, n = static_cast<uint32_t>(tile_words) / 8;
        for (uint32_t line = first; line < first + n; line++)
            memory.l1_line(line, Memory::INVALIDATE);
        pay(DISCARD);
        pay(DISCARD_LINE, n);
        enter(before);
    }

    // While the CPU waits for a tile, the lines of its place come into the caches.
    void bring_place(const Destination &to) {
        if (written || 4 * tile_words > AHEAD_BYTES)
            return;
        const Tile t = tile(*to.operand, to.at);
        const uint32_t bytes = static_cast<uint32_t>(t.cols * to.operand->element);
        const Part before = enter(ADDS);
        for (int32_t r = 0; r < t.rows; r++)
            fetch(t.address + static_cast<uint32_t>(r * to.operand->row_stride * to.operand->element), bytes);
        enter(before);
    }

    // The CPU sees in its own caches what has come, and takes a tile in two halves.
    void take_of_table() {
        pay(TAKE_TILE);
        device.run();
        if (device.back.size() <= taken) { // nothing will come
            stuck = true;
            taken++;
            return;
        }
        const Destination &from = destinations[taken];
        const double came = device.back[taken], half = tile_words / (2.0 * machine.beat_words);
        const Part before = enter(POLLS);
        wait_until(came - (written ? 0 : half));
        enter(before);
        const uint32_t tile_at = slot(taken);
        taken++;
        if (written)
            return;
        invalidate(tile_at);
        const double begun_at = now();
        add(*from.operand, from.at, tile_at, true);
        enter(POLLS);
        wait_until(came + (now() - begun_at) / (2 * machine.ratio));
        enter(before);
    }

    void take_oldest() {
        if (plan.tabled)
            return take_of_table();
        pay(TAKE);
        read_status();
        device.run();
        if (device.back.size() <= taken || !sees(device.back[taken])) {
            tell();
            bring_place(destinations[taken]);
            wait_for(device.back, taken + 1);
        }
        const Destination &from = destinations[taken];
        const uint32_t tile_at = slot(taken);
        taken++;
        if (written) {
            const Operand &o = *from.operand;
            const Tile t = tile(o, from.at);
            dma(t.address, static_cast<uint32_t>(t.cols * o.element), static_cast<uint32_t>(t.rows), static_cast<uint32_t>(o.row_stride * o.element), true);
            return;
        }
        invalidate(tile_at);
        add(*from.operand, from.at, tile_at, true);
    }
};

} // namespace axl
