/* Packets that overlap, and series of tiles. Generated drivers use them where drivers by hand mostly wait.
 *
 * A packet is a part of the input window that goes out in one transfer. The CPU cleans its own writes and nothing
 * else, as words of an earlier packet are clean already. It packs the next packet in another place while this packet
 * is sent:
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
 * Lengths and offsets are in 32-bit words. All functions return a status, as those of axiloom.h. Wait for every
 * dma_start_send and dma_start_recv before you call them. */
#ifndef AXILOOM_PACKETS_H
#define AXILOOM_PACKETS_H

#include "axiloom.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Let the DMA see the CPU's writes there. */
dma_status dma_packet_clean(uint32_t words, uint32_t offset);

/* Send clean words after the transfer in flight, without waiting for it. One packet may wait for its turn. If a
 * packet waits already, this call waits until that packet has started. */
dma_status dma_packet_send(uint32_t words, uint32_t offset);

/* Wait until no packet waits for its turn: all but the last packet are sent. */
dma_status dma_packet_wait(void);

/* Wait until all packets are sent. */
dma_status dma_packet_flush(void);

/* `count` tiles of `words` words will come, each a transfer of its own. The first receive is armed at once, each
 * later one when the tile before it is there. The tiles lie in two slots of the output window, by turns. The CPU must
 * not write to these slots. */
dma_status dma_tiles_expect(uint32_t count, uint32_t words);

/* Wait for the next tile; *offset is where it lies in the output window until the next call. A packet that waits
 * for its turn is sent meanwhile. */
dma_status dma_tiles_next(uint32_t *offset);

#ifdef __cplusplus
}
#endif
#endif
