/* Tables of descriptors (axiloom_table.h). Small problems run through this, and most of their first call is code that comes
 * for the first time: what a call does is short and straight, and what happens once is apart. References are to PG021. */
#include "dma_look.h"

#if TABLES

#define LINE AXL_CACHE_LINE
#define ROWS_FIRST 16u         /* of places, brought before anything else */
#define ROWS_BEHIND 2u
#define PIECES_AHEAD 4u        /* of two a line */
#define PART_BYTES 256u         /* of a part, at least */
#define APART __attribute__((noinline))
#ifdef __clang__
#define SHORT __attribute__((minsize)) /* not unrolled */
#else
#define SHORT
#endif
#define INSIDE inline __attribute__((always_inline))
/* --- waiting ------------------------------------------------------------------------------------------------ */

static struct {
    const dma_descriptor *awaited;
    uint32_t looks;
    const dma_table *table;
    const void *const *arguments;
    const dma_piece *brought, *end; /* whose place is brought next */
    uint32_t row;                   /* of it */
} at __attribute__((aligned(LINE)));

/* A row of the places, into the caches, while there is time; and of what lies behind, which `take` prefetches. */
static APART SHORT void bring_row(void) {
    if (at.brought == at.end)
        return;
    const dma_piece *to = at.brought;
    const char *row = (const char *)at.arguments[to->argument] + to->offset + at.row * at.table->stride;
    for (uint32_t i = 0; i < at.table->row_bytes; i += LINE)
        __builtin_prefetch(row + i, 1);
    if (++at.row >= to->rows + ROWS_BEHIND) {
        at.row = 0;
        at.brought++;
    }
}

static INSIDE dma_status look(int *done) { return dma_descriptor_look(at.awaited, &at.looks, bring_row, done); }

static APART SHORT dma_status wait_for(const dma_channel *channel, const dma_descriptor *descriptor) {
    if (descriptor->status & DMA_COMPLETE)
        return DMA_OK;
    at.awaited = descriptor;
    at.looks = channel->base == S2MM;
    return dma_wait_until(channel, look);
}

/* --- making ready ------------------------------------------------------------------------------------------- */

static inline dma_descriptor *sends_of(const dma_table *t, uint32_t copy) { return t->sends + copy * t->sent_count; }
static inline dma_descriptor *receives_of(const dma_table *t, uint32_t copy) {
    return t->receives + copy * t->receive_count;
}

static INSIDE int moved(const dma_table *t, uint32_t copy, const void *const *arguments) {
    for (uint32_t i = 0; i < t->arguments; i++)
        if (t->armed[copy][i] != arguments[i])
            return 1;
    return 0;
}

/* Addresses in arguments; whether one of them is not a multiple of `unit`. Words stay where they are. */
static INSIDE uint32_t place_some(const dma_table *t, dma_descriptor *to, const dma_piece *pieces, uint32_t count,
                                  const void *const *arguments, uint32_t unit) {
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (pieces[i].argument >= t->arguments)
            continue;
        const uint32_t address = axl_bus((const char *)arguments[pieces[i].argument] + pieces[i].offset);
        wrong |= address & (unit - 1);
        to[i].buffer = address;
    }
    return wrong;
}

static APART SHORT dma_status place(dma_table *t, uint32_t copy, const void *const *arguments) {
    uint32_t wrong = place_some(t, sends_of(t, copy), t->sent, t->sent_count, arguments, AXL_STREAM_BITS / 8);
    if (!t->take)
        wrong |= place_some(t, receives_of(t, copy), t->received, t->received_count, arguments, t->unit);
    for (uint32_t i = 0; i < t->arguments; i++)
        t->armed[copy][i] = wrong ? NULL : arguments[i];
    return wrong ? DMA_ERR_ALIGNMENT : DMA_OK;
}

/* A descriptor that is complete is an error of the DMA. */
static INSIDE void clear(dma_descriptor *some, uint32_t count) {
    for (dma_descriptor *to = some; to < some + count; to++) {
        __builtin_prefetch((const void *)(to + DMA_BRING_AHEAD), 1);
        to->status = 0;
    }
}

/* Both copies are one ring; a descriptor is one line of a Cortex-A9, which comes from memory. */
static INSIDE void fill(dma_descriptor *ring, uint32_t copy, uint32_t number, uint32_t count, uint32_t rows, uint32_t control) {
    dma_descriptor *to = ring + copy * count + number;
    __builtin_prefetch((const void *)(to + DMA_BRING_AHEAD), 1);
    to->next = axl_bus(copy && number == count - 1 ? ring : to + 1);
    to->rows = rows;
    to->control = control;
    to->status = 0;
}

static APART SHORT void fill_copy(dma_table *t, uint32_t copy) {
    for (uint32_t i = 0; i < t->sent_count; i++) {
        __builtin_prefetch(t->sent + i + PIECES_AHEAD);
        const uint32_t ends = (i == 0 ? DMA_SOF : 0) | (i == t->sent_count - 1 ? DMA_EOF : 0);
        fill(t->sends, copy, i, t->sent_count, t->sent[i].rows, t->sent[i].size | ends);
        if (t->sent[i].argument >= t->arguments)
            sends_of(t, copy)[i].buffer = axl_bus((const char *)t->words_at + t->sent[i].offset);
    }
    const uint32_t part_bytes = t->part_words * (uint32_t)sizeof(uint32_t);
    for (uint32_t i = 0; i < t->receive_count; i++)
        if (t->take) {
            fill(t->receives, copy, i, t->receive_count, 0, part_bytes);
            receives_of(t, copy)[i].buffer = axl_bus(dma_out_window.words + i * t->part_words);
        } else {
            fill(t->receives, copy, i, t->receive_count, t->received[i].rows, t->received[i].size);
        }
    t->filled = (int)copy + 1;
}

/* The first copy; the other one follows while the first call waits. */
static APART SHORT dma_status prepare(dma_table *t) {
    if (t->arguments > DMA_TABLE_ARGUMENTS || t->most > DMA_TABLE_PARTS || !t->sent_count || !t->received_count)
        return DMA_ERR_ARGUMENT;
    uint32_t rows = t->rows, parts = 1;
    while (SPINS && t->take && t->stride && 2 * parts <= t->most && rows % 2 == 0 && rows * t->row_bytes >= 2 * PART_BYTES) {
        rows /= 2;
        parts *= 2;
    }
    t->part_rows = rows;
    t->part_words = rows * t->row_bytes / (uint32_t)sizeof(uint32_t);
    t->last_part = parts - 1;
    t->receive_count = t->received_count * parts;
    if (t->take && (uint64_t)t->receive_count * t->part_words > dma_out_window.size) /* each tile has a slot */
        return DMA_ERR_BOUNDS;
    for (uint32_t i = 0; !t->take && i < t->received_count; i++)
        if ((t->received[i].rows | t->received[i].size) & (t->unit - 1) & DMA_MAX_STRIDE)
            return DMA_ERR_ALIGNMENT;
    t->words_at = t->words;
    if (AXL_PROCESS) { /* of which the DMA sees windows and shared arrays alone */
        if (t->word_count > dma_in_window.size)
            return DMA_ERR_BOUNDS;
        for (uint32_t i = 0; i < t->word_count; i++)
            dma_in_window.words[i] = t->words[i];
        t->words_at = dma_in_window.words;
    }
    for (uint32_t i = 0; i < t->arguments; i++)
        t->armed[0][i] = t->armed[1][i] = NULL;
    t->turn = 0;
    t->busy = t->promised = 0;
    fill_copy(t, 0);
    return DMA_OK;
}

/* The DMA is the queue's, or another table's. */
static APART dma_status attach(dma_table *t) {
    if (!dma_in_window.words)
        return DMA_ERR_NOT_READY;
    TRY(prepare(t));
    dma_table_next = t;
    dma_queue_lend();
    return dma_restart();
}

dma_status dma_table_init(dma_table *t, uintptr_t dma_addr, uintptr_t in_addr, uint32_t in_bytes, uintptr_t out_addr,
                          uint32_t out_bytes) {
    dma_table_next = t;
    TRY(dma_init(dma_addr, in_addr, in_bytes, out_addr, out_bytes));
    return prepare(t);
}

/* --- a call ------------------------------------------------------------------------------------------------- */

/* The part of this number is there. */
static INSIDE dma_status came(const dma_table *t, uint32_t number, uint32_t status, uint32_t bytes) {
    if ((status & DMA_BYTES) < bytes)
        return DMA_ERR_SHORT;
    const int ends = (number & t->last_part) == t->last_part;
    if (ends != ((status & DMA_RXEOF) != 0))
        return ends ? DMA_ERR_LONG : DMA_ERR_SHORT;
    return DMA_OK;
}

static __attribute__((noinline)) dma_status wait_for_rows(const dma_table *t, const dma_descriptor *sent, const dma_descriptor *all) {
    for (uint32_t number = 0; number < t->receive_count; number++) {
        if (number == t->receive_count - 1)
            TRY(wait_for(&dma_send_channel, sent));
        TRY(wait_for(&dma_recv_channel, all + number));
        const uint32_t rows = t->received[number].rows >> 19;
        TRY(came(t, number, all[number].status, t->received[number].size * (rows ? rows : 1)));
    }
    __atomic_thread_fence(__ATOMIC_ACQUIRE); /* no word of it was read before */
    return DMA_OK;
}

static APART dma_status take_tiles(const dma_table *t, const dma_descriptor *sent, const dma_descriptor *all,
                             const void *const *arguments) {
    const uint32_t bytes = t->part_words * (uint32_t)sizeof(uint32_t), count = t->receive_count;
    const dma_piece *piece = t->received;
    for (uint32_t number = 0, part = 0; number < count;) {
        const dma_descriptor *from = all + number;
        const int32_t *tile = (const int32_t *)(const void *)dma_out_window.words + number * t->part_words;
        const uint32_t before = part * t->part_rows;
        if (number == count - 1) /* there is time while the last one comes */
            TRY(wait_for(&dma_send_channel, sent));
        __builtin_prefetch((const void *)(from + 1));
        TRY(wait_for(&dma_recv_channel, from));
        for (uint32_t status = from->status; status & DMA_COMPLETE; status = all[number].status) {
            TRY(came(t, number, status, bytes));
            number++, part++;
            if (part > t->last_part || number == count - 1)
                break; /* else several parts at once if the CPU is late */
        }
        __atomic_thread_fence(__ATOMIC_ACQUIRE); /* no word of it was read before */
        for (uint32_t line = 0; line < AHEAD_LINES; line++) /* on its way from L2 */
            __builtin_prefetch((const char *)tile + line * LINE);
        if (at.brought <= piece && part > t->last_part && at.brought != at.end) {
            at.brought = piece + 1;
            at.row = 0;
        }
        const uint32_t end = part * t->part_rows < piece->rows ? part * t->part_rows : piece->rows;
        char *to = (char *)(uintptr_t)arguments[piece->argument] + piece->offset + before * t->stride;
        if (before < end)
            t->take(to, tile, end - before, piece->size);
        if (part > t->last_part) {
            part = 0;
            piece++;
        }
    }
    return DMA_OK;
}

SHORT dma_status dma_table_run(dma_table *t, const void *const *arguments) {
    if (dma_table_now != t)
        TRY(attach(t));
    if (t->busy)
        return DMA_ERR_BUSY;
    const uint32_t copy = t->turn, other = copy ^ 1;
    if (moved(t, copy, arguments)) {
        if (t->promised) { /* that it does not change */
            t->promised = 0;
            dma_write_register(MM2S + AHEADDESC, 0);
        }
        TRY(place(t, copy, arguments));
    }
    t->busy = 1;
    t->turn = other;
    const dma_descriptor *sent = sends_of(t, copy) + t->sent_count - 1, *received = receives_of(t, copy);
    axl_memory_barrier();
    dma_write_register(MM2S + TAILDESC, axl_bus(sent));
    dma_write_register(S2MM + TAILDESC, axl_bus(received + t->receive_count - 1));
    at.table = t;
    at.arguments = arguments;
    at.brought = t->received;
    at.end = t->received + (SPINS && t->take && t->stride ? t->received_count : 0);
    at.row = 0;
    for (uint32_t row = 0; row < ROWS_FIRST; row++)
        bring_row();
    if (t->filled == 1) {
        fill_copy(t, other);
    } else {
        clear(sends_of(t, other), t->sent_count);
        clear(receives_of(t, other), t->receive_count);
    }
    if (moved(t, other, arguments))
        TRY(place(t, other, arguments));
    axl_memory_barrier();
    t->promised = 1;
    dma_write_register(MM2S + AHEADDESC, axl_bus(sends_of(t, other) + t->sent_count - 1)); /* fetched before the next call */
    TRY(t->take ? take_tiles(t, sent, received, arguments) : wait_for_rows(t, sent, received));
    t->busy = 0;
    return DMA_OK;
}

#endif
