/* Half of A is sent, then the driver waits for C. */
#include "common.h"

int main(void) {
    TRY(start());
    TRY(dma_put_word(1, 0));
    TRY(send_now(9));
    TRY(dma_start_recv(16, 0));
    return dma_wait_recv();
}
