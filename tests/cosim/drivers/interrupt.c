/* Sends A and sleeps until the DMA's interrupt; WAITS times, though there is only one. */
#include "common.h"

#define REGISTER(offset) (*(volatile uint32_t *)(0x40400000u + (offset)))

int main(void) {
    TRY(start());
    REGISTER(0x00) = 1u | 1u << 12; /* RS, IOC_IrqEn */
    TRY(dma_put_word(1, 0));
    TRY(dma_start_send(17, 0));
    for (int i = 0; i < WAITS; i++) {
        __asm__ volatile("wfi" ::: "memory");
        REGISTER(0x04) = 1u << 12;
    }
    return 0;
}
