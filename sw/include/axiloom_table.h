/* Tables of descriptors: all that a driver sends and receives is known before it runs.
 *
 * For a scatter-gather DMA whose port looks into the caches (AXL_DMA_COHERENT=1). The descriptors of both channels are
 * filled in once, by dma_table_init. A call writes the addresses of arguments that are others than last time, tells each
 * channel once, and takes what comes back:
 *
 *     static const dma_piece sends[] = {
 *         DMA_WORDS(2, 0x1u, 0x1004010u),
 *         DMA_ROWS(0, 64, 16, 4, 32),             4 rows of 16 bytes, 32 apart, from byte 64 of argument 0 on
 *         DMA_WORDS(2, 0x8u, 0x1004010u),
 *     };
 *     static const dma_piece receives[] = {DMA_TILE(1, 0, 16, 16)};
 *     DMA_TABLE(table, sends, receives, 2, .take = add_to_C, .row_bytes = 64, .rows = 16, .stride = 64)
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

/* What a descriptor moves: `words` single words, or rows of an argument (words = 0). */
typedef struct {
    uint32_t words;
    uint32_t word[DMA_QUEUE_WORDS]; /* or argument, offset, row_bytes, rows, stride; of a tile in slots cols for row_bytes */
} dma_piece;

#define DMA_WORDS(count, ...) {(count), {__VA_ARGS__}}
/* Rows that the DMA reads or writes where they are: offset, row_bytes, stride in bytes. */
#define DMA_ROWS(argument, offset, row_bytes, rows, stride) {0, {(argument), (offset), (row_bytes), (rows), (stride)}}
/* A tile that comes into a slot, and that `take` brings to its place: offset in bytes, then as for dma_queue_receive. */
#define DMA_TILE(argument, offset, rows, cols) {0, {(argument), (offset), (cols), (rows)}}

/* The first lines are what a call needs. */
typedef struct {
    dma_descriptor *sends, *receives; /* two copies each, one behind the other */
    uint32_t turn;                    /* the copy that is next */
    uint32_t send_count, receive_count; /* descriptors of a copy */
    uint32_t part_words, parts;       /* a tile comes in so many parts */
    const void *armed[2][DMA_TABLE_ARGUMENTS]; /* what the addresses of each copy belong to */
    uint32_t arguments;
    int busy;
    dma_take *take;                   /* NULL: the DMA writes to the places */
    uint32_t row_bytes, rows, stride; /* of tiles in slots, as for dma_queue_open_ahead */
    uint32_t most;                    /* parts at most */
    uint32_t unit;                    /* places of the DMA's rows are multiples of as many bytes */
    const dma_piece *send_pieces, *receive_pieces;
    uint32_t send_pieces_count, receive_pieces_count;
} dma_table;

#define DMA_TABLE_COUNT(pieces) (sizeof(pieces) / sizeof *(pieces))
/* Linux maps the section so that the DMA finds what is in it. */
#if AXL_LINUX
#define DMA_TABLE_MEMORY __attribute__((section(".axl_uncached"), aligned(64)))
#else
#define DMA_TABLE_MEMORY __attribute__((aligned(64)))
#endif

/* Define a table. Behind the number of arguments come `take` and what belongs to it, or `.unit`. */
#define DMA_TABLE(name, sent, received, count, ...)                                                       \
    static dma_descriptor name##_sends[2 * DMA_TABLE_COUNT(sent)] DMA_TABLE_MEMORY;                      \
    static dma_descriptor name##_receives[2 * DMA_TABLE_PARTS * DMA_TABLE_COUNT(received)] DMA_TABLE_MEMORY; \
    static dma_table name = {.sends = name##_sends,                                                       \
                             .receives = name##_receives,                                                 \
                             .arguments = (count),                                                        \
                             .send_pieces = (sent),                                                       \
                             .receive_pieces = (received),                                                \
                             .send_pieces_count = DMA_TABLE_COUNT(sent),                                  \
                             .receive_pieces_count = DMA_TABLE_COUNT(received),                           \
                             __VA_ARGS__};

/* dma_init, with a table in place of the queue. Errors besides: bounds (the output window is smaller than all tiles). */
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
