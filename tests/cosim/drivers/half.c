/* The opcode and the first half of A, and no more. */
#include "common.h"

int main(void) {
    TRY(start());
    TRY(dma_put_word(1, 0));
    for (uint32_t i = 0; i < 8; i++) TRY(dma_put_word((uint32_t)(&A[0][0])[i], i + 1));
    return send_now(9);
}
