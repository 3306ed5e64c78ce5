/* The runtime of sw/, with Python in place of the DMA and the accelerator: test harness for generated drivers.
 * It refuses what the real one would hang on: a receive that the device has not filled when it is waited for. */
#include <stdlib.h>
#include <string.h>

#include "axiloom_packets.h"
#include "dma_internal.h"

dma_window dma_in_window, dma_out_window;

/* Words sent go to `on_send`; `on_recv` fills a buffer and returns how many of the words asked for there were. */
static void (*on_send)(const uint32_t *words, uint32_t count, int armed);
static uint32_t (*on_recv)(uint32_t *words, uint32_t count);
static uint32_t recv_words, recv_offset;
static uint32_t *memory; /* what the DMA sees of packets: the input window as far as it was cleaned */

void host_connect(void (*send)(const uint32_t *, uint32_t, int), uint32_t (*recv)(uint32_t *, uint32_t)) {
    on_send = send;
    on_recv = recv;
}

/* For host_queue.c. */
void host_send(const uint32_t *words, uint32_t count, int armed) { on_send(words, count, armed); }
uint32_t host_recv(uint32_t *words, uint32_t count) { return on_recv(words, count); }

dma_status dma_init(uintptr_t dma, uintptr_t in, uint32_t in_bytes, uintptr_t out, uint32_t out_bytes) {
    (void)dma, (void)in, (void)out;
    free(dma_in_window.words);
    free(dma_out_window.words);
    free(memory);
    memory = calloc(in_bytes, 1);
    dma_in_window = (dma_window){malloc(in_bytes), in_bytes / 4};
    dma_out_window = (dma_window){malloc(out_bytes), out_bytes / 4};
    recv_words = 0;
    return DMA_OK;
}

dma_status dma_free(void) { return DMA_OK; }

volatile uint32_t *dma_in_buffer(void) { return dma_in_window.words; }
volatile uint32_t *dma_out_buffer(void) { return dma_out_window.words; }

static dma_status check(const dma_window *window, uint32_t words, uint32_t offset) {
    if (words == 0 || (uint64_t)words * 4 >= (uint64_t)1 << AXL_LENGTH_BITS)
        return DMA_ERR_LENGTH;
    return dma_check_bounds(window, words, offset);
}

dma_status dma_start_send(uint32_t words, uint32_t offset) {
    dma_status status = check(&dma_in_window, words, offset);
    if (status == DMA_OK)
        on_send(dma_in_window.words + offset, words, recv_words != 0);
    return status;
}

dma_status dma_start_recv(uint32_t words, uint32_t offset) {
    if (recv_words)
        return DMA_ERR_BUSY;
    recv_words = words;
    recv_offset = offset;
    return check(&dma_out_window, words, offset);
}

dma_status dma_wait_send(void) { return DMA_OK; }

dma_status dma_wait_recv(void) {
    uint32_t words = recv_words;
    recv_words = 0;
    return on_recv(dma_out_window.words + recv_offset, words) == words ? DMA_OK : DMA_ERR_TIMEOUT;
}

/* Packets. Each is read as late as the driver allows, so that one that is packed over too early goes wrong. */
static struct {
    uint32_t words, offset;
} flying, queued;
static uint32_t tiles_left, tile_words, slot;

static void fly(void) {
    if (flying.words)
        on_send(memory + flying.offset, flying.words, recv_words != 0);
    flying = queued;
    queued.words = 0;
}

dma_status dma_packet_clean(uint32_t words, uint32_t offset) {
    dma_status status = dma_check_bounds(&dma_in_window, words, offset);
    if (status == DMA_OK)
        memcpy(memory + offset, dma_in_window.words + offset, words * 4);
    return status;
}

dma_status dma_packet_wait(void) {
    if (queued.words)
        fly();
    return DMA_OK;
}

dma_status dma_packet_send(uint32_t words, uint32_t offset) {
    dma_status status = check(&dma_in_window, words, offset);
    if (status != DMA_OK)
        return status;
    dma_packet_wait();
    queued.words = words;
    queued.offset = offset;
    if (!flying.words)
        fly();
    return DMA_OK;
}

dma_status dma_packet_flush(void) {
    fly();
    fly();
    return DMA_OK;
}

dma_status dma_tiles_expect(uint32_t count, uint32_t words) {
    if (recv_words || tiles_left)
        return DMA_ERR_BUSY;
    recv_words = tile_words = words;
    tiles_left = count;
    slot = 0;
    return check(&dma_out_window, words, (words + 7) / 8 * 8);
}

dma_status dma_tiles_next(uint32_t *offset) {
    if (!tiles_left)
        return DMA_ERR_NOT_READY;
    fly();
    fly();
    *offset = slot;
    slot = (tile_words + 7) / 8 * 8 - slot;
    tiles_left--;
    if (!tiles_left)
        recv_words = 0;
    return on_recv(dma_out_window.words + *offset, tile_words) == tile_words ? DMA_OK : DMA_ERR_TIMEOUT;
}
