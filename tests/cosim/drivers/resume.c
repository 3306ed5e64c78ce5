/* Goes on where half.c stopped, without a reset: the second half of A, then B, compute and C. dma_init would reset
 * DMA and accelerator, so this uses the registers. The DMA reads and writes the arrays themselves; all of them are
 * initialised data, so that no cache holds a line of them. */
#include <stdint.h>

#define DATA __attribute__((section(".data"), aligned(32)))
#define REGISTER(offset) (*(volatile uint32_t *)(0x40400000u + (offset)))
enum { IDLE = 2 };

DATA int32_t A[4][4] = {{1}}, B[4][4] = {{1}}, C[4][4] = {{1}};
static DATA uint32_t load_b[8] = {2}, compute_and_store[8] = {4, 8};

static void send(const void *words, uint32_t count) {
    REGISTER(0x18) = (uint32_t)words;
    REGISTER(0x28) = 4 * count;
    while (!(REGISTER(0x04) & IDLE)) {
    }
}

int main(void) {
    send(A[2], 8);
    send(load_b, 1);
    send(B, 16);
    REGISTER(0x48) = (uint32_t)C;
    REGISTER(0x58) = 64;
    send(compute_and_store, 2);
    while (!(REGISTER(0x34) & IDLE)) {
    }
    return 0;
}
