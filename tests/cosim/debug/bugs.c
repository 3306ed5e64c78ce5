/* Drivers of v3 (tiles of 4 x 4) by its registers alone: BUG says which mistake is in this one; 0: none. The script that
 * finds each of them is test_debugger.py. */
#include <stdint.h>

#ifndef BUG
#define BUG 0
#endif
#define R(o) (*(volatile uint32_t *)(0x40400000u + (o)))
#define LINE __attribute__((aligned(32)))
#define STAGE __attribute__((noinline))
enum { T = 4, TILE = T * T, MM2S = 0x00, S2MM = 0x30 };
enum { LOAD_A = 1, LOAD_B = 2, COMPUTE = 4, STORE = 8 };

struct {
    volatile int32_t A[TILE], scale, unused[7];
} in LINE;
struct {
    volatile int32_t C[TILE], guard[8]; /* nobody writes behind C */
} out LINE;
volatile int32_t B[TILE] LINE;
volatile int32_t packet[3 + 2 * TILE + 5] LINE; /* opcode and tile of A, opcode and tile of B, compute */
volatile int32_t ask[8] LINE;                   /* store */

static void line(uintptr_t a, int invalidate) {
    if (invalidate) {
        __asm__ volatile("mcr p15, 0, %0, c7, c6, 1; dsb" ::"r"(a) : "memory");
        *(volatile uint32_t *)0xF8F02770u = a;
    } else {
        __asm__ volatile("mcr p15, 0, %0, c7, c10, 1; dsb" ::"r"(a) : "memory");
        *(volatile uint32_t *)0xF8F027B0u = a;
    }
}
STAGE void maintain(const volatile void *p, uint32_t bytes, int invalidate) {
    for (uintptr_t a = (uintptr_t)p & ~31u; a < (uintptr_t)p + bytes; a += 32) line(a, invalidate);
}
STAGE void reset(void) {
    R(MM2S) = 4;
    while (R(MM2S) & 4) {}
    R(MM2S) = 1;
    R(S2MM) = 1;
}
STAGE void fill(void) {
    volatile int32_t *a = in.A;
    in.scale = 1;
    for (int i = 0; i < TILE + (BUG == 7); i++) a[i] = i + 1; /* 7: one too many */
    for (int i = 0; i < TILE; i++) B[i] = i % 5 == 0;         /* the unit matrix */
}
STAGE void pack(void) {
    packet[0] = BUG == 5 ? COMPUTE : LOAD_A;
    for (int i = 0; i < TILE; i++) packet[1 + i] = in.A[i] * in.scale;
    packet[1 + TILE] = LOAD_B;
    for (int i = 0; i < TILE - (BUG == 10); i++) packet[2 + TILE + i] = B[i];
    packet[2 + 2 * TILE] = BUG == 5 ? LOAD_A : COMPUTE;
    ask[0] = STORE;
}
STAGE void send(const volatile void *p, uint32_t words) {
    R(MM2S + 0x18) = (uint32_t)(uintptr_t)p;
    R(MM2S + 0x28) = 4 * words;
}
STAGE void receive(volatile void *p, uint32_t words) {
    R(S2MM + 0x18) = (uint32_t)(uintptr_t)p;
    R(S2MM + 0x28) = 4 * words;
}
STAGE void wait_for(uint32_t channel) {
    while (!(R(channel + 4) & 2)) {}
}
STAGE int check(void) {
    int wrong = 0;
    for (int i = 0; i < TILE; i++) wrong += out.C[i] != in.A[i] * in.scale;
    return wrong;
}

int main(void) {
    reset();
    fill();
    pack();
    maintain(&in, sizeof in, 0);
    if (BUG != 1) maintain(packet, sizeof packet, 0); /* 1: the flush is missing */
    maintain(ask, sizeof ask, 0);
    maintain(&out, sizeof out, 1);
    send(BUG == 3 ? in.A : packet, BUG == 2 ? 2 + 2 * TILE : 3 + 2 * TILE); /* 2: a word short; 3: another array */
    wait_for(MM2S);
    if (BUG != 8) receive(BUG == 4 ? out.C + 8 : out.C, TILE); /* 8: nobody receives; 4: over what lies behind C */
    if (BUG == 6) out.C[3] = 1;                                /* while the DMA writes there */
    send(ask, 1);
    wait_for(MM2S);
    if (BUG != 9) wait_for(S2MM); /* 9: reads before it is there */
    maintain(out.C, sizeof out.C, 1);
    return check();
}
