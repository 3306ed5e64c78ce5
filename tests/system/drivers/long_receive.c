/* 32 words are asked for and the device's tile has 16. */
#include "common.h"

int main(void) {
    TRY(start());
    TRY(send_tile(1, A));
    TRY(send_tile(2, B));
    TRY(send_opcode(4));
    TRY(dma_start_recv(32, 0));
    TRY(send_opcode(8));
    return dma_wait_recv();
}
