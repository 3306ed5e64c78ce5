/* One 4x4 tile on v3_4 with post-processing. PARAMETERS: words of P that are sent, of 8. */
#include "common.h"

#ifndef PARAMETERS
#define PARAMETERS 8
#endif

uint32_t P[8], bounds;
uint32_t D[4]; /* C as int8 */

int main(void) {
    int32_t words[4];
    TRY(start());
    TRY(dma_put_word(64, 0));
    TRY(dma_put_word(bounds, 1));
    TRY(send_now(2));
    TRY(dma_put_word(32, 0));
    for (uint32_t i = 0; i < PARAMETERS; i++)
        TRY(dma_put_word(P[i], 1 + i));
    TRY(send_now(1 + PARAMETERS));
    TRY(dma_start_recv(4, 0));
    if (PARAMETERS == 8) {
        TRY(send_tile(1, A));
        TRY(send_tile(2, B));
        TRY(send_opcode(4));
        TRY(send_opcode(128));
    }
    TRY(dma_wait_recv());
    TRY(dma_get_tile_i32(words, 1, 4, 4, 1, 1, 4, 0, 0));
    for (int i = 0; i < 4; i++)
        D[i] = (uint32_t)words[i];
    return 0;
}
