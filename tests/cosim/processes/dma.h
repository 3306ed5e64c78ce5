/* The loopback's DMA (PG021), mapped from `descriptor`, and what both directions carry. */
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

#define WORDS 64
enum { MM2S_DMACR = 0x00, MM2S_SA = 0x18, MM2S_LENGTH = 0x28, S2MM_DMACR = 0x30, S2MM_DMASR = 0x34, S2MM_DA = 0x48, S2MM_LENGTH = 0x58 };
static volatile uint32_t *dma;
#define REGISTER(offset) dma[(offset) / 4]

static void map_dma(int descriptor, long offset) {
    dma = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, offset);
}

static void start(uint32_t physical, uint32_t receive) {
    REGISTER(S2MM_DMACR) = receive;
    REGISTER(MM2S_DMACR) = 1;
    REGISTER(S2MM_DA) = physical + 4096;
    REGISTER(S2MM_LENGTH) = WORDS * 4;
    REGISTER(MM2S_SA) = physical;
    REGISTER(MM2S_LENGTH) = WORDS * 4;
}

static void fill(volatile uint32_t *buffer) {
    for (uint32_t i = 0; i < WORDS; i++)
        buffer[i] = i * 3 + 1, buffer[1024 + i] = 0;
}

static int wrong(volatile uint32_t *buffer) {
    int count = 0;
    for (uint32_t i = 0; i < WORDS; i++)
        count += buffer[1024 + i] != i * 3 + 1;
    return count;
}
