/* Packets that overlap, and series of tiles, on one transfer a channel. */
#include "axiloom_packets.h"
#include "dma_look.h"

#define CACHE_LINE_WORDS (AXL_CACHE_LINE / (uint32_t)sizeof(uint32_t))
#define MAINTAINED (AXL_DMA_CACHED && !AXL_DMA_COHERENT)
#define LENGTH_WORDS (((1u << AXL_LENGTH_BITS) - 1) / sizeof(uint32_t))
/* The packet that waits for its turn; 0 words: none. */
static uint32_t DMA_EACH(queued_words), DMA_EACH(queued_offset);
/* `tiles_left`: not armed yet. */
static uint32_t DMA_EACH(tiles_left), DMA_EACH(tile_words), DMA_EACH(other_slot);
#if AXL_DMAS > 1
#define queued_words queued_words_of[dma_now]
#define queued_offset queued_offset_of[dma_now]
#define tiles_left tiles_left_of[dma_now]
#define tile_words tile_words_of[dma_now]
#define other_slot other_slot_of[dma_now]
#endif

static void start(dma_channel *channel, const dma_window *window, uint32_t words, uint32_t offset) {
    channel->words = words;
    channel->offset = offset;
    dma_channel_start(channel, (uintptr_t)(window->words + offset), words * (uint32_t)sizeof(uint32_t));
}

static dma_status check(const dma_window *window, uint32_t words, uint32_t offset) {
    TRY(dma_check_bounds(window, words, offset));
    return words == 0 || words > LENGTH_WORDS ? DMA_ERR_LENGTH : DMA_OK;
}

dma_status dma_packet_clean(uint32_t words, uint32_t offset) {
    TRY(dma_check_bounds(&dma_in_window, words, offset));
    if (MAINTAINED)
        axl_cache_clean((uintptr_t)(dma_in_window.words + offset), words * (uint32_t)sizeof(uint32_t));
    else
        axl_memory_barrier();
    return DMA_OK;
}

/* One look at the sending channel; the packet that waits is started if it is free. */
static dma_status look_send(int *done) {
    TRY(dma_check_send(done));
    if (*done && queued_words) {
        start(&dma_send_channel, &dma_in_window, queued_words, queued_offset);
        queued_words = 0;
    }
    return DMA_OK;
}

dma_status dma_packet_wait(void) {
    return queued_words ? dma_wait_until(&dma_send_channel, look_send) : DMA_OK;
}

dma_status dma_packet_send(uint32_t words, uint32_t offset) {
    TRY(check(&dma_in_window, words, offset));
    TRY(dma_packet_wait());
    queued_words = words;
    queued_offset = offset;
    int done;
    return look_send(&done);
}

dma_status dma_packet_flush(void) {
    TRY(dma_packet_wait());
    return dma_wait_send();
}

static void arm(uint32_t offset) {
    tiles_left--;
    start(&dma_recv_channel, &dma_out_window, tile_words, offset);
}

dma_status dma_tiles_expect(uint32_t count, uint32_t words) {
    const uint32_t slot = (words + CACHE_LINE_WORDS - 1) & ~(CACHE_LINE_WORDS - 1);
    TRY(check(&dma_out_window, words, slot));
    if (dma_recv_channel.words || tiles_left)
        return DMA_ERR_BUSY;
    /* Discarded once, so that no dirty line of whoever had the window before is written over what the DMA brings. */
    if (MAINTAINED)
        axl_cache_discard((uintptr_t)dma_out_window.words, (slot + words) * (uint32_t)sizeof(uint32_t));
    else
        axl_memory_barrier();
    tiles_left = count;
    tile_words = words;
    other_slot = slot;
    if (count)
        arm(0);
    return DMA_OK;
}

static uint32_t received;

static dma_status look_tile(int *done) {
    if (queued_words)
        TRY(look_send(done));
    *done = 0;
    return dma_channel_look(&dma_recv_channel, done, &received);
}

dma_status dma_tiles_next(uint32_t *offset) {
    if (!dma_recv_channel.words)
        return DMA_ERR_NOT_READY;
    TRY(dma_wait_until(&dma_recv_channel, look_tile));
    dma_recv_channel.words = 0;
    *offset = dma_recv_channel.offset;
    if (received < tile_words * sizeof(uint32_t))
        return DMA_ERR_SHORT;
    if (tiles_left)
        arm(other_slot - *offset);
    if (MAINTAINED)
        axl_cache_invalidate((uintptr_t)(dma_out_window.words + *offset), tile_words * (uint32_t)sizeof(uint32_t));
    else
        axl_memory_barrier();
    return DMA_OK;
}
