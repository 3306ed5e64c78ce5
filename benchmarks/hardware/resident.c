/* Computes again and again with A and B resident: what the array sustains when nothing but opcodes cross the stream.
 * COMPUTES opcodes of WORDS words each go out in transfers that fill the input window. */
#include "axiloom.h"

static const uint32_t opcode[] = {OPCODE};
enum { WORDS = sizeof opcode / sizeof *opcode, BATCH = IN_BYTES / 4 / WORDS };

static dma_status send(uint32_t words) {
    dma_status status = dma_start_send(words, 0);
    return status ? status : dma_wait_send();
}

static dma_status load(uint32_t literal, uint32_t words) {
    dma_status status = dma_put_word(literal, 0);
    for (uint32_t i = 1; !status && i <= words; i++) status = dma_put_word(i, i);
    return status ? status : send(1 + words);
}

int main(void) {
    dma_status status = dma_init(DMA, IN_ADDRESS, IN_BYTES, OUT_ADDRESS, OUT_BYTES);
    if (!status) status = load(LOAD_A, A_WORDS);
    if (!status) status = load(LOAD_B, B_WORDS);
    for (uint32_t i = 0; !status && i < BATCH * WORDS; i++) status = dma_put_word(opcode[i % WORDS], i);
    for (uint32_t left = COMPUTES; !status && left > 0;) {
        uint32_t now = left < BATCH ? left : BATCH;
        status = send(now * WORDS);
        left -= now;
    }
    /* The last tile comes back, so that the run ends when the array has. */
    if (!status) status = dma_start_recv(C_WORDS, 0);
    if (!status) status = dma_put_word(STORE, 0);
    if (!status) status = send(1);
    return status ? status : dma_wait_recv();
}
