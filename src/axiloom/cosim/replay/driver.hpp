// What all drivers do: CPU code with its cost, caches, and copies between matrices and windows.
//
// The caches are the simulator's own (native/memory/memory.hpp), with the same replacement and the same latencies, and see
// the same lines in the same order. What code costs besides is `cost` times how often it runs.
#pragma once

#include <algorithm>
#include <cmath>

#include "device.hpp"
#include "memory/memory.hpp"
#include "plan.hpp"

namespace axl {

constexpr uint32_t LINE_SHIFT = 5; // of a Cortex-A9, for which these drivers are
constexpr uint32_t LINE_BYTES = 1u << LINE_SHIFT;
constexpr uint32_t REGISTER = 16; // bytes of NEON's
constexpr double COPY_SHARE = 0.5; // of what adding costs: two accesses in place of three and a sum

class Driver {
  public:
    Driver(const Plan &p, const Machine &m, const axl_config &board, const double *costs, double *n, double *parts_)
        : plan(p), machine(m), device(m), cost(costs), counts(n), parts(parts_) {
        axl_config lines = board;
        lines.line_bytes = LINE_BYTES;
        memory.configure(lines);
        memory.reset();
        memory.turn_l2(true);
    }

    // CPU cycles; what was written last has to leave the caches. Negative: the driver would wait for ever, so that
    // something is not as it was planned.
    double finish() {
        if (stuck)
            return -1;
        enter(END);
        uint64_t dirty = 0;
        for (const Cache *cache : {&memory.l1d, &memory.l2})
            for (uint8_t state : cache->states)
                dirty += state & DIRTY;
        base += static_cast<double>(dirty) * memory.config.writeback_cycles;
        enter(OTHER);
        return now();
    }

    // CPU cycles until now, of all calls.
    double elapsed() const { return now(); }

    // The next call finds the caches and the rings as this one leaves them; all that it sent and named has ended.
    void again() { first = false; }

  protected:
    const Plan &plan;
    const Machine &machine;
    Memory memory;
    Device device;
    bool stuck = false;

    // ---- time

    double now() const { return base + static_cast<double>(memory.penalty); }
    double fabric() const { return std::ceil(now() / machine.ratio); }

    void pay(Cost what, double times = 1) {
        counts[what] += times;
        base += cost[what] * times;
    }

    // The start of the program, and of code that is in no cache yet: later calls have neither.
    void begin() {
        if (first)
            pay(plan.tabled ? TABLE : START);
    }

    // From now on the time is spent with `next`; returns what it was before.
    Part enter(Part next) {
        const Part before = part;
        parts[part] += now() - mark;
        mark = now();
        part = next;
        return before;
    }

    // A register of the DMA: the CPU waits for it. Returns the fabric cycle in which it was read or written.
    double access() {
        const double begin = fabric();
        wait_until(begin + machine.access);
        synchronised = now();
        return begin + machine.access / 2;
    }

    // Does the CPU see in memory what the DMA did in `cycle`? The simulated hardware lags behind the CPU, up to a
    // quantum, until that reads or writes a register.
    bool sees(double cycle) const {
        const double quantum = memory.config.quantum_cycles;
        const double quanta = quantum > 0 ? std::floor((now() - synchronised) / quantum) * quantum : now() - synchronised;
        return cycle * machine.ratio <= synchronised + quanta;
    }

    void wait_until(double cycle) { base = std::max(base, cycle * machine.ratio - static_cast<double>(memory.penalty)); }

    // Polls, of which each takes `period` fabric cycles, up to the one that sees what happens in `cycle`.
    void poll_until(double cycle, double period) {
        const Part before = enter(POLLS);
        const double left = cycle - (fabric() + machine.access / 2);
        if (left > 0)
            wait_until(fabric() + std::ceil(left / period) * period);
        enter(before);
    }

    // ---- caches

    void touch(uint32_t address, bool write) {
        const uint32_t line = address >> LINE_SHIFT;
        if (memory.preloads.any())
            memory.wait_for_preloads(line, static_cast<uint64_t>(now()));
        write ? memory.store(line) : memory.load(line);
    }

    void touch_all(uint32_t address, uint32_t bytes, bool write) {
        const uint32_t last = (address + bytes - 1) >> LINE_SHIFT;
        for (uint32_t line = address >> LINE_SHIFT; line <= last; line++)
            touch(line << LINE_SHIFT, write);
    }

    // As axl_cache_clean_rows, axl_cache_discard_rows: L1 whole, then L2; returns the lines.
    uint32_t maintain(uint32_t address, uint32_t row_bytes, uint32_t rows, uint32_t stride, uint32_t operation) {
        uint32_t found = 0;
        for (const bool first : {true, false})
            for (uint32_t r = 0; r < rows; r++) {
                const uint32_t row = address + r * stride, end = (row + row_bytes + LINE_BYTES - 1) >> LINE_SHIFT;
                for (uint32_t line = row >> LINE_SHIFT; line < end; line++, found += first)
                    first ? memory.l1_line(line, operation) : memory.l2_line(line, operation);
            }
        return found;
    }

    // The port looks into the caches: nothing is maintained.
    bool coherent() const { return memory.config.dma_coherent != 0; }

    // The DMA reads rows, or writes some, through such a port, about when the CPU tells it to.
    void dma(uint32_t address, uint32_t row_bytes, uint32_t rows, uint32_t stride, bool writes) {
        for (uint32_t r = 0; coherent() && r < rows; r++) {
            const uint32_t row = address + r * stride, last = (row + row_bytes - 1) >> LINE_SHIFT;
            for (uint32_t line = row >> LINE_SHIFT; line <= last; line++)
                writes ? void(memory.dma_write(line)) : void(memory.dma_read(line));
        }
    }

    void clean(uint32_t address, uint32_t row_bytes, uint32_t rows = 1, uint32_t stride = 0) {
        if (coherent())
            return;
        const Part before = enter(CLEANS);
        pay(CLEAN);
        const uint32_t lines = maintain(address, row_bytes, rows, stride, Memory::CLEAN);
        // The branch predictor remembers eight branches: it does not see the end of longer rows coming.
        const uint32_t a_row = lines / std::max(rows, 1u);
        pay(a_row > 9 ? CLEAN_LONGER_ROW : a_row > 6 ? CLEAN_LONG_ROW : CLEAN_ROW, rows);
        pay(CLEAN_LINE, lines);
        enter(before);
    }

    void discard(uint32_t address, uint32_t bytes) {
        if (coherent())
            return dma(address, bytes, 1, 0, true);
        const Part before = enter(DISCARDS);
        pay(DISCARD);
        pay(DISCARD_LINE, maintain(address, bytes, 1, 0, Memory::INVALIDATE));
        enter(before);
    }

    // ---- tiles

    struct Tile {
        uint32_t address;
        int32_t rows, cols;
        bool whole;
    };

    Tile tile(const Operand &o, const int32_t *at) const {
        int32_t row = 0, col = 0;
        for (int l = 0; l < plan.loops; l++) {
            row += at[l] * o.row_step[l] * o.tile_rows;
            col += at[l] * o.col_step[l] * o.tile_cols;
        }
        row = o.overlap_rows ? std::min(row, o.rows - o.tile_rows) : row;
        col = o.overlap_cols ? std::min(col, o.cols - o.tile_cols) : col;
        const int32_t rows = std::min(o.tile_rows, o.rows - row), cols = std::min(o.tile_cols, o.cols - col);
        const int32_t offset = o.element * (row * o.row_stride + col * o.col_stride);
        const bool whole = rows == o.tile_rows && cols == o.tile_cols && o.col_stride == 1;
        return {static_cast<uint32_t>(o.base + offset), rows, cols, whole};
    }

    // axl_put_tile_*: `to` is where it goes in the window.
    void put(const Operand &o, const int32_t *at, uint32_t to) {
        const Tile t = tile(o, at);
        const uint32_t row_bytes = static_cast<uint32_t>(o.tile_cols * o.element);
        const uint32_t stride = static_cast<uint32_t>(o.row_stride * o.element);
        if (!t.whole) {
            put_edge(o, t, to);
            return;
        }
        const Part before = enter(PUTS);
        pay(PUT);
        pay(PUT_ROW, o.tile_rows);
        pay(PUT_CHUNK, o.tile_rows * row_bytes / static_cast<double>(LINE_BYTES));
        for (int32_t r = 0; r < o.tile_rows; r++, to += row_bytes)
            for (uint32_t done = 0; done < row_bytes; done += LINE_BYTES) {
                const uint32_t bytes = std::min(LINE_BYTES, row_bytes - done);
                touch_all(t.address + static_cast<uint32_t>(r) * stride + done, bytes, false);
                touch_all(to + done, bytes, true);
            }
        enter(before);
    }

    // axl_add_tile_i32; `place`: as axl_add_tile_ahead_i32, which prefetches the place in the matrix too.
    void add(const Operand &o, const int32_t *at, uint32_t from, bool place) {
        const Tile t = tile(o, at);
        if (!t.whole) {
            get_edge(o, t, from);
            return;
        }
        const Part before = enter(ADDS);
        const bool adds = o.taken == ADDED;
        const double share = adds ? 1 : COPY_SHARE;
        pay(ADD);
        const uint32_t bytes = static_cast<uint32_t>(o.tile_cols * o.element), stride = static_cast<uint32_t>(o.row_stride * o.element);
        const int32_t ahead = rows_ahead(bytes);
        const auto prefetch = [&](int32_t row) {
            fetch(from + static_cast<uint32_t>(row) * bytes, bytes);
            if (place)
                fetch(t.address + static_cast<uint32_t>(row) * stride, bytes);
        };
        for (int32_t r = 0; r < ahead && r < o.tile_rows; r++)
            prefetch(r);
        // The simulator pays for a basic block as it enters it. The compiler peels the last rows off, so that the
        // others prefetch in the block that adds; but not from short rows, nor long ones. Very long ones are a loop.
        const int32_t chunks = std::max(1, static_cast<int32_t>(bytes / LINE_BYTES));
        const bool together = chunks > 2 && chunks <= 10, looped = chunks > 24;
        for (int32_t r = 0; r < o.tile_rows; r++) {
            pay(ADD_ROW);
            if (together)
                pay(ADD_CHUNK, chunks * share);
            if (r + ahead < o.tile_rows)
                prefetch(r + ahead);
            if (!together && !looped)
                pay(ADD_CHUNK, chunks * share);
            const uint32_t to = t.address + static_cast<uint32_t>(r) * stride, source = from + static_cast<uint32_t>(r) * bytes;
            for (uint32_t done = 0; done < bytes; done += LINE_BYTES) {
                if (looped)
                    pay(ADD_CHUNK, share);
                const uint32_t now_bytes = std::min(LINE_BYTES, bytes - done);
                if (adds)
                    touch_all(to + done, now_bytes, false);
                touch_all(source + done, now_bytes, false);
                touch_all(to + done, now_bytes, true);
            }
        }
        enter(before);
    }

    // dma_put_tile_*: by memcpy and memset, as queues pack what they cannot read in place.
    void pad(const Operand &o, const int32_t *at, uint32_t to) {
        const Tile t = tile(o, at);
        const Part before = enter(EDGES);
        const uint32_t row_bytes = static_cast<uint32_t>(o.tile_cols * o.element), used = static_cast<uint32_t>(t.cols * o.element);
        pay(PAD_TILE);
        pay(PAD_ROW, t.rows);
        pay(PAD_WORD, t.rows * used / 4.0);
        pay(PAD_ZERO, o.words - t.rows * used / 4.0);
        for (int32_t r = 0; r < o.tile_rows; r++, to += row_bytes) {
            const uint32_t from = t.address + static_cast<uint32_t>(r * o.row_stride * o.element);
            for (uint32_t done = 0; r < t.rows && done < used; done += LINE_BYTES) {
                const uint32_t bytes = std::min(LINE_BYTES, used - done);
                touch_all(from + done, bytes, false);
                touch_all(to + done, bytes, true);
            }
            touch_all(to, row_bytes, true);
        }
        enter(before);
    }

    static int32_t rows_ahead(uint32_t bytes) {
        return bytes >= 4 * LINE_BYTES ? 1 : static_cast<int32_t>(4 * LINE_BYTES / bytes);
    }

    void fetch(uint32_t address, uint32_t bytes) {
        for (uint32_t done = 0; done < bytes; done += LINE_BYTES) {
            pay(PREFETCH);
            memory.preload((address + done) >> LINE_SHIFT, static_cast<uint64_t>(now()));
        }
    }

    bool first = true; // of the calls

  private:
    const double *cost;
    double *counts, *parts;
    double base = 0; // CPU cycles without those of `memory`
    double mark = 0, synchronised = 0;
    Part part = OTHER;

    // axl_put_edge_*: a row is zeroed, then what there is comes over it, in chunks of two registers, of one, and one
    // that ends with the row; less than half a register goes by bytes.
    void put_edge(const Operand &o, const Tile &t, uint32_t to) {
        const Part before = enter(EDGES);
        const uint32_t row_bytes = static_cast<uint32_t>(o.tile_cols * o.element), used = static_cast<uint32_t>(t.cols * o.element);
        const uint32_t half = REGISTER / 2, chunks = used / (2 * REGISTER) + (used % (2 * REGISTER) >= REGISTER) + (used % REGISTER != 0);
        const int32_t below = o.tile_rows - t.rows;
        pay(EDGE);
        pay(EDGE_ROW, t.rows);
        pay(EDGE_ZERO, ((used != row_bytes ? t.rows : 0) + below) * row_bytes / static_cast<double>(REGISTER));
        if (o.col_stride != 1)
            pay(TURNED, t.rows * t.cols);
        else
            used >= half ? pay(EDGE_CHUNK, t.rows * static_cast<int32_t>(used < REGISTER ? 1 : chunks))
                         : pay(EDGE_REST, t.rows * static_cast<int32_t>(used));
        for (int32_t r = 0; r < t.rows; r++, to += row_bytes) {
            if (used != row_bytes)
                touch_all(to, row_bytes, true);
            const uint32_t from = t.address + static_cast<uint32_t>(r * o.row_stride * o.element);
            if (o.col_stride != 1) {
                turned(o, t.cols, from, to);
                continue;
            }
            for (uint32_t done = 0; done < used; done += LINE_BYTES) {
                const uint32_t bytes = std::min(LINE_BYTES, used - done);
                touch_all(from + done, bytes, false);
                touch_all(to + done, bytes, true);
            }
        }
        if (below)
            touch_all(to, static_cast<uint32_t>(below) * row_bytes, true);
        enter(before);
    }

    // Elements of a row that are no neighbours in the matrix.
    void turned(const Operand &o, int32_t cols, uint32_t from, uint32_t to) {
        uint32_t source = ~0u, target = ~0u;
        for (int32_t c = 0; c < cols; c++) {
            const uint32_t read = from + static_cast<uint32_t>(c * o.col_stride * o.element);
            const uint32_t written = to + static_cast<uint32_t>(c * o.element);
            if (read >> LINE_SHIFT != source)
                touch(read, false);
            if (written >> LINE_SHIFT != target)
                touch(written, true);
            source = read >> LINE_SHIFT;
            target = written >> LINE_SHIFT;
        }
    }

    // axl_get_edge: rows as axl_add_tile_i32 adds them, or element by element.
    void get_edge(const Operand &o, const Tile &t, uint32_t from) {
        const Part before = enter(GETS);
        const uint32_t pitch = static_cast<uint32_t>(o.tile_cols) * 4, bytes = static_cast<uint32_t>(t.cols) * 4;
        pay(GET);
        pay(GET_ROW, t.rows);
        if (o.col_stride == 1) {
            pay(GET_CHUNK, t.rows * (t.cols / 8));
            pay(GET_QUAD, t.rows * (t.cols % 8 / 4));
            pay(GET_REST, t.rows * (t.cols % 4));
        } else
            pay(GET_TURNED, t.rows * t.cols);
        const int32_t ahead = o.col_stride != 1 ? 0 : rows_ahead(bytes);
        for (int32_t r = 0; r < ahead && r < t.rows; r++)
            fetch(from + static_cast<uint32_t>(r) * pitch, bytes);
        for (int32_t r = 0; r < t.rows; r++, from += pitch) {
            if (ahead && r + ahead < t.rows)
                fetch(from + static_cast<uint32_t>(ahead) * pitch, bytes);
            const uint32_t to = t.address + static_cast<uint32_t>(r * o.row_stride) * 4;
            uint32_t source = ~0u, target = ~0u;
            for (int32_t c = 0; c < t.cols; c++) {
                const uint32_t read = from + static_cast<uint32_t>(c) * 4;
                const uint32_t written = to + static_cast<uint32_t>(c * o.col_stride) * 4;
                if (written >> LINE_SHIFT != target)
                    touch(written, true);
                if (read >> LINE_SHIFT != source)
                    touch(read, false);
                source = read >> LINE_SHIFT;
                target = written >> LINE_SHIFT;
            }
        }
        enter(before);
    }
};

} // namespace axl
