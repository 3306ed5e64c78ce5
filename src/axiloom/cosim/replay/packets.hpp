// A driver that packs packets, sends one while it packs the next, and takes the tiles of the one before: what
// accel-place makes with `keep` and two `buffers`, on sw/src/dma_packets.c.
#pragma once

#include <vector>

#include "driver.hpp"

namespace axl {

class Packets : public Driver {
  public:
    using Driver::Driver;

    void run() {
        begin();
        lay_out();
        if (tiles) {
            discard(out(0), 8u * static_cast<uint32_t>(slot_words));
            arm();
        }
        loop(0);
        if (have_sent)
            receive();
        wait_for_turn();
        while (!look_send())
            poll_send();
    }

  private:
    static constexpr double POLL = 22.4; // fabric cycles: a read of the DMA's register, and the loop around it

    using Stages = std::vector<const Stage *>;
    struct Place {
        int32_t at[LOOPS] = {}, chunk = 0;
    };

    // layout
    int32_t base_words = 0, stride = 0, words = 0, slot_words = 0;
    size_t tiles = 0;
    bool keeps = false;
    // where the driver is
    Place here, sent;
    int32_t place = 0;
    bool have_sent = false;
    std::vector<Item> packet;
    // transfers
    std::vector<Item> queued;
    bool waits = false, flies = false;
    size_t started = 0, taken = 0, begun = 0; // `begun`: taken before this call

    uint32_t in(int32_t offset) const { return static_cast<uint32_t>(machine.in + 4 * offset); }
    uint32_t out(int32_t offset) const { return static_cast<uint32_t>(machine.out + 4 * offset); }
    static int32_t whole_lines(int32_t n) { return (n + 7) / 8 * 8; }

    // ---- layout: as plan/packets.py

    int32_t words_of(const Stage &s) const { return s.head + (s.operand < 0 ? 0 : plan.operand[s.operand].words); }

    Stages stages(int level, bool behind) const {
        Stages found;
        for (int i = 0; i < plan.stages; i++)
            if (plan.stage[i].level == level && !!plan.stage[i].behind == behind)
                found.push_back(&plan.stage[i]);
        return found;
    }

    int32_t words_of(const Stages &some) const {
        int32_t n = 0;
        for (const Stage *s : some)
            n += words_of(*s);
        return n;
    }

    // An iteration by tiles: heads that follow one belong to it.
    std::vector<Stages> parts_of(const Stages &some) const {
        std::vector<Stages> found;
        for (const Stage *s : some) {
            if (found.empty() || (s->operand >= 0 && s->head))
                found.emplace_back();
            found.back().push_back(s);
        }
        return found;
    }

    void lay_out() {
        place = 0;
        have_sent = keeps = false;
        tiles = 0;
        begun = taken;
        int32_t prefix = 0, suffix = 0, body = 0;
        for (int l = 0; l < plan.level; l++) {
            prefix += words_of(stages(l, false));
            suffix += words_of(stages(l, true));
        }
        for (int l = plan.loops - 1; l >= plan.level; l--) {
            const int32_t inner = l + 1 < plan.loops ? body * plan.trips[l + 1] : 0;
            body = words_of(stages(l, false)) + inner + words_of(stages(l, true));
        }
        base_words = whole_lines(prefix);
        int32_t last = plan.count * body;
        stride = whole_lines(last);
        if (plan.parts > 1) {
            stride = 0;
            for (const Stages &part : parts_of(stages(plan.level, false))) {
                last = words_of(part);
                stride += whole_lines(last);
            }
        }
        words = base_words + (plan.apart ? plan.chunks : 1) * stride - whole_lines(last) + whole_lines(last + suffix);
        for (int i = 0; i < plan.stages; i++) {
            const Stage &s = plan.stage[i];
            keeps |= stays(s);
            if (s.receives < 0)
                continue;
            size_t times = 1;
            for (int l = 0; l <= s.level; l++)
                times *= static_cast<size_t>(plan.trips[l]);
            tiles += times;
            slot_words = whole_lines(plan.operand[s.receives].words);
        }
    }

    // Calls `each` for the loops around a packet that bring it to the place where it was, from outside in.
    template <typename Each> void repeats(const Stage &s, Each each) const {
        for (int l = 0; l <= std::min(plan.level, s.level); l++) {
            const bool chunked = l == plan.level;
            if (chunked && (plan.apart || plan.chunks == 1))
                continue;
            const int32_t n = chunked ? plan.chunks : plan.trips[l];
            if (n > 1)
                each(n, chunked ? here.chunk : here.at[l], (s.moved_by >> l & 1) != 0);
        }
    }

    // Is it left in its place by some packets?
    bool stays(const Stage &s) const {
        if (s.operand < 0 || (s.level < plan.level && plan.copies > 1 && conditional(s.level)))
            return false;
        int32_t times = 1;
        repeats(s, [&](int32_t n, int32_t, bool moves) { times = moves ? 1 : times * n; });
        return times > plan.copies;
    }

    bool is_packed(const Stage &s) const {
        if (!stays(s))
            return true;
        int32_t before = 0;
        repeats(s, [&](int32_t n, int32_t digit, bool moves) { before = moves ? 0 : before * n + digit; });
        return before < plan.copies;
    }

    bool conditional(int level) const {
        for (int l = level + 1; l < plan.level; l++)
            if (plan.trips[l] > 1)
                return true;
        return plan.chunks > 1;
    }

    // Are all loops inside `level`, around a packet, at their first (last) iteration?
    bool at_edge(const Place &where, int level, bool last) const {
        for (int l = level + 1; l < plan.level; l++)
            if (where.at[l] != (last ? plan.trips[l] - 1 : 0))
                return false;
        return where.chunk == (last ? plan.chunks - 1 : 0);
    }

    // ---- packets

    void loop(int level) {
        if (level < plan.level) {
            for (here.at[level] = 0; here.at[level] < plan.trips[level]; here.at[level]++)
                loop(level + 1);
            here.at[level] = 0;
            return;
        }
        for (here.chunk = 0; here.chunk < plan.chunks; here.chunk++)
            pack();
    }

    void pack() {
        pay(PACKET);
        wait_for_turn();
        const bool apart = plan.apart && plan.chunks > 1;
        const int32_t first = place + base_words + (apart ? here.chunk * stride : 0);
        int32_t begin = first, at = place + base_words;
        here.at[plan.level] = here.chunk * plan.count;
        for (int l = plan.level - 1; l >= 0; l--) {
            const Stages some = stages(l, false);
            at -= words_of(some);
            if (!some.empty() && at_edge(here, l, false)) {
                begin = at;
                stage(some, at, true);
            }
        }
        int32_t end = plan.parts > 1 ? pack_parts(first, begin) : pack_iterations(first);
        for (int l = plan.level - 1; l >= 0; l--) {
            const Stages some = stages(l, true);
            if (!some.empty() && at_edge(here, l, true))
                end = stage(some, end, false);
        }
        send(begin, end);
        if (have_sent)
            receive();
        sent = here;
        have_sent = true;
        if (plan.copies > 1)
            place = words - place;
    }

    int32_t pack_iterations(int32_t at) {
        int32_t &counter = here.at[plan.level];
        const int32_t begin = counter, stop = std::min(plan.trips[plan.level], begin + plan.count);
        for (; counter < stop; counter++)
            at = pack_iteration(plan.level, at);
        counter = begin;
        return at;
    }

    int32_t pack_iteration(int level, int32_t at) {
        pay(ITERATION);
        at = stage(stages(level, false), at, false);
        if (level + 1 < plan.loops) {
            int32_t &counter = here.at[level + 1];
            for (counter = 0; counter < plan.trips[level + 1]; counter++)
                at = pack_iteration(level + 1, at);
            counter = 0;
        }
        return stage(stages(level, true), at, false);
    }

    // An iteration in parts: all but the last one are sent here.
    int32_t pack_parts(int32_t first, int32_t &begin) {
        pay(ITERATION);
        int32_t end = first;
        bool is_first = true;
        for (const Stages &part : parts_of(stages(plan.level, false))) {
            if (!is_first) {
                send(begin, end);
                wait_for_turn();
                begin = first;
            }
            is_first = false;
            end = stage(part, first, false);
            first += whole_lines(words_of(part));
        }
        return end;
    }

    // Stage words one behind the other; the offset behind them. What has the same reason to stay is cleaned at once.
    // `front`: the device gets them in front of what was staged before.
    int32_t stage(const Stages &some, int32_t at, bool front) {
        std::vector<Item> items;
        for (size_t i = 0; i < some.size();) {
            const size_t end = run_of(some, i);
            const bool packs = packed(some, i, end);
            const int32_t begin = at;
            for (; i < end; i++)
                at = stage(*some[i], at, packs, items);
            if (keeps && packs)
                clean(in(begin), 4u * static_cast<uint32_t>(at - begin));
        }
        packet.insert(front ? packet.begin() : packet.end(), items.begin(), items.end());
        return at;
    }

    // The end of the run that begins with stage `i`: tiles with one rule, each with its head, and heads behind the last.
    size_t run_of(const Stages &some, size_t i) const {
        const Stage *tile = nullptr;
        size_t end = i;
        for (; end < some.size(); end++) {
            const Stage &s = *some[end];
            if (s.operand < 0)
                continue;
            if (tile && (stays(s) != stays(*tile) || (stays(s) && s.moved_by != tile->moved_by)))
                break;
            tile = &s;
        }
        while (end < some.size() && end > i + 1 && some[end - 1]->operand < 0)
            end--; // heads in front of another tile are that one's
        return end;
    }

    bool packed(const Stages &some, size_t i, size_t end) const {
        for (; i < end; i++)
            if (some[i]->operand >= 0)
                return is_packed(*some[i]);
        return true;
    }

    int32_t stage(const Stage &s, int32_t at, bool packs, std::vector<Item> &items) {
        if (s.head) {
            items.push_back({Item::WORDS, static_cast<double>(s.head) / machine.beat_words, 0});
            if (packs) {
                pay(HEAD_WORD, s.head);
                touch_all(in(at), 4u * static_cast<uint32_t>(s.head), true);
            }
        }
        at += s.head;
        if (s.operand >= 0) {
            const Operand &o = plan.operand[s.operand];
            items.push_back({Item::LOAD, static_cast<double>(o.words) / machine.beat_words, s.operand});
            if (packs)
                put(o, here.at, in(at));
            at += o.words;
        }
        if (s.compute)
            items.push_back({Item::COMPUTE, static_cast<double>(s.compute), 0});
        if (s.receives >= 0)
            items.push_back(
                {Item::STORE, static_cast<double>(plan.operand[s.receives].words) / machine.beat_words, 0, &s});
        return at;
    }

    // ---- transfers: as sw/src/dma_packets.c

    // An access to a channel: with scatter-gather a descriptor lies in uncached memory besides.
    double look_at_channel() {
        const Part before = enter(ACCESS);
        pay(LOOK);
        const double cycle = access();
        if (machine.scatter_gather)
            memory.uncached_load();
        enter(before);
        return cycle;
    }

    double start_channel() {
        const Part before = enter(ACCESS);
        if (machine.scatter_gather)
            for (int i = 0; i < 4; i++)
                memory.uncached_store();
        else
            access();
        const double cycle = access() + (machine.scatter_gather ? machine.fetch : 0);
        enter(before);
        return cycle;
    }

    // One look at the channel that sends; the packet that waits is started if it is free.
    bool look_send() {
        if (flies) {
            const double cycle = look_at_channel();
            device.run();
            flies = device.sent.size() < started || device.sent[started - 1] > cycle;
            if (flies)
                return false;
        }
        if (!waits)
            return true;
        pay(ARM);
        device.items.push_back({Item::BEGIN, start_channel(), 0});
        device.items.insert(device.items.end(), queued.begin(), queued.end());
        device.items.push_back({Item::END, 0, 0});
        device.run();
        started++;
        flies = true;
        waits = false;
        return true;
    }

    void wait_for_turn() {
        while (waits && !look_send())
            poll_send();
    }

    void poll_send() {
        stuck |= device.sent.size() < started;
        if (stuck)
            flies = false;
        else
            poll_until(device.sent[started - 1], POLL);
    }

    void send(int32_t begin, int32_t end) {
        if (!keeps)
            clean(in(begin), 4u * static_cast<uint32_t>(end - begin));
        pay(SEND);
        wait_for_turn();
        queued.swap(packet);
        packet.clear();
        waits = true;
        look_send();
    }

    void arm() {
        pay(ARM);
        device.armed.push_back(start_channel());
        device.run();
    }

    // ---- what comes back

    void next_tile() {
        for (;;) {
            if (waits)
                look_send();
            const double cycle = look_at_channel();
            device.run();
            if (device.back.size() > taken && device.back[taken] <= cycle)
                break;
            double until = device.back.size() > taken ? device.back[taken] : 1e18;
            if (waits && device.sent.size() >= started)
                until = std::min(until, device.sent[started - 1]);
            if (until > 1e17) {
                stuck = true;
                return;
            }
            poll_until(until, waits ? 2 * POLL : POLL);
        }
        if (!machine.scatter_gather) { // LENGTH
            const Part before = enter(ACCESS);
            access();
            enter(before);
        }
        taken++;
        pay(TAKE);
        if (taken - begun < tiles)
            arm();
    }

    void take(const Stage &s, const int32_t *at) {
        const Operand &o = plan.operand[s.receives];
        const uint32_t from = out(static_cast<int32_t>((taken - begun) % 2) * slot_words);
        next_tile();
        discard(from, 4u * static_cast<uint32_t>(o.words));
        add(o, at, from, false);
    }

    void take_all(int level, bool behind, const int32_t *at) {
        for (const Stage *s : stages(level, behind))
            if (s->receives >= 0)
                take(*s, at);
    }

    // All that the packet before this one brings back.
    void receive() {
        Place was = sent;
        for (int l = 0; l < plan.level; l++)
            if (at_edge(was, l, false))
                take_all(l, false, was.at);
        int32_t &counter = was.at[plan.level];
        const int32_t begin = was.chunk * plan.count, stop = std::min(plan.trips[plan.level], begin + plan.count);
        for (counter = begin; counter < stop; counter++)
            take_iteration(plan.level, was.at);
        counter = begin;
        for (int l = plan.level - 1; l >= 0; l--)
            if (at_edge(was, l, true))
                take_all(l, true, was.at);
    }

    void take_iteration(int level, int32_t *at) {
        take_all(level, false, at);
        if (level + 1 < plan.loops) {
            for (at[level + 1] = 0; at[level + 1] < plan.trips[level + 1]; at[level + 1]++)
                take_iteration(level + 1, at);
            at[level + 1] = 0;
        }
        take_all(level, true, at);
    }
};

} // namespace axl
