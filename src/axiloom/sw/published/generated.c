/* Drivers in the structure of the published generated ones: each opcode, with its payload, one blocking transfer;
 * tiles copied by the library, through a descriptor that every iteration allocates on the stack (which is never
 * given back before the kernel returns: that is where the measured page faults come from). */
#include "kernel.h"

#define ALLOCA __builtin_alloca

/* An unranked view of a tile of a row-major matrix with `columns` columns. */
static void describe(memref2 *tile, int32_t *matrix, int row, int column, int columns) {
    memref2 whole = {matrix, matrix, 0, {columns, columns}, {columns, 1}};
    int64_t offset = (int64_t)row * whole.strides[0] + column;
    memref2 sub = {whole.allocated, whole.aligned, offset, {TILE, TILE}, {whole.strides[0], whole.strides[1]}};
    *tile = sub;
}

static int send_word(uint32_t opcode, int offset) {
    linux_dma_in()[offset] = opcode;
    return offset + 1;
}

static void transfer(int words) {
    linux_dma_start_send((uint32_t)words, 0);
    linux_dma_wait_send();
}

#define SEND_TILE(OPCODE, MATRIX, ROW, COLUMN, COLUMNS)                                                       \
    do {                                                                                                      \
        int offset = VERSION > 1 ? send_word(OPCODE, 0) : 0;                                                  \
        memref2 *tile = ALLOCA(sizeof *tile);                                                                 \
        describe(tile, MATRIX, ROW, COLUMN, COLUMNS);                                                         \
        linux_copy_to(2, tile, (uint32_t)offset);                                                             \
        transfer(offset + TILE * TILE);                                                                       \
    } while (0)

#define SEND_OPCODE(OPCODE)                                                                                   \
    do {                                                                                                      \
        int32_t **word = ALLOCA(16);                                                                          \
        int32_t literal = OPCODE;                                                                             \
        word[0] = word[1] = &literal;                                                                         \
        linux_copy_to(0, word, 0);                                                                            \
        transfer(1);                                                                                          \
    } while (0)

/* What comes back goes to a tile of its own, and is added by loops. */
#define RECV_C                                                                                                \
    do {                                                                                                      \
        memref2 *tile = ALLOCA(sizeof *tile), c;                                                              \
        describe(tile, received, 0, 0, TILE);                                                                 \
        describe(&c, C, m, n, N);                                                                             \
        linux_dma_start_recv(TILE * TILE, 0);                                                                 \
        linux_dma_wait_recv();                                                                                \
        linux_copy_from(2, tile, 0);                                                                          \
        int32_t *to = c.aligned + c.offset;                                                                   \
        for (int i = 0; i < TILE; i++)                                                                        \
            for (int j = 0; j < TILE; j++) {                                                                  \
                int32_t x = received[i * TILE + j];                                                           \
                to[i * N + j] += x;                                                                           \
            }                                                                                                 \
    } while (0)

#define SEND_A SEND_TILE(LOAD_A, A, m, k, K)
#define SEND_B SEND_TILE(LOAD_B, B, k, n, N)
/* Compute and store in one transfer, where the flow has them side by side. */
#define COMPUTE_AND_RECV                                                                                      \
    do {                                                                                                      \
        if (VERSION == 2)                                                                                     \
            SEND_OPCODE(COMPUTE);                                                                             \
        if (VERSION == 3) {                                                                                   \
            send_word(STORE_C, 1);                                                                            \
            int32_t **word = ALLOCA(16);                                                                      \
            int32_t literal = COMPUTE;                                                                        \
            word[0] = word[1] = &literal;                                                                     \
            linux_copy_to(0, word, 0);                                                                        \
            transfer(2);                                                                                      \
        }                                                                                                     \
        RECV_C;                                                                                               \
    } while (0)

void kernel(int32_t *A, int32_t *B, int32_t *C) {
    int32_t received[TILE * TILE];
    linux_dma_init(0x40400000, 0x16000000, 16384, 0x16400000, 16384);
#if FLOW == NS
    for (int m = 0; m < M; m += TILE)
        for (int n = 0; n < N; n += TILE)
            for (int k = 0; k < K; k += TILE) {
                SEND_A;
                SEND_B;
                COMPUTE_AND_RECV;
            }
#elif FLOW == AS
    for (int m = 0; m < M; m += TILE)
        for (int k = 0; k < K; k += TILE) {
            SEND_A;
            for (int n = 0; n < N; n += TILE) {
                SEND_B;
                COMPUTE_AND_RECV;
            }
        }
#elif FLOW == BS
    for (int n = 0; n < N; n += TILE)
        for (int k = 0; k < K; k += TILE) {
            SEND_B;
            for (int m = 0; m < M; m += TILE) {
                SEND_A;
                COMPUTE_AND_RECV;
            }
        }
#else
    for (int m = 0; m < M; m += TILE)
        for (int n = 0; n < N; n += TILE) {
            for (int k = 0; k < K; k += TILE) {
                SEND_A;
                SEND_B;
                SEND_OPCODE(COMPUTE);
            }
            SEND_OPCODE(STORE_C);
            RECV_C;
        }
#endif
}
