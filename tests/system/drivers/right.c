#include "common.h"

int main(void) {
    TRY(start());
    TRY(send_tile(1, A));
    TRY(send_tile(2, B));
    TRY(send_opcode(4));
    TRY(dma_start_recv(16, 0));
    TRY(send_opcode(8));
    TRY(dma_wait_recv());
    return dma_get_tile_i32(&C[0][0], 4, 4, 4, 1, 4, 4, 0, 0);
}
