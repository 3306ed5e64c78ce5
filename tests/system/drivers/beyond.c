#include "common.h"

/* The tile begins one row too low: its last row lies behind A. */
int main(void) {
    TRY(start());
    TRY(dma_put_word(1, 0));
    TRY(dma_put_tile_i32(&A[1][0], 4, 4, 4, 1, 4, 4, 1));
    TRY(dma_start_send(17, 0));
    return dma_wait_send();
}
