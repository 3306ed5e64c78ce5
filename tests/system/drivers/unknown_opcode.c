#include "common.h"

int main(void) {
    TRY(start());
    TRY(send_opcode(0x99));
    TRY(dma_start_recv(16, 0));
    return dma_wait_recv();
}
