/* Queues of a scatter-gather DMA: tiles travel between matrices and device without a copy by the CPU.
 *
 * Compile with AXL_DMA_SG=1. A driver appends words and rows for the device to the queue, and says where the tiles
 * that come back go. The DMA works through the queue while the driver goes on:
 *
 *     dma_queue_open(16 * 16, add_to_C);
 *     for (...) {
 *         dma_queue_word(0x22);                                      opcode
 *         dma_clean_rows(&A[i][k], 64, 16, 4 * K);                   if nothing did so since A was written
 *         dma_queue_rows(&A[i][k], 64, 16, 4 * K);                   payload, 16 rows of 64 bytes
 *         ...
 *         dma_queue_receive(&C[i][j], 16, 16);                       add_to_C(&C[i][j], tile, 16, 16) once it is here
 *         dma_queue_word(0x28);                                      store C
 *     }
 *     dma_queue_close();
 *
 * Between dma_queue_open and dma_queue_close the windows and the channels belong to the queue. The queue copies
 * nothing: do not write to a matrix before the DMA has read it. After dma_queue_close it has read everything.
 *
 * Macros for the compile line, powers of two from 4 on:
 *     AXL_SEND_RING   descriptors that wait to be sent (default 128; with a coherent port, where they take room in L1, 64)
 *     AXL_RECV_RING   twice the tiles that may be expected at a time (default 64; 32)
 */
#ifndef AXILOOM_SG_H
#define AXILOOM_SG_H

#include "axiloom_copy.h"

#if !AXL_DMA_SG
#error "axiloom_sg.h needs AXL_DMA_SG=1 and a DMA with scatter-gather"
#endif
#ifndef AXL_SEND_RING
#define AXL_SEND_RING (AXL_DMA_COHERENT ? 64u : 128u)
#endif
#ifndef AXL_RECV_RING
#define AXL_RECV_RING (AXL_DMA_COHERENT ? 32u : 64u)
#endif

/* After so many queued words the DMA is told of them. Telling it costs the CPU as long as about 20 words take. */
#define DMA_QUEUE_TELL 1024u

#ifdef __cplusplus
extern "C" {
#endif

/* PG021, "Scatter Gather Descriptor"; `rows` is our extension, in the layout of the multichannel mode. The last
 * eight words are for the application, and the DMA does not read them: single words to be sent are kept there. The
 * upper halves of addresses are for a DMA with more than 32 bits of them; nothing is written there. */
enum { DMA_QUEUE_WORDS = 8 };
typedef struct {
    volatile uint32_t next, next_high;
    volatile uint32_t buffer, buffer_high;
    volatile uint32_t rows, reserved; /* 18:0 bytes from row to row, 31:19 number of rows; 0: one piece */
    volatile uint32_t control;        /* 25:0 bytes (of a row), 26 EOF, 27 SOF */
    volatile uint32_t status;         /* 25:0 bytes, 26 RXEOF, 28 to 30 errors, 31 complete */
    volatile uint32_t words[DMA_QUEUE_WORDS];
} __attribute__((aligned(64))) dma_descriptor;

#define DMA_MAX_STRIDE 524287u
#define DMA_MAX_ROWS 8191u
enum { DMA_EOF = 1u << 26, DMA_SOF = 1u << 27 };

/* Not for drivers, but for the functions below. All counts grow for ever and may wrap. */
typedef struct {
    uint32_t pushed;   /* descriptors filled in */
    uint32_t told;     /* of these, known to the DMA */
    uint32_t done;     /* of these, known to have been sent */
    uint32_t words;    /* queued since the DMA was told, in whole descriptors */
    uint32_t control;  /* of the last descriptor */
    uint32_t linked;   /* descriptors of the ring that know their next one */
    volatile uint32_t *at; /* of the next single word, in the descriptor at `pushed`, which is not filled in yet */
} dma_send_queue;

extern dma_send_queue DMA_EACH(dma_sends);
extern dma_descriptor DMA_EACH(dma_send_ring)[AXL_SEND_RING];
#if AXL_DMAS > 1
#define dma_sends dma_sends_of[dma_now]
#define dma_send_ring dma_send_ring_of[dma_now]
#endif

dma_status dma_queue_make_room(void);
dma_status dma_queue_tell(void);
#if AXL_DMA_COHERENT
dma_status dma_queue_first_word(uint32_t word);
dma_status dma_queue_rows(const void *from, uint32_t row_bytes, uint32_t rows, uint32_t stride);
#else
#include "axiloom_sg_push.h"
#endif

/* Begin. Tiles of `tile_words` words will come back, through slots of the output window. `take` is called for each
 * tile, in order, with its place (see dma_queue_receive). NULL: tiles go straight to memory (dma_queue_receive_rows).
 * Errors: not ready, busy (a transfer or queue is open), bounds (the window is smaller than a tile). */
typedef void dma_take(void *to, const int32_t *tile, uint32_t rows, uint32_t cols);
dma_status dma_queue_open(uint32_t tile_words, dma_take *take);

/* The same for tiles of `rows` rows of `row_bytes` bytes, as they come from the device. Rows of their places begin `stride` bytes
 * apart; 0: these are not in one piece. While the CPU waits, it brings places into the caches. With a coherent port `take`
 * gets a tile in up to `most` parts of whole rows: that pays where the results stay in L1. Errors besides: argument (no
 * `take`). */
dma_status dma_queue_open_ahead(dma_take *take, uint32_t row_bytes, uint32_t rows, uint32_t stride, uint32_t most);

/* Send one word: an opcode or an argument. On a stream wider than a word fill up to a whole beat before rows. */
static inline dma_status dma_queue_word(uint32_t word) {
    if ((uintptr_t)dma_sends.at % (DMA_QUEUE_WORDS * sizeof word) == 0) /* no word is there yet, or no room */
        return dma_queue_first_word(word);
    *dma_sends.at++ = word;
    return DMA_OK;
}

/* Two words, as one call: for long drivers that run through once. */
dma_status dma_queue_pair(uint32_t first, uint32_t second);

/* dma_queue_rows(from, row_bytes, rows, stride): send `rows` rows of `row_bytes` bytes, which begin `stride` bytes apart.
 * All three, and the address, are multiples of the stream's width (checked for the address); at most DMA_MAX_ROWS,
 * DMA_MAX_STRIDE. One row: a plain piece. */

/* Let the DMA see the CPU's writes to these rows. With a coherent port this does nothing. */
#if AXL_DMA_COHERENT
static inline void dma_clean_rows(const void *from, uint32_t row_bytes, uint32_t rows, uint32_t stride) {
    (void)from, (void)row_bytes, (void)rows, (void)stride;
}
#else
void dma_clean_rows(const void *from, uint32_t row_bytes, uint32_t rows, uint32_t stride);
#endif

/* Both for rows that are not `clean` yet, as one call. */
dma_status dma_queue_piece(const void *from, uint32_t row_bytes, uint32_t rows, uint32_t stride, int clean);

/* Send a tile that the CPU packs into the input window, if rows cannot express it: padding, transposition.
 * Arguments as of dma_put_tile_*. */
dma_status dma_queue_tile_i8(const int8_t *src, uint32_t rows, uint32_t cols, ptrdiff_t row_stride,
                             ptrdiff_t col_stride, uint32_t tile_rows, uint32_t tile_cols);
dma_status dma_queue_tile_i16(const int16_t *src, uint32_t rows, uint32_t cols, ptrdiff_t row_stride,
                              ptrdiff_t col_stride, uint32_t tile_rows, uint32_t tile_cols);
dma_status dma_queue_tile_i32(const int32_t *src, uint32_t rows, uint32_t cols, ptrdiff_t row_stride,
                              ptrdiff_t col_stride, uint32_t tile_rows, uint32_t tile_cols);
dma_status dma_queue_tile_u8(const uint8_t *src, uint32_t rows, uint32_t cols, ptrdiff_t row_stride,
                             ptrdiff_t col_stride, uint32_t tile_rows, uint32_t tile_cols);
dma_status dma_queue_tile_f32(const float *src, uint32_t rows, uint32_t cols, ptrdiff_t row_stride,
                              ptrdiff_t col_stride, uint32_t tile_rows, uint32_t tile_cols);

/* The same for rows without gaps in them: only a tile that is not whole is packed. */
#define DMA_QUEUE_MATRIX(KIND, T)                                                                                  \
    static inline dma_status dma_queue_matrix_##KIND(const T *src, uint32_t rows, uint32_t cols,                   \
                                                     ptrdiff_t row_stride, uint32_t tile_rows,                     \
                                                     uint32_t tile_cols) {                                         \
        const uint32_t size = sizeof(T);                                                                           \
        if (rows == tile_rows && cols == tile_cols)                                                                \
            return dma_queue_rows(src, cols * size, rows, (uint32_t)row_stride * size);                            \
        return dma_queue_tile_##KIND(src, rows, cols, row_stride, 1, tile_rows, tile_cols);                        \
    }
DMA_QUEUE_MATRIX(i8, int8_t)
DMA_QUEUE_MATRIX(u8, uint8_t)
DMA_QUEUE_MATRIX(i16, int16_t)
DMA_QUEUE_MATRIX(i32, int32_t)
DMA_QUEUE_MATRIX(f32, float)
#undef DMA_QUEUE_MATRIX

/* The next words in the queue make the device send a tile. take(to, tile, rows, cols) is called when the tile is
 * there, at the latest in dma_queue_close. If no slot is free, this waits for the oldest tile. */
dma_status dma_queue_receive(void *to, uint32_t rows, uint32_t cols);

/* Whole beats, which begin on one. The CPU cleans some while the DMA sends others. */
dma_status dma_queue_bytes(const void *from, uint32_t bytes);

/* Rows without gaps, each filled up to `padded` bytes: as they lie, if they are whole beats and begin on one, else packed. */
AXL_INLINE dma_status dma_queue_array(const void *from, uint32_t row_bytes, uint32_t rows, uint32_t padded) {
    if (row_bytes == padded && (uintptr_t)from % (AXL_STREAM_BITS / 8) == 0)
        return dma_queue_bytes(from, rows * row_bytes);
    return dma_queue_tile_i8((const int8_t *)from, rows, row_bytes, (ptrdiff_t)row_bytes, 1, rows, padded);
}

/* Define a dma_take that adds tiles of tile_rows x tile_cols (row major, mod 2^32) to a matrix, or copies them there.
 * Strides are of the matrix, in elements. */
#define DMA_TAKER_ADD(name, tile_rows, tile_cols, row_stride, col_stride) \
    DMA_TAKER(name, int32_t, axl_add_tile_ahead_i32, tile_rows, tile_cols, row_stride, col_stride)
#define DMA_TAKER_COPY(name, tile_rows, tile_cols, row_stride, col_stride) \
    DMA_TAKER(name, int32_t, axl_get_tile_i32, tile_rows, tile_cols, row_stride, col_stride)
#define DMA_TAKER_COPY_I8(name, tile_rows, tile_cols, row_stride, col_stride) \
    DMA_TAKER(name, int8_t, axl_get_tile_i8, tile_rows, tile_cols, row_stride, col_stride)
#define DMA_TAKER_COPY_U8(name, tile_rows, tile_cols, row_stride, col_stride) \
    DMA_TAKER(name, uint8_t, axl_get_tile_u8, tile_rows, tile_cols, row_stride, col_stride)
#define DMA_TAKER_COPY_I16(name, tile_rows, tile_cols, row_stride, col_stride) \
    DMA_TAKER(name, int16_t, axl_get_tile_i16, tile_rows, tile_cols, row_stride, col_stride)
#define DMA_TAKER_ADD_F32(name, tile_rows, tile_cols, row_stride, col_stride) \
    DMA_TAKER_OF_WORDS(name, float, axl_add_tile_f32, tile_rows, tile_cols, row_stride, col_stride)
#define DMA_TAKER_COPY_F32(name, tile_rows, tile_cols, row_stride, col_stride) \
    DMA_TAKER_OF_WORDS(name, float, axl_get_tile_f32, tile_rows, tile_cols, row_stride, col_stride)
#define DMA_TAKER_OF_WORDS(name, T, how, tile_rows, tile_cols, row_stride, col_stride)            \
    static void name(void *to, const int32_t *tile, uint32_t rows, uint32_t cols) {               \
        how((T *)to, tile, rows, cols, (row_stride), (col_stride), (tile_rows), (tile_cols)); \
    }
#define DMA_TAKER(name, T, how, tile_rows, tile_cols, row_stride, col_stride)                                              \
    static void name(void *to, const int32_t *tile, uint32_t rows, uint32_t cols) {                                        \
        how((T *)to, (const T *)(const void *)tile, rows, cols, (row_stride), (col_stride), (tile_rows), (tile_cols)); \
    }

/* The caller promises that from here to dma_queue_close only the DMA writes to these bytes, and nobody reads them.
 * Then tiles that are received there may share cache lines with each other. The two ends may share cache lines with
 * other data, if nobody writes to those either. At most once a queue, before its first receive. Nor does the CPU write to
 * what the queue sends, but in dma_queue_tile_*: for large results the caches are emptied here, and dma_clean_rows does
 * nothing then. */
dma_status dma_queue_own(void *to, uint32_t bytes);

/* The queue will send `bytes` bytes in place, and the CPU writes to none of them from here to dma_queue_close. If it takes
 * less time, all that the caches hold is cleaned here, and dma_clean_rows does nothing until then. */
dma_status dma_queue_clean_all(uint32_t bytes);

/* As dma_queue_receive, but the DMA writes the tile to its place in memory. Rows begin on cache lines and are whole
 * cache lines, or the caches would mix up the writes of CPU and DMA. After dma_queue_own, rows need only be whole
 * beats of the stream (checked). */
dma_status dma_queue_receive_rows(void *to, uint32_t row_bytes, uint32_t rows, uint32_t stride);

/* A queue in which one packet of `words` words comes back to `count` places: the DMA writes it there, if it is one place of
 * whole cache lines that has no gaps. */
AXL_INLINE dma_status dma_queue_open_rows(dma_rows *places, uint32_t count, uint32_t words) {
    const uint32_t bytes = words * (uint32_t)sizeof(uint32_t);
    const int whole = count == 1 && places->row_bytes == places->padded;
    const int in_place = whole && ((uintptr_t)places->to | bytes) % AXL_CACHE_LINE == 0;
    const dma_status status = dma_queue_open(words, in_place ? NULL : axl_take_rows);
    if (status != DMA_OK)
        return status;
    return in_place ? dma_queue_receive_rows(places->to, bytes, 1, 0) : dma_queue_receive(places, count, 1);
}

/* Everything is sent, every expected tile is taken. */
dma_status dma_queue_close(void);

#ifdef __cplusplus
}
#endif
#endif
