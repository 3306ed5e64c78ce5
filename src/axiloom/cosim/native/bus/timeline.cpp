#include "bus/timeline.hpp"

#include "bus/dma_registers.h"

#include <algorithm>
#include <numeric>

namespace axl {

namespace {

// Where a transfer of MM2S, S2MM begins, in direct register mode.
constexpr uint32_t PLACE[2] = {MM2S + ADDRESS, S2MM + ADDRESS};

axl_interval_t interval(uint32_t track, uint64_t begin, uint64_t end) {
    axl_interval_t made{};
    made.track = track;
    made.begin = begin;
    made.end = end;
    made.count = 1;
    return made;
}

uint64_t mixed(uint64_t hash, uint32_t word) {
    hash = (hash ^ word) * 0x9E3779B97F4A7C15ull;
    return hash ^ hash >> 29;
}

} // namespace

// ---- set-up ----------------------------------------------------------------------------------------------------

void Timeline::configure(const axl_config &config) {
    uint64_t common = std::gcd(config.cpu_hz, config.fabric_hz);
    cpu_ratio = config.cpu_hz / common;
    fabric_ratio = config.fabric_hz / common;
    std::copy(std::begin(config.mmio_base), std::end(config.mmio_base), pages);
    page_bytes = config.mmio_pages ? config.mmio_size : 0;
    ocm_bytes = config.ocm_bytes;
    tracks.cpu_per_fabric = static_cast<double>(config.cpu_hz) / static_cast<double>(config.fabric_hz);
}

void Timeline::program(const uint32_t *addresses, uint32_t n, uint32_t entry, uint32_t main) {
    starts.assign(addresses, addresses + n);
    functions.assign(n + 1, axl_function_t{});
    entry_function = current = entry;
    main_function = main;
    own_code.clear();
    left = 0;
    in_main = main >= n; // unknown: all of it
    state = in_main ? AXL_CPU_CODE : AXL_CPU_STARTUP;
    pending.assign(1, {0, state, current});
    turns.assign(1, {0, state});
}

void Timeline::windows(uint32_t in, uint32_t in_bytes, uint32_t out, uint32_t out_bytes, uint32_t words_per_beat) {
    lane->in_low = in;
    lane->in_span = in_bytes;
    lane->out_low = out;
    lane->out_span = out_bytes;
    lane->beat_words = std::max(words_per_beat, 1u);
    uint32_t low = ~0u, end = 0;
    for (size_t i = 0; i < n_lanes; i++)
        for (const auto &window : {std::make_pair(lanes[i].in_low, lanes[i].in_span),
                                   std::make_pair(lanes[i].out_low, lanes[i].out_span)})
            if (window.second) {
                low = std::min(low, window.first);
                end = std::max(end, window.first + window.second);
            }
    window_low = low;
    window_span = end ? end - low : 0;
}

void Timeline::accelerators(size_t n) {
    n_lanes = n;
    for (Lane &one : lanes)
        one = Lane();
}

void Timeline::reset() {
    profile = axl_profile_t{};
    tracks.reset();
    starts.clear();
    program(nullptr, 0, 0, 0);
    quiet_at = NEVER;
    last_read = mark = done = longest = 0;
    std::fill(std::begin(loading_cells), std::end(loading_cells), 0);
    drawn = axl_interval_t{};
    sizes.clear();
    laps.clear();
    laps_passed = 0;
    for (Lane &one : lanes)
        static_cast<Work &>(one) = Work();
}

// ---- the CPU ---------------------------------------------------------------------------------------------------

uint32_t Timeline::function_of(uint32_t address) const {
    auto behind = std::upper_bound(starts.begin(), starts.end(), address);
    return behind == starts.begin() ? static_cast<uint32_t>(starts.size())
                                    : static_cast<uint32_t>(behind - starts.begin() - 1);
}

void Timeline::account(uint64_t cycle) {
    functions[current].cycles += cycle - mark;
    mark = cycle;
}

void Timeline::change(uint32_t to, uint64_t cycle) {
    state = to;
    pending.push_back({cycle, state, current});
}

void Timeline::enter(uint32_t function, uint64_t cycle, uint64_t instructions, const Block *before) {
    const bool changed = function != current;
    if (before && is_own(current) && !is_own(function))
        left = before->branch_pc;
    account(cycle);
    current = function;
    if (!in_main && function == main_function) {
        in_main = true;
        state = AXL_CPU_CODE;
    } else if (in_main && main_function < starts.size() && function == entry_function) {
        in_main = false;
        state = AXL_CPU_STARTUP;
        quiet_at = NEVER;
    } else if (instructions >= quiet_at) {
        state = AXL_CPU_CODE;
        quiet_at = NEVER;
    } else if (!changed)
        return;
    pending.push_back({cycle, state, current});
}

void Timeline::busy_with(uint32_t what, uint64_t cycle, uint64_t instructions) {
    if (!in_main)
        return;
    quiet_at = instructions + QUIET_INSTRUCTIONS;
    if (state != what)
        change(what, cycle);
}

void Timeline::touch(bool write, uint32_t address, uint64_t cycle, uint64_t instructions) {
    bool in = false, out = address < ocm_bytes; // the runtime receives in either
    for (size_t i = 0; i < n_lanes; i++) {
        in |= address - lanes[i].in_low < lanes[i].in_span;
        out |= address - lanes[i].out_low < lanes[i].out_span;
    }
    if (write && in)
        busy_with(AXL_CPU_PACK, cycle, instructions);
    else if (!write && out)
        busy_with(AXL_CPU_UNPACK, cycle, instructions);
}

void Timeline::read(bool again, uint64_t cycle, uint64_t instructions) {
    const bool polls = again && instructions - last_read < POLL_INSTRUCTIONS;
    if (polls)
        for (Segment &segment : pending)
            segment.state = AXL_CPU_POLL;
    wait(polls ? AXL_CPU_POLL : AXL_CPU_ACCESS, cycle);
}

void Timeline::write(uint32_t address, uint32_t value, uint64_t cycle) {
    for (size_t i = 0; i < n_lanes; i++)
        for (uint32_t which = 0; which < 2; which++)
            if (page_bytes && address == pages[i] + PLACE[which])
                lanes[i].channels[which].address = value;
    wait(AXL_CPU_ACCESS, cycle);
}

void Timeline::wait(uint32_t what, uint64_t cycle) {
    change(what, cycle);
    flush(cycle);
}

void Timeline::resume(uint64_t cycle, uint64_t stalled, uint64_t instructions) {
    functions[current].waiting += stalled;
    last_read = instructions;
    if (state != AXL_CPU_ACCESS && state != AXL_CPU_POLL && state != AXL_CPU_SLEEP)
        return; // the quantum was over: the CPU goes on with what it did
    quiet_at = NEVER;
    change(in_main ? AXL_CPU_CODE : AXL_CPU_STARTUP, cycle);
}

// What is certain now goes to the table and to the CPU's track; the last segment is open.
void Timeline::flush(uint64_t cycle) {
    for (size_t i = 0; i < pending.size(); i++) {
        const uint64_t end = i + 1 < pending.size() ? pending[i + 1].begin : cycle;
        const uint64_t begin = to_fabric(pending[i].begin);
        if (turns.back().begin == begin)
            turns.back().state = pending[i].state;
        else if (turns.back().state != pending[i].state)
            turns.push_back({begin, pending[i].state});
        if (tracks.limit)
            draw(pending[i], end);
    }
    Segment open = pending.back();
    open.begin = cycle;
    pending.assign(1, open);
}

// One interval for what the CPU does, named by the function that takes the largest part of it; plain code is told
// apart by function.
void Timeline::draw(const Segment &segment, uint64_t end) {
    if (end <= segment.begin)
        return;
    const bool goes_on = drawn.end == segment.begin && drawn.kind == segment.state && drawn.count &&
                         (segment.state != AXL_CPU_CODE || drawn.name == segment.function);
    if (!goes_on) {
        tracks.add(drawn);
        drawn = interval(AXL_TRACK_CPU, segment.begin, end);
        drawn.kind = segment.state;
        longest = 0;
    }
    drawn.end = end;
    if (end - segment.begin > longest) {
        longest = end - segment.begin;
        drawn.name = segment.function;
    }
}

// ---- the RTL ---------------------------------------------------------------------------------------------------

uint32_t Timeline::hardware() const {
    uint32_t bits = 0;
    bool loading = false;
    for (size_t i = 0; i < n_lanes; i++) {
        bits |= lanes[i].bits;
        loading |= lanes[i].loading && (lanes[i].bits & AXL_BIT_IN_BEAT);
    }
    if (bits & AXL_BIT_COMPUTE)
        return AXL_HW_COMPUTE;
    if (bits & AXL_BIT_IN_BEAT)
        return loading ? AXL_HW_LOAD_NEW : AXL_HW_LOAD_HEAD;
    if (bits & AXL_BIT_OUT_BEAT)
        return AXL_HW_STORE;
    if (bits & AXL_BIT_IN_VALID)
        return AXL_HW_IN_STALLED;
    if (bits & AXL_BIT_MM2S_BUSY)
        return AXL_HW_IN_STARVED;
    return bits & AXL_BIT_S2MM_BUSY ? AXL_HW_RECEIVING : AXL_HW_QUIET;
}

void Timeline::advance(uint64_t now) {
    while (__builtin_expect(laps_passed < laps.size() && laps[laps_passed].at <= now, 0)) {
        fill_cells(laps[laps_passed].at);
        pass(laps[laps_passed++]);
    }
    fill_cells(now);
}

void Timeline::fill_cells(uint64_t now) {
    const uint32_t row = hardware();
    // Whether a tile is one that the device has is known at its end.
    uint64_t *cells = row == AXL_HW_LOAD_NEW ? loading_cells : profile.cells[row];
    while (done < now) {
        while (turns.size() > 1 && turns[1].begin <= done)
            turns.pop_front();
        const uint64_t end = turns.size() > 1 ? std::min(turns[1].begin, now) : now;
        cells[turns.front().state] += end - done;
        done = end;
    }
}

void Timeline::activity(uint64_t now, uint32_t to) {
    advance(now);
    const uint32_t bits = lane->bits, changed = bits ^ to;
    if (tracks.limit) {
        if (changed & AXL_BIT_COMPUTE) {
            if (bits & AXL_BIT_COMPUTE)
                tracks.add(interval(AXL_TRACK_COMPUTE, lane->compute_since, now));
            lane->compute_since = now;
        }
        auto kind = [](uint32_t b) {
            return b & AXL_BIT_IN_BEAT ? 0u : b & AXL_BIT_IN_VALID ? 1u : b & AXL_BIT_MM2S_BUSY ? 2u : 3u;
        };
        if (kind(bits) != kind(to)) {
            axl_interval_t made = interval(AXL_TRACK_STREAM, lane->in_since, now);
            made.kind = kind(bits);
            made.bytes = made.kind == 0 ? 4ull * lane->beat_words * (now - lane->in_since) : 0;
            if (made.kind < 3)
                tracks.add(made);
            lane->in_since = now;
        }
    }
    constexpr uint32_t BUSY[2] = {AXL_BIT_MM2S_BUSY, AXL_BIT_S2MM_BUSY}, DONE[2] = {AXL_BIT_MM2S_DONE, AXL_BIT_S2MM_DONE};
    for (uint32_t which = 0; which < 2; which++) {
        const bool ended = changed & BUSY[which] & ~to;
        const bool descriptor = bits & DONE[which]; // its last word came in the cycle before this one
        if (ended || descriptor)
            end_transfer(which, now);
        if (descriptor || (changed & BUSY[which] & to))
            lane->channels[which].begin = now;
    }
    lane->bits = to;
    lane->bits_at = now;
    lane->words_in = lane->words_out = 0;
}

void Timeline::end_transfer(uint32_t which, uint64_t now) {
    Channel &channel = lane->channels[which];
    if (!channel.words) // the descriptor's end was the transfer's, or it was reset
        return;
    const uint32_t bytes = static_cast<uint32_t>(4 * channel.words);
    axl_transfer_t &size = sizes[{which, bytes}];
    size.channel = which;
    size.bytes = bytes;
    size.count++;
    size.cycles += now - channel.begin;
    axl_interval_t made = interval(AXL_TRACK_MM2S + which, channel.begin, now);
    made.address = channel.address;
    made.bytes = bytes;
    tracks.add(made);
    channel.words = 0;
}

void Timeline::word_in(Protocol &protocol, uint32_t word) {
    lane->channels[0].words++;
    if (lane->loading && protocol.load_left > 1) { // nearly all words are like this one
        protocol.in_tile();
        lane->words_in++;
        lane->load.hash = mixed(lane->load.hash, word);
        lane->load.words++;
        return;
    }
    bool payload = protocol.loads();
    const Protocol::Op *op = protocol.op;
    size_t action = protocol.action;
    if (!op && protocol.ops.size() == 1 && !protocol.ops[0].has_literal) { // without opcode words all is payload
        op = &protocol.ops[0];
        action = 0;
        payload = op->actions[0].kind == AXL_ACT_LOAD;
    }
    if (payload && !lane->loading) {
        advance(lane->beat_in());
        lane->load = Payload();
        lane->load.begin = lane->beat_in();
        lane->load.name = static_cast<uint32_t>(op - protocol.ops.data()) << 8 | static_cast<uint32_t>(action);
        const axl_action_t &tile = op->actions[action];
        for (uint32_t i = 0; i < tile.n; i++)
            lane->load.hash = mixed(lane->load.hash, protocol.sizes[tile.dim[i]]);
    }
    lane->loading = payload;
    protocol.in(word);
    lane->words_in++;
    if (!payload)
        return;
    lane->load.hash = mixed(lane->load.hash, word);
    lane->load.words++;
    if (protocol.op != op || protocol.action != action)
        end_load(op->actions[action].operand);
}

// The tile is whole: its cycles were needed, or the device had it already.
void Timeline::end_load(const char *operand) {
    advance(lane->beat_in());
    auto found = lane->resident.find(operand);
    const bool again = found != lane->resident.end() && found->second == lane->load.hash;
    lane->resident[operand] = lane->load.hash;
    settle(again ? AXL_HW_LOAD_AGAIN : AXL_HW_LOAD_NEW);
    axl_interval_t made = interval(AXL_TRACK_LOAD, lane->load.begin, lane->beat_in());
    made.kind = again;
    made.name = lane->load.name;
    made.bytes = 4 * lane->load.words;
    tracks.add(made);
}

void Timeline::settle(uint32_t row) {
    lane->loading = false;
    for (uint32_t i = 0; i < AXL_CPU_STATES; i++) {
        profile.cells[row][i] += loading_cells[i];
        loading_cells[i] = 0;
    }
}

// The device has lost its tiles, and what it was sent of the next.
void Timeline::protocol_reset() {
    settle(AXL_HW_LOAD_NEW);
    lane->resident.clear();
    lane->store_left = 0;
}

Protocol::Wrong Timeline::word_out(Protocol &protocol, bool last) {
    lane->channels[1].words++;
    if (!lane->store_left && !protocol.stores.empty()) {
        const Protocol::Store &next = protocol.stores.front();
        lane->store = Payload();
        lane->store.begin = lane->beat_out();
        lane->store.words = lane->store_left = next.left;
        for (const Protocol::Op &op : protocol.ops)
            for (size_t i = 0; op.name == next.opcode && i < op.actions.size(); i++)
                if (op.actions[i].kind == AXL_ACT_STORE && next.operand == op.actions[i].operand)
                    lane->store.name = static_cast<uint32_t>(&op - protocol.ops.data()) << 8 | static_cast<uint32_t>(i);
    }
    Protocol::Wrong wrong = protocol.out(last);
    lane->words_out++;
    if (lane->store_left && --lane->store_left == 0) {
        axl_interval_t made = interval(AXL_TRACK_STORE, lane->store.begin, lane->beat_out());
        made.name = lane->store.name;
        made.bytes = 4 * lane->store.words;
        tracks.add(made);
    }
    return wrong;
}

// ---- laps ------------------------------------------------------------------------------------------------------

void Timeline::lap(uint64_t cycle) {
    account(cycle);
    Lap one;
    one.at = to_fabric(cycle);
    one.functions = functions;
    laps.push_back(std::move(one));
}

// The RTL is there too: what it did until then.
void Timeline::pass(Lap &one) {
    std::copy(&profile.cells[0][0], &profile.cells[0][0] + AXL_HW_STATES * AXL_CPU_STATES, &one.profile.cells[0][0]);
    for (const auto &entry : sizes)
        one.transfers.push_back(entry.second);
}

// ---- the end ---------------------------------------------------------------------------------------------------

const axl_profile_t *Timeline::finish(uint64_t now, uint64_t cycle) {
    account(cycle);
    flush(cycle);
    for (size_t i = 0; i < n_lanes; i++) {
        select(i);
        activity(now, 0); // closes what is open
        settle(AXL_HW_LOAD_NEW); // a tile that stayed half sent
    }
    select(0);
    tracks.add(drawn);
    drawn = axl_interval_t{};
    for (; laps_passed < laps.size(); laps_passed++)
        pass(laps[laps_passed]);
    for (Lap &one : laps) {
        one.profile.functions = one.functions.data();
        one.profile.transfers = one.transfers.data();
        one.profile.n_transfers = one.transfers.size();
    }
    transfers.clear();
    for (const auto &entry : sizes)
        transfers.push_back(entry.second);
    const std::vector<axl_interval_t> &all = tracks.all();
    profile.resolution = tracks.resolution;
    profile.functions = functions.data();
    profile.transfers = transfers.data();
    profile.n_transfers = transfers.size();
    profile.intervals = all.data();
    profile.n_intervals = all.size();
    return &profile;
}

} // namespace axl
