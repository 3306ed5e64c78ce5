/* One process: the matrices initialised once, one call of the kernel. */
#include "kernel.h"

/* Out of .bss, which a loader would touch: pages are the process's own only when it uses them. */
#define FRESH __attribute__((section(".noinit"), aligned(4096)))

FRESH int32_t A[M * K];
FRESH int32_t B[K * N];
FRESH int32_t C[M * N];

/* The generated drivers' stack grows in their loops (generated.c). */
#define STACK_BYTES (48u << 20)
FRESH static char stack[STACK_BYTES];

static void reset(int32_t *a, int32_t *b, int32_t *c) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < K; j++)
            a[i * K + j] = i - j;
    for (int i = 0; i < K; i++)
        for (int j = 0; j < N; j++)
            b[i * N + j] = i + 2 * j;
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++)
            c[i * N + j] = 0;
}

static void process(void) {
    reset(A, B, C);
    kernel(A, B, C);
}

int main(void) {
    __asm__ volatile("mov r4, sp\n\t"
                     "mov sp, %1\n\t"
                     "blx %0\n\t"
                     "mov sp, r4"
                     :
                     : "r"(process), "r"(stack + STACK_BYTES)
                     : "r0", "r1", "r2", "r3", "r4", "ip", "lr", "memory", "cc");
    return 0;
}
