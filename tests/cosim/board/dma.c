/* Words through a loopback by the registers of PG021, with the mistake that HOW names. */
#include "board.h"

#define DMA 0x40400000u
#define PL310 0xF8F02000u
#define WORDS 64u
#define BUFFER __attribute__((aligned(64))) static volatile uint32_t

BUFFER in[WORDS];
BUFFER out[WORDS];

static void clean(volatile uint32_t *buffer) {
    for (uint32_t at = (uint32_t)buffer; at < (uint32_t)(buffer + WORDS); at += 32) {
        __asm__ volatile("mcr p15, 0, %0, c7, c10, 1\n dsb" ::"r"(at) : "memory");
        AT(PL310 + 0x7B0) = at;
    }
    AT(PL310 + 0x730) = 0;
}
static void invalidate(volatile uint32_t *buffer) {
    for (uint32_t at = (uint32_t)buffer; at < (uint32_t)(buffer + WORDS); at += 32) {
        AT(PL310 + 0x770) = at;
        __asm__ volatile("mcr p15, 0, %0, c7, c6, 1\n dsb" ::"r"(at) : "memory");
    }
    AT(PL310 + 0x730) = 0;
}

int main(void) {
    uint32_t sum = 0;
    AT(PL310 + 0x77C) = 0xFF;
    while (AT(PL310 + 0x77C))
        continue;
    AT(PL310 + 0x100) = 1;
    for (uint32_t i = 0; i < WORDS; i++)
        in[i] = i + 1, out[i] = 0;
    if (HOW != 1)
        clean(in);
    clean(out);
    AT(DMA + 0x30) = 1;
    AT(DMA + 0x48) = (uint32_t)out;
    AT(DMA + 0x58) = 4 * WORDS;
    if (HOW == 4)
        while (1)
            continue; /* a loop */
    if (HOW != 3)
        AT(DMA + 0x00) = 1;
    AT(DMA + 0x18) = (uint32_t)in;
    AT(DMA + 0x28) = 4 * WORDS; /* the start */
    while (!(AT(DMA + 0x34) & 2))
        continue;
    if (HOW != 2)
        invalidate(out);
    for (uint32_t i = 0; i < WORDS; i++)
        sum += out[i]; /* the sum */
    say("sum", sum);
    return sum != WORDS * (WORDS + 1) / 2;
}
