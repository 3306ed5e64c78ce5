/* Words written straight into the cached input window, and the DMA started by its registers: no cache clean. */
#include "common.h"

#define REGISTER(offset) (*(volatile uint32_t *)(0x40400000 + (offset)))

int main(void) {
    TRY(start());
    volatile uint32_t *window = dma_in_buffer();
    window[0] = 1; /* load A, whose tile never comes */
    __asm__ volatile("dsb" ::: "memory");
    REGISTER(0x18) = 0x16000000;
    REGISTER(0x28) = 4;
    while (!(REGISTER(0x04) & 0x1000)) { }
    return 0;
}
