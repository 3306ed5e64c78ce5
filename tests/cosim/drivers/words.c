/* COUNT words for any accelerator, and a receive of as many as it will not send. */
#include "common.h"

uint32_t W[COUNT];

int main(void) {
    TRY(start());
    for (uint32_t i = 0; i < COUNT; i++) TRY(dma_put_word(W[i], i));
    TRY(send_now(COUNT));
    TRY(dma_start_recv(4, 0));
    return dma_wait_recv();
}
