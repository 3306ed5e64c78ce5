/* The problem and its kernel. Macros: M, N, K; TILE, VERSION (1, 2, 3) and FLOW (NS, AS, BS, CS) with an accelerator.
 * All but the library is compiled as at -O0, as what was measured behaves. */
#ifndef PUBLISHED_KERNEL_H
#define PUBLISHED_KERNEL_H

#include "linux_dma.h"

#pragma clang optimize off

#define NS 1
#define AS 2
#define BS 3
#define CS 4

/* One opcode a bit (isa/specs/bitmask.json). */
enum { LOAD_A = 1, LOAD_B = 2, COMPUTE = 4, STORE_C = 8 };

void kernel(int32_t *A, int32_t *B, int32_t *C);

#endif
