/* The opcode that stores C is never sent: the receive waits for ever. */
#include "common.h"

int main(void) {
    TRY(start());
    TRY(send_tile(1, A));
    TRY(send_tile(2, B));
    TRY(send_opcode(4));
    TRY(dma_start_recv(16, 0));
    return dma_wait_recv();
}
