// What a driver does and what it runs on, as Python describes it (cosim/replay/__init__.py has the same fields).
#pragma once

#include <cstdint>

namespace axl {

constexpr int LOOPS = 4, OPERANDS = 4, STAGES = 12;

// How a tile of results gets to its place: see __init__.py.
enum Taken : int32_t { ADDED, COPIED, WRITTEN };

struct Operand {
    int32_t base, element;          // address, and bytes of an element
    int32_t row_stride, col_stride; // elements
    int32_t rows, cols, tile_rows, tile_cols;
    int32_t row_step[LOOPS], col_step[LOOPS]; // tiles that an iteration of each loop moves it by
    int32_t words;                            // of a tile on the stream
    int32_t overlap_rows, overlap_cols;       // a tile over that edge begins earlier
    int32_t taken;                            // see Taken
};

// What one opcode stages for one tile: words of its head, the tile; what the device does then.
struct Stage {
    int32_t level, behind; // loop around it, and whether in front of inner loops or behind
    int32_t head;          // words
    int32_t operand;       // whose tile is sent, or -1
    int32_t compute;       // cycles of the array
    int32_t receives;      // whose tile comes back, or -1
    int32_t moved_by;      // bit l: loop l changes the tile
    int32_t bands, across, lines; // of a result: see drivergen/cost/leaving.py
};

// Loops from outside in. Packets as plan/tree.py has them; with `queued` there are none.
struct Plan {
    int32_t loops, trips[LOOPS];
    int32_t queued;
    int32_t level, count, chunks, apart, copies, parts;
    int32_t tabled; // `queued`, and a table of descriptors
    int32_t operands, stages;
    Operand operand[OPERANDS];
    Stage stage[STAGES];
};

struct Machine {
    double ratio;                               // CPU cycles a fabric cycle
    double access;                              // fabric cycles of an access to a register of the DMA
    double first_word, computes, stores, ended; // fabric cycles of latency: see Device
    double fetch;                               // of a descriptor
    int32_t in, out;                            // addresses of the windows
    int32_t in_words;
    int32_t beat_words;
    int32_t scatter_gather;
};

// What code costs, in CPU cycles apiece without misses of the caches; the index of `counts` as well.
enum Cost {
    START, PACKET, ITERATION, HEAD_WORD, SEND, LOOK, ARM, TAKE,
    PUT, PUT_ROW, PUT_CHUNK,
    EDGE, EDGE_ROW, EDGE_CHUNK, EDGE_REST, EDGE_ZERO, TURNED,
    CLEAN, CLEAN_ROW, CLEAN_LONG_ROW, CLEAN_LONGER_ROW, CLEAN_LINE, DISCARD, DISCARD_LINE,
    ADD, ADD_ROW, ADD_CHUNK, PREFETCH,
    GET, GET_ROW, GET_CHUNK, GET_QUAD, GET_REST, GET_TURNED,
    QUEUE_WORD, QUEUE_ROWS, QUEUE_RECEIVE, TELL, PAD_TILE, PAD_ROW, PAD_WORD, PAD_ZERO,
    TABLE, PIECE, TAKE_TILE,
    COSTS
};

// What the CPU is busy with; `parts` are CPU cycles.
enum Part { OTHER, PUTS, EDGES, CLEANS, ACCESS, POLLS, DISCARDS, ADDS, GETS, END, PARTS };

} // namespace axl
