/* Tables of descriptors (axiloom_table.h). Small problems run through this, and most of their first call is code that comes
 * for the first time: what a call does is short and straight, and what happens once is apart. References are to PG021. */
#include "dma_look.h"

#if TABLES

#define LINE AXL_CACHE_LINE
#define AHEAD_BYTES (16u << 10) /* half of L1: the places of tiles, beside the tiles themselves */
#define AHEAD_LINES 4u          /* that may be on their way: a Cortex-A9 takes four at a time (its TRM, 7.1) */
#define PART_BYTES 256u         /* of a part, at least */
#define APART static __attribute__((noinline, cold))
#define TRY(call)                             \
    do {                                      \
        const dma_status try_status = (call); \
        if (try_status != DMA_OK)             \
            return try_status;                \
    } while (0)

/* In the second half of a descriptor, which the DMA does not read. */
enum { ARGUMENT, OFFSET, COLS, ROWS };

dma_table *DMA_EACH(dma_table_now), *DMA_EACH(dma_table_next);

/* --- waiting ------------------------------------------------------------------------------------------------ */

static struct {
    const dma_descriptor *awaited;
    uint32_t looks;
    const dma_table *table;
    const void *const *arguments;
    const dma_descriptor *brought, *end; /* whose place is brought next */
    uint32_t row;                        /* of it */
} at __attribute__((aligned(LINE)));

/* A row of the places, into the caches, while there is time. */
static inline void bring_row(void) {
    if (at.brought == at.end)
        return;
    const dma_descriptor *to = at.brought;
    const char *row = (const char *)at.arguments[to->words[ARGUMENT]] + to->words[OFFSET] + at.row * at.table->stride;
    for (uint32_t i = 0; i < at.table->row_bytes; i += LINE)
        __builtin_prefetch(row + i, 1);
    if (++at.row >= to->words[ROWS]) {
        at.row = 0;
        at.brought++;
    }
}

/* As in dma_queue.c: the descriptor first, which stays in L1 until the DMA writes to it; a register now and then. */
static dma_status look(int *done) {
    *done = (at.awaited->status & DMA_COMPLETE) != 0;
    if (*done)
        return DMA_OK;
    uint32_t channel = at.looks++ & 1 ? S2MM : MM2S;
    if (SPINS) {
        bring_row();
        if (at.looks % REGISTER_LOOKS)
            return DMA_OK;
        channel = at.looks & REGISTER_LOOKS ? S2MM : MM2S;
    }
    return dma_read_register(channel + DMASR) & DMASR_ERRORS ? DMA_ERR_HALTED : DMA_OK;
}

static dma_status wait_for(const dma_channel *channel, const dma_descriptor *descriptor) {
    if (descriptor->status & DMA_COMPLETE)
        return DMA_OK;
    at.awaited = descriptor;
    at.looks = channel->base == S2MM;
    return dma_wait_until(channel, look);
}

/* --- making ready ------------------------------------------------------------------------------------------- */

static inline dma_descriptor *sends_of(const dma_table *t, uint32_t copy) { return t->sends + copy * t->send_count; }
static inline dma_descriptor *receives_of(const dma_table *t, uint32_t copy) {
    return t->receives + copy * t->receive_count;
}

static int moved(const dma_table *t, uint32_t copy, const void *const *arguments) {
    for (uint32_t i = 0; i < t->arguments; i++)
        if (t->armed[copy][i] != arguments[i])
            return 1;
    return 0;
}

/* The addresses of what lies in arguments; whether one of them is not a multiple of `unit`. Single words stay where they are. */
static uint32_t place_some(dma_descriptor *some, uint32_t count, const void *const *arguments, uint32_t unit) {
    uint32_t wrong = 0;
    for (dma_descriptor *to = some; to < some + count; to++) {
        if (to->buffer == axl_bus(to->words))
            continue;
        const uint32_t address = axl_bus((const char *)arguments[to->words[ARGUMENT]] + to->words[OFFSET]);
        wrong |= address & (unit - 1);
        to->buffer = address;
    }
    return wrong;
}

static dma_status place(dma_table *t, uint32_t copy, const void *const *arguments) {
    uint32_t wrong = place_some(sends_of(t, copy), t->send_count, arguments, AXL_STREAM_BITS / 8);
    if (!t->take)
        wrong |= place_some(receives_of(t, copy), t->receive_count, arguments, t->unit);
    for (uint32_t i = 0; i < t->arguments; i++)
        t->armed[copy][i] = wrong ? NULL : arguments[i];
    return wrong ? DMA_ERR_ALIGNMENT : DMA_OK;
}

/* A descriptor that is complete is an error of the DMA. */
static inline void clear(dma_descriptor *some, uint32_t count) {
    for (dma_descriptor *to = some; to < some + count; to++) {
        __builtin_prefetch((const void *)(to + DMA_BRING_AHEAD), 1);
        to->status = 0;
    }
}

/* Both copies are one ring. */
static void fill(dma_descriptor *ring, uint32_t number, uint32_t count, uint32_t address, uint32_t rows, uint32_t control) {
    for (uint32_t copy = 0; copy < 2; copy++) {
        dma_descriptor *to = ring + copy * count + number;
        to->next = axl_bus(copy && number == count - 1 ? ring : to + 1);
        to->buffer = address;
        to->rows = rows;
        *(volatile uint64_t __attribute__((may_alias)) *)&to->control = control;
    }
}

static void fill_sends(dma_table *t) {
    const uint32_t count = t->send_count = t->send_pieces_count;
    for (uint32_t i = 0; i < count; i++) {
        const dma_piece *piece = t->send_pieces + i;
        const uint32_t ends = (i == 0 ? DMA_SOF : 0) | (i == count - 1 ? DMA_EOF : 0), rows = piece->word[3];
        if (piece->words)
            fill(t->sends, i, count, 0, 0, piece->words * (uint32_t)sizeof(uint32_t) | ends);
        else
            fill(t->sends, i, count, 0, rows == 1 ? 0 : rows << 19 | piece->word[4], piece->word[2] | ends);
        for (uint32_t copy = 0; copy < 2; copy++) {
            dma_descriptor *to = sends_of(t, copy) + i;
            for (uint32_t w = 0; w < DMA_QUEUE_WORDS; w++)
                to->words[w] = piece->word[w];
            if (piece->words)
                to->buffer = axl_bus(to->words);
        }
    }
}

static void fill_places(dma_table *t) {
    const uint32_t count = t->receive_count = t->receive_pieces_count;
    for (uint32_t i = 0; i < count; i++) {
        const dma_piece *piece = t->receive_pieces + i;
        const uint32_t rows = piece->word[3];
        fill(t->receives, i, count, 0, rows == 1 ? 0 : rows << 19 | piece->word[4], piece->word[2]);
        for (uint32_t copy = 0; copy < 2; copy++)
            for (uint32_t w = 0; w <= ROWS; w++)
                receives_of(t, copy)[i].words[w] = piece->word[w];
    }
}

/* Each tile has a slot of its own. */
static dma_status fill_slots(dma_table *t) {
    uint32_t rows = t->rows, parts = 1;
    while (SPINS && t->stride && 2 * parts <= t->most && rows % 2 == 0 && rows * t->row_bytes >= 2 * PART_BYTES) {
        rows /= 2;
        parts *= 2;
    }
    const uint32_t part_bytes = rows * t->row_bytes;
    t->parts = parts;
    t->part_words = part_bytes / (uint32_t)sizeof(uint32_t);
    const uint32_t count = t->receive_count = t->receive_pieces_count * parts;
    if ((uint64_t)count * t->part_words > dma_out_window.size)
        return DMA_ERR_BOUNDS;
    for (uint32_t i = 0; i < count; i++) {
        const dma_piece *piece = t->receive_pieces + i / parts;
        const uint32_t before = i % parts * rows, left = piece->word[3] > before ? piece->word[3] - before : 0;
        fill(t->receives, i, count, axl_bus(dma_out_window.words + i * t->part_words), 0, part_bytes);
        for (uint32_t copy = 0; copy < 2; copy++) {
            dma_descriptor *to = receives_of(t, copy) + i;
            to->words[ARGUMENT] = piece->word[0];
            to->words[OFFSET] = piece->word[1] + before * t->stride;
            to->words[COLS] = piece->word[2];
            to->words[ROWS] = left < rows || i % parts == parts - 1 ? left : rows;
        }
    }
    return DMA_OK;
}

APART dma_status filled(dma_table *t) {
    if (t->arguments > DMA_TABLE_ARGUMENTS || t->most > DMA_TABLE_PARTS || !t->send_pieces_count || !t->receive_pieces_count)
        return DMA_ERR_ARGUMENT;
    t->parts = 1;
    fill_sends(t);
    if (t->take)
        TRY(fill_slots(t));
    else
        fill_places(t);
    for (uint32_t copy = 0; copy < 2; copy++)
        for (uint32_t i = 0; i < t->arguments; i++)
            t->armed[copy][i] = NULL;
    t->turn = 0;
    t->busy = 0;
    return DMA_OK;
}

/* The DMA is the queue's, or another table's. */
APART dma_status attach(dma_table *t) {
    if (!dma_in_window.words)
        return DMA_ERR_NOT_READY;
    TRY(filled(t));
    dma_table_next = t;
    return dma_restart();
}

dma_status dma_table_init(dma_table *t, uintptr_t dma_addr, uintptr_t in_addr, uint32_t in_bytes, uintptr_t out_addr,
                          uint32_t out_bytes) {
    dma_table_next = t;
    TRY(dma_init(dma_addr, in_addr, in_bytes, out_addr, out_bytes));
    return filled(t);
}

/* --- a call ------------------------------------------------------------------------------------------------- */

static dma_status came(const dma_table *t, uint32_t number, uint32_t status, uint32_t bytes) {
    if ((status & DMA_BYTES) < bytes)
        return DMA_ERR_SHORT;
    const int ends = ((number + 1) & (t->parts - 1)) == 0;
    if (ends != ((status & DMA_RXEOF) != 0))
        return ends ? DMA_ERR_LONG : DMA_ERR_SHORT;
    return DMA_OK;
}

static dma_status take_all(const dma_table *t, const dma_descriptor *sent, const dma_descriptor *all,
                           const void *const *arguments) {
    const uint32_t bytes = t->part_words * (uint32_t)sizeof(uint32_t);
    for (uint32_t number = 0; number < t->receive_count;) {
        const dma_descriptor *from = all + number;
        if (number == t->receive_count - 1) /* there is time while the last one comes */
            TRY(wait_for(&dma_send_channel, sent));
        __builtin_prefetch((const void *)(from + 1));
        TRY(wait_for(&dma_recv_channel, from));
        const int32_t *tile = (const int32_t *)(const void *)dma_out_window.words + number * t->part_words;
        if (t->take) /* on its way from L2 */
            for (uint32_t line = 0; line < AHEAD_LINES; line++)
                __builtin_prefetch((const char *)tile + line * LINE);
        __atomic_thread_fence(__ATOMIC_ACQUIRE); /* no word of it was read before */
        uint32_t rows = from->words[ROWS];
        TRY(came(t, number, from->status, t->take ? bytes : rows * from->words[COLS]));
        number++;
        if (!t->take)
            continue;
        for (; number & (t->parts - 1) && all[number].status & DMA_COMPLETE; number++) { /* the CPU is late */
            if (number == t->receive_count - 1)
                TRY(wait_for(&dma_send_channel, sent));
            TRY(came(t, number, all[number].status, bytes));
            rows += all[number].words[ROWS];
        }
        if (at.brought < all + number && at.brought != at.end) {
            at.brought = all + number;
            at.row = 0;
        }
        if (rows)
            t->take((char *)(uintptr_t)arguments[from->words[ARGUMENT]] + from->words[OFFSET], tile, rows, from->words[COLS]);
    }
    return DMA_OK;
}

dma_status dma_table_run(dma_table *t, const void *const *arguments) {
    if (dma_table_now != t)
        TRY(attach(t));
    if (t->busy)
        return DMA_ERR_BUSY;
    const uint32_t copy = t->turn;
    if (moved(t, copy, arguments))
        TRY(place(t, copy, arguments));
    t->busy = 1;
    t->turn = copy ^ 1;
    const dma_descriptor *sent = sends_of(t, copy) + t->send_count - 1, *received = receives_of(t, copy);
    axl_memory_barrier();
    dma_write_register(MM2S + TAILDESC, axl_bus(sent));
    dma_write_register(S2MM + TAILDESC, axl_bus(received + t->receive_count - 1));
    at.table = t;
    at.arguments = arguments;
    at.brought = received;
    at.end = SPINS && t->take && t->stride ? received + t->receive_count : received;
    at.row = 0;
    clear(sends_of(t, copy ^ 1), t->send_count);
    clear(receives_of(t, copy ^ 1), t->receive_count);
    if (moved(t, copy ^ 1, arguments))
        TRY(place(t, copy ^ 1, arguments));
    TRY(take_all(t, sent, received, arguments));
    t->busy = 0;
    return DMA_OK;
}

#endif
