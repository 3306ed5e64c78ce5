/* More bytes than a LENGTH register of 14 bits holds. */
#include "common.h"

int main(void) {
    TRY(start());
    return dma_start_send(4096, 0);
}
