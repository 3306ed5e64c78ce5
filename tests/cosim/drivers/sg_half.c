/* Asks for a C that the accelerator is never told to send: an S2MM descriptor that nothing fills. */
#include "common.h"

int main(void) {
    TRY(start());
    TRY(dma_start_recv(16, 0));
    TRY(dma_put_word(1, 0));
    TRY(send_now(1));
    return dma_wait_recv();
}
