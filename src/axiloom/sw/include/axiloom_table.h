/* Tables of descriptors: all that a driver sends and receives is known before it runs.
 *
 * For a scatter-gather DMA whose port looks into the caches (AXL_DMA_COHERENT=1). The descriptors of both channels are
 * filled in once, by dma_table_init. A call writes the addresses of arguments that are others than last time, tells each
 * channel once, and takes what comes back:
 *
 *     static const uint32_t words[] AXL_BEATS = {0x1u, 0x1004010u, 0x8u, 0x1004010u};
 *     static const dma_piece sent[] = {
 *         DMA_ROWS(2, 0, 8, 1, 8),                two of the words, which count as the argument behind the others
 *         DMA_ROWS(0, 64, 16, 4, 32),             4 rows of 16 bytes, 32 apart, from byte 64 of argument 0 on
 *         DMA_ROWS(2, 8, 8, 1, 8),
 *     };
 *     static const dma_piece received[] = {DMA_TILE(1, 0, 16, 16)};
 *     DMA_TABLE(table, 2, words, sent, received, .take = add_to_C, .row_bytes = 64, .rows = 16, .stride = 64)
 *
 *     dma_table_init(&table, ...);                 in place of dma_init
 *     dma_table_run(&table, (const void *const[]){A, C});
 *
 * There are two copies of each descriptor. Calls use them in turns, so that TAILDESC has another value each time, and
 * while the CPU waits for results it makes the other copy ready for the next call. */
#ifndef AXILOOM_TABLE_H
#define AXILOOM_TABLE_H

#include "axiloom_sg.h"

#if !AXL_DMA_COHERENT
#error "axiloom_table.h needs a DMA whose port looks into the caches (AXL_DMA_COHERENT=1)"
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum { DMA_TABLE_ARGUMENTS = 8, DMA_TABLE_PARTS = 4 };

/* What a descriptor moves: rows of an argument, as the descriptor has them; or a tile, which comes into a slot, and its place. */
typedef struct {
    uint32_t argument, offset; /* bytes */
    uint32_t rows;             /* 18:0 bytes from row to row, 31:19 number of rows, 0: one piece; of a tile: rows */
    uint32_t size;             /* bytes of a row; of a tile: columns */
} dma_piece;

/* Rows that the DMA reads or writes where they are. Offset, row_bytes and stride in bytes. */
#define DMA_ROWS(argument, offset, row_bytes, rows, stride) \
    {(argument), (offset), (rows) == 1 ? 0u : (uint32_t)(rows) << 19 | (stride), (row_bytes)}
/* A tile that `take` brings to its place: offset in bytes, then as for dma_queue_receive. */
#define DMA_TILE(argument, offset, rows, cols) {(argument), (offset), (rows), (cols)}

typedef struct {
    dma_descriptor *sends, *receives;   /* two copies each, one behind the other */
    const dma_piece *sent, *received;
    uint32_t sent_count, received_count; /* pieces */
    const uint32_t *words;
    uint32_t word_count;
    uint32_t arguments;
    dma_take *take;                     /* NULL: the DMA writes to the places */
    uint32_t row_bytes, rows, stride;   /* of tiles in slots, as for dma_queue_open_ahead */
    uint32_t most;                      /* parts at most */
    uint32_t unit;                      /* places of the DMA's rows are multiples of as many bytes */
    /* What dma_table_init adds. */
    const uint32_t *words_at;           /* where the DMA reads them */
    uint32_t turn;                      /* the copy that is next */
    uint32_t receive_count;             /* descriptors of a copy, one a part */
    uint32_t part_words, part_rows, last_part; /* parts of a tile but one: a power of two but one */
    int filled, promised, busy;
    const void *armed[2][DMA_TABLE_ARGUMENTS]; /* what the addresses of each copy belong to */
} dma_table;

#define AXL_BEATS __attribute__((aligned(16))) /* the widest stream */
#define DMA_TABLE_COUNT(pieces) (sizeof(pieces) / sizeof *(pieces))
/* Linux maps the section so that the DMA finds what is in it. */
#if AXL_LINUX
#define DMA_TABLE_MEMORY __attribute__((section(".axl_uncached"), aligned(64)))
#else
#define DMA_TABLE_MEMORY __attribute__((aligned(64)))
#endif

/* Define a table of pieces of `count` arguments. Behind come `take` and what belongs to it, or `.unit`. */
#define DMA_TABLE(name, count, single_words, pieces_sent, pieces_received, ...)                               \
    static dma_descriptor name##_sends[2 * DMA_TABLE_COUNT(pieces_sent)] DMA_TABLE_MEMORY;                    \
    static dma_descriptor name##_receives[2 * DMA_TABLE_PARTS * DMA_TABLE_COUNT(pieces_received)] DMA_TABLE_MEMORY; \
    static dma_table name __attribute__((aligned(64))) = {.sends = name##_sends,                              \
                                                          .receives = name##_receives,                        \
                                                          .sent = (pieces_sent),                              \
                                                          .received = (pieces_received),                      \
                                                          .sent_count = DMA_TABLE_COUNT(pieces_sent),         \
                                                          .received_count = DMA_TABLE_COUNT(pieces_received), \
                                                          .words = (single_words),                            \
                                                          .word_count = DMA_TABLE_COUNT(single_words),        \
                                                          .arguments = (count),                               \
                                                          __VA_ARGS__};

/* dma_init, with a table in place of the queue. Errors besides: bounds (the output window is smaller than all
 * tiles; in a process, the input window than the words, which it holds there). */
dma_status dma_table_init(dma_table *table, uintptr_t dma_addr, uintptr_t in_addr, uint32_t in_bytes, uintptr_t out_addr,
                          uint32_t out_bytes);

/* Send and receive all of it once. If the DMA belongs to another table or to a queue, it is reset first.
 * Errors: not ready, busy (a call has failed since dma_table_init), alignment (an argument is not on a beat, or a place not on
 * a multiple of `unit`), and those of the DMA. */
dma_status dma_table_run(dma_table *table, const void *const *arguments);

#ifdef __cplusplus
}
#endif
#endif
