/* The host's side of a stream accelerator behind a Xilinx AXI DMA (PG021, simple mode or scatter-gather).
 *
 * One DMA, one window of memory each way. A driver puts words into the input window, starts a transfer of a
 * part of it, and gets words back from the output window:
 *
 *     dma_put_word(0x22, 0);                                          opcode
 *     dma_put_tile_i32(&A[i][k], rows, cols, K, 1, 16, 16, 1);         payload
 *     dma_start_send(1 + 16 * 16, 0);
 *     dma_wait_send();
 *
 * Lengths and offsets are in 32-bit words. Every function checks its bounds and returns a status; none waits
 * for ever if AXL_TIMEOUT_US is given. The input window belongs to the CPU until dma_start_send and again after
 * dma_wait_send, the output window after dma_wait_recv; in between, caches and memory may differ there.
 *
 * Macros for the compile line:
 *     AXL_LENGTH_BITS  width of the DMA's LENGTH register, 8 to 26 (default 26)
 *     AXL_DMA_SG       1: the DMA has scatter-gather (and axiloom_sg.h offers its queues); 0: it has not (default)
 *     AXL_STREAM_BITS  width of its streams, 32 (default), 64 or 128
 *     AXL_DMA_CACHED   1: windows cached, with cache maintenance (default); 0: windows mapped uncached by dma_init
 *     AXL_DMA_COHERENT 1: the DMA's port looks into the caches, nothing is maintained; 0: it does not (default)
 *     AXL_DMA_IRQ      1: wait asleep (WFI) until the channel's interrupt; 0: poll (default)
 *     AXL_TIMEOUT_US   limit of every wait in microseconds (default: none; Linux: ten seconds)
 *     AXL_TIMEOUT_LOOKS  looks at the DMA between two readings of the clock (default 1; Linux: 1000, as each is a call)
 *     AXL_CACHE_LINE   bytes of a cache line (default: 64 on AArch64, a Cortex-A53; 32, a Cortex-A9)
 *     AXL_OCM          1: there is memory on the chip, nearer to the CPU than DDR (default on a Cortex-A9); 0: there is none
 *     AXL_CPU_HZ       clock of the CPU (default 650000000); the global timer runs at half of it
 *     AXL_DMAS         accelerators of the system, each with its DMA and windows (default 1): see dma_select
 *     AXL_LINUX        1: a Linux process, with the platform in sw/linux; 0: bare metal (default)
 *     AXL_REMOTE       1: the driver runs on a PC, its DMA is behind a line (sw/remote); 0: it is not (default)
 *     AXL_AS_LINUX     1: bare metal with a process' code, to compare the two (default 0)
 */
#ifndef AXILOOM_H
#define AXILOOM_H

#include <stddef.h>
#include <stdint.h>

#ifndef AXL_LENGTH_BITS
#define AXL_LENGTH_BITS 26
#endif
#ifndef AXL_DMA_SG
#define AXL_DMA_SG 0
#endif
#ifndef AXL_STREAM_BITS
#define AXL_STREAM_BITS 32
#endif
#ifndef AXL_DMA_COHERENT
#define AXL_DMA_COHERENT 0
#endif
#ifndef AXL_DMA_IRQ
#define AXL_DMA_IRQ 0
#endif
#ifndef AXL_DMA_CACHED
#define AXL_DMA_CACHED 1
#endif
#ifndef AXL_DMAS
#define AXL_DMAS 1
#endif
#ifndef AXL_LINUX
#define AXL_LINUX 0
#endif
#ifndef AXL_AS_LINUX
#define AXL_AS_LINUX 0
#endif
#define AXL_PROCESS (AXL_LINUX || AXL_AS_LINUX || AXL_REMOTE)
#ifndef AXL_REMOTE
#define AXL_REMOTE 0
#endif
#ifndef AXL_TIMEOUT_LOOKS
#define AXL_TIMEOUT_LOOKS (AXL_PROCESS ? 1000 : 1)
#endif
#if AXL_PROCESS && !defined(AXL_TIMEOUT_US)
#define AXL_TIMEOUT_US 10000000
#endif
#ifndef AXL_CACHE_LINE
#ifdef __aarch64__
#define AXL_CACHE_LINE 64u
#else
#define AXL_CACHE_LINE 32u
#endif
#endif
#ifndef AXL_OCM
#ifdef __arm__
#define AXL_OCM 1
#else
#define AXL_OCM 0 /* a Zynq UltraScale+ has its own behind the DMA's ports, far away */
#endif
#endif
#ifndef AXL_CPU_HZ
#define AXL_CPU_HZ 650000000u
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    DMA_OK = 0,
    DMA_ERR_NOT_READY,  /* dma_init was not called, or the DMA does not leave reset */
    DMA_ERR_ARGUMENT,   /* null pointer, address not aligned to a word, tile smaller than its contents */
    DMA_ERR_BOUNDS,     /* offset + words leaves the window */
    DMA_ERR_LENGTH,     /* zero words, or more bytes than the LENGTH register holds */
    DMA_ERR_BUSY,       /* the channel's last transfer has not been waited for */
    DMA_ERR_HALTED,     /* the DMA stopped with an error bit (internal, slave, decode) */
    DMA_ERR_SHORT,      /* TLAST came before all the words asked for */
    DMA_ERR_TIMEOUT,    /* AXL_TIMEOUT_US passed */
    DMA_ERR_LONG,       /* scatter-gather: more words came than were asked for */
    DMA_ERR_ALIGNMENT   /* an array in place does not begin on a beat, or on a cache line */
} dma_status;

/* A short English text, never NULL. */
const char *dma_status_text(dma_status status);

/* All other functions work on one DMA: number 0, or the DMA that was selected last. Transfers of the other DMAs go
 * on: start transfers on one DMA, select another, come back and wait. `number` is below AXL_DMAS. Each DMA needs a
 * dma_init of its own, after it was selected. */
dma_status dma_select(uint32_t number);

/* Not for drivers: with several DMAs, the state of each is an element of an array, under the same name. */
#if AXL_DMAS > 1
extern uint32_t dma_now;
#define DMA_EACH(name) name##_of[AXL_DMAS]
#else
#define DMA_EACH(name) name
#endif

/* Not for drivers: the DMA's address of the memory at `pointer`. The two differ where an operating system chose one
 * of them. The difference is the same for all memory that DMAs use. */
#if AXL_PROCESS
extern uintptr_t axl_bus_offset;
#else
#define axl_bus_offset ((uintptr_t)0)
#endif
static inline uint32_t axl_bus(const volatile void *pointer) { return (uint32_t)((uintptr_t)pointer + axl_bus_offset); }

/* Reset and start the DMA at dma_addr, with its windows (byte addresses and sizes, word aligned; for cached
 * windows aligned to a cache line, AXL_CACHE_LINE). */
dma_status dma_init(uintptr_t dma_addr, uintptr_t in_addr, uint32_t in_bytes, uintptr_t out_addr,
                    uint32_t out_bytes);

/* Stop both channels. dma_init may be called again. */
dma_status dma_free(void);

/* The accelerator's own registers, `at` bytes behind the DMA's: write one; read one until a bit of `mask` is set. */
dma_status dma_device_write(uint32_t at, uint32_t value);
dma_status dma_device_wait(uint32_t at, uint32_t mask);

/* `count` elements of 8, 16 or 32 bits, packed from word `offset` of the input window on, each with its sign to a
 * register of its own: the first at `at`, the others behind it, 4 bytes apart. */
dma_status dma_device_elements(uint32_t at, uint32_t count, uint32_t bits, uint32_t offset);

/* For a device that reads and writes memory itself. Give it words of the input window, or room in the output window:
 * their address goes to the registers `at` (lower half) and at + 4 (upper half). When the device says that it is done,
 * dma_device_wrote lets the CPU see what it wrote. */
dma_status dma_device_reads(uint32_t at, uint32_t words, uint32_t offset);
dma_status dma_device_writes(uint32_t at, uint32_t words, uint32_t offset);
dma_status dma_device_wrote(uint32_t words, uint32_t offset);

/* The same with memory of the driver's own, in place: it begins on a cache line, and `words` are whole lines. */
dma_status dma_device_reads_at(uint32_t at, const void *memory, uint32_t words);
dma_status dma_device_writes_at(uint32_t at, void *memory, uint32_t words);
dma_status dma_device_wrote_at(const void *memory, uint32_t words);

/* The windows themselves, for code that packs words on its own; NULL before dma_init. */
volatile uint32_t *dma_in_buffer(void);
volatile uint32_t *dma_out_buffer(void);

/* One word at a word offset of the input window. */
dma_status dma_put_word(uint32_t word, uint32_t offset);

/* Copy rows x cols elements of a matrix into the input window as a tile of tile_rows x tile_cols, row major,
 * zero padded, narrow elements packed with the lowest column in the lowest bits. Strides are in elements:
 * element (r, c) is src[r * row_stride + c * col_stride]. tile_cols must fill whole words. */
dma_status dma_put_tile_i8(const int8_t *src, uint32_t rows, uint32_t cols, ptrdiff_t row_stride,
                           ptrdiff_t col_stride, uint32_t tile_rows, uint32_t tile_cols, uint32_t offset);
dma_status dma_put_tile_i16(const int16_t *src, uint32_t rows, uint32_t cols, ptrdiff_t row_stride,
                            ptrdiff_t col_stride, uint32_t tile_rows, uint32_t tile_cols, uint32_t offset);
dma_status dma_put_tile_i32(const int32_t *src, uint32_t rows, uint32_t cols, ptrdiff_t row_stride,
                            ptrdiff_t col_stride, uint32_t tile_rows, uint32_t tile_cols, uint32_t offset);
dma_status dma_put_tile_u8(const uint8_t *src, uint32_t rows, uint32_t cols, ptrdiff_t row_stride,
                           ptrdiff_t col_stride, uint32_t tile_rows, uint32_t tile_cols, uint32_t offset);
dma_status dma_put_tile_f32(const float *src, uint32_t rows, uint32_t cols, ptrdiff_t row_stride,
                            ptrdiff_t col_stride, uint32_t tile_rows, uint32_t tile_cols, uint32_t offset);

/* Bytes in rows without gaps, each filled up to `padded` bytes. */
dma_status dma_put_rows(const void *from, uint32_t row_bytes, uint32_t rows, uint32_t padded, uint32_t offset);

/* Copy the rows x cols corner of a tile_rows x tile_cols tile in the output window to a matrix, or add it
 * (mod 2^32) if accumulate is not 0. */
dma_status dma_get_tile_i32(int32_t *dst, uint32_t rows, uint32_t cols, ptrdiff_t row_stride,
                            ptrdiff_t col_stride, uint32_t tile_rows, uint32_t tile_cols, uint32_t offset,
                            int accumulate);
/* The same of floats: each sum is rounded to the nearest. */
dma_status dma_get_tile_f32(float *dst, uint32_t rows, uint32_t cols, ptrdiff_t row_stride, ptrdiff_t col_stride,
                            uint32_t tile_rows, uint32_t tile_cols, uint32_t offset, int accumulate);

/* Copy `rows` blocks of planes x height x width elements into the input window. The elements of a block follow each
 * other without gaps, each block begins row_words words behind the last one, and zeros fill up the rest. Strides are
 * in elements: element (r, p, h, w) is src[r * row_stride + p * plane_stride + h * line_stride + w * stride]. */
dma_status dma_put_block_i8(const int8_t *src, uint32_t rows, uint32_t planes, uint32_t height, uint32_t width,
                            ptrdiff_t row_stride, ptrdiff_t plane_stride, ptrdiff_t line_stride, ptrdiff_t stride,
                            uint32_t row_words, uint32_t offset);
dma_status dma_put_block_i16(const int16_t *src, uint32_t rows, uint32_t planes, uint32_t height, uint32_t width,
                             ptrdiff_t row_stride, ptrdiff_t plane_stride, ptrdiff_t line_stride, ptrdiff_t stride,
                             uint32_t row_words, uint32_t offset);
dma_status dma_put_block_i32(const int32_t *src, uint32_t rows, uint32_t planes, uint32_t height, uint32_t width,
                             ptrdiff_t row_stride, ptrdiff_t plane_stride, ptrdiff_t line_stride, ptrdiff_t stride,
                             uint32_t row_words, uint32_t offset);
dma_status dma_put_block_u8(const uint8_t *src, uint32_t rows, uint32_t planes, uint32_t height, uint32_t width,
                            ptrdiff_t row_stride, ptrdiff_t plane_stride, ptrdiff_t line_stride, ptrdiff_t stride,
                            uint32_t row_words, uint32_t offset);
dma_status dma_put_block_f32(const float *src, uint32_t rows, uint32_t planes, uint32_t height, uint32_t width,
                             ptrdiff_t row_stride, ptrdiff_t plane_stride, ptrdiff_t line_stride, ptrdiff_t stride,
                             uint32_t row_words, uint32_t offset);

/* Copy a block of planes x height x width elements from the output window to dst, or add it (mod 2^32). Its lines
 * begin `pitch` elements after each other there, which is `width` where they follow each other. */
dma_status dma_get_block_i8(int8_t *dst, uint32_t planes, uint32_t height, uint32_t width, ptrdiff_t plane_stride,
                            ptrdiff_t line_stride, ptrdiff_t stride, uint32_t pitch, uint32_t offset);
dma_status dma_get_block_u8(uint8_t *dst, uint32_t planes, uint32_t height, uint32_t width, ptrdiff_t plane_stride,
                            ptrdiff_t line_stride, ptrdiff_t stride, uint32_t pitch, uint32_t offset);
dma_status dma_get_block_i16(int16_t *dst, uint32_t planes, uint32_t height, uint32_t width,
                             ptrdiff_t plane_stride, ptrdiff_t line_stride, ptrdiff_t stride, uint32_t pitch,
                             uint32_t offset);
dma_status dma_get_block_i32(int32_t *dst, uint32_t planes, uint32_t height, uint32_t width,
                             ptrdiff_t plane_stride, ptrdiff_t line_stride, ptrdiff_t stride, uint32_t pitch,
                             uint32_t offset, int accumulate);
dma_status dma_get_block_f32(float *dst, uint32_t planes, uint32_t height, uint32_t width, ptrdiff_t plane_stride,
                             ptrdiff_t line_stride, ptrdiff_t stride, uint32_t pitch, uint32_t offset,
                             int accumulate);

/* Start sending (receiving) words at a word offset of the input (output) window. Writes to the input window made
 * before dma_start_send are seen by the DMA. */
dma_status dma_start_send(uint32_t words, uint32_t offset);
dma_status dma_start_recv(uint32_t words, uint32_t offset);

/* Wait for the transfer in flight; DMA_OK at once if there is none. After dma_wait_recv the words are in the
 * output window for the CPU to read. */
dma_status dma_wait_send(void);
dma_status dma_wait_recv(void);

/* One look without waiting: *done is 1 if no transfer is in flight any more. With *done of a receive the words
 * are there, as after dma_wait_recv. */
dma_status dma_check_send(int *done);
dma_status dma_check_recv(int *done);

/* Ticks of the global timer, AXL_CPU_HZ / 2 a second. */
uint64_t axl_timer(void);

#ifdef __cplusplus
}
#endif
#endif
