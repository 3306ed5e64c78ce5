/* Packets that overlap, and series of tiles: what generated drivers use where hand-written ones mostly wait.
 *
 * A packet is a part of the input window that goes out in one transfer. The CPU cleans what it has written and
 * nothing else (what is still there from an earlier packet is clean already), and packs the next packet in another
 * place while this one is sent:
 *
 *     dma_tiles_expect(64, 256);                  64 tiles of 256 words will come back
 *     for (...) {
 *         dma_packet_wait();                      the place is free
 *         ... pack ...
 *         dma_packet_clean(words, offset);
 *         dma_packet_send(words, offset);
 *         dma_tiles_next(&at);                    a tile of the packet before
 *         ... unpack ...
 *     }
 *     dma_packet_flush();
 *
 * Lengths and offsets are in 32-bit words. All of these return a status, as those of axiloom.h, and none may be
 * mixed with a dma_start_send or dma_start_recv that is not waited for. */
#ifndef AXILOOM_PACKETS_H
#define AXILOOM_PACKETS_H

#include "axiloom.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the CPU has written there is seen by the DMA. */
dma_status dma_packet_clean(uint32_t words, uint32_t offset);

/* Send clean words after the transfer in flight, without waiting for it: one packet may wait for its turn. Another
 * one waits here until that has started. */
dma_status dma_packet_send(uint32_t words, uint32_t offset);

/* Until no packet waits for its turn: all but the last one are sent. */
dma_status dma_packet_wait(void);

/* Until all are sent. */
dma_status dma_packet_flush(void);

/* `count` tiles of `words` words will come, each a transfer of its own. The first receive is armed at once, each
 * further one when the tile before it is there; they lie in two slots of the output window in turn, which the CPU
 * must not write to. */
dma_status dma_tiles_expect(uint32_t count, uint32_t words);

/* Wait for the next tile; *offset is where it lies in the output window until the next call. A packet that waits
 * for its turn is sent meanwhile. */
dma_status dma_tiles_next(uint32_t *offset);

#ifdef __cplusplus
}
#endif
#endif
