/* conv_v3 by hand, as its authors drive it, but with as many windows a transfer as the DMA's window holds.
 *
 * For each output channel: its filter, then for each output pixel the window of the image under it, which the device
 * multiplies by the filter and keeps; at the end it sends all of the channel's pixels. Opcodes are bits: 32 sets FH, 16
 * IC, 1 loads the filter, 2 the window, 4 computes, 64 keeps the result, 8 sends them all. */
#include "axiloom.h"
#include "conv.h"

#if BITS != 32 || FH != FW
#error "this driver is for int32 and square filters"
#endif

enum { SET_FH = 32, SET_IC = 16, LOAD_FILTER = 1, WINDOW = 2 | 4 | 64, SEND = 8 };
enum { TAPS = IC * FH * FW, ROOM = 131072 / 4, TOGETHER = (ROOM - 2 * TAPS - 8) / (1 + TAPS) };

#define TRY(call)                          \
    do {                                   \
        const dma_status status_ = (call); \
        if (status_ != DMA_OK)             \
            return status_;                \
    } while (0)

static int32_t *in;

static inline int32_t *put(int32_t *to, int32_t word) {
    *to = word;
    return to + 1;
}

static inline int32_t *put_filter(int32_t *restrict to, const int32_t *restrict from) {
    for (int t = 0; t < TAPS; t++)
        *to++ = from[t];
    return to;
}

/* The sizes are constants: the compiler unrolls the rows. */
static inline int32_t *put_window(int32_t *restrict to, int row, int column) {
    for (int ic = 0; ic < IC; ic++)
        for (int fh = 0; fh < FH; fh++) {
            const int32_t *from = &I[ic][row + fh][column];
            for (int fw = 0; fw < FW; fw++)
                *to++ = from[fw];
        }
    return to;
}

static dma_status send(const int32_t *end) {
    TRY(dma_start_send((uint32_t)(end - in), 0));
    return dma_wait_send();
}

static dma_status convolve(void) {
    const int32_t *out = (const int32_t *)dma_out_buffer();
    TRY(send(put(put(put(put(in, SET_FH), FH), SET_IC), IC)));
    for (int oc = 0; oc < OC; oc++) {
        int32_t *to = put_filter(put(in, LOAD_FILTER), &F[oc][0][0][0]);
        int packed = 0;
        TRY(dma_start_recv(OH * OW, 0));
        for (int oh = 0; oh < OH; oh++)
            for (int ow = 0; ow < OW; ow++) {
                to = put_window(put(to, WINDOW), oh * SH, ow * SW);
                if (++packed == TOGETHER) {
                    TRY(send(to));
                    to = in;
                    packed = 0;
                }
            }
        TRY(send(put(to, SEND)));
        TRY(dma_wait_recv());
        int32_t *result = &O[oc][0][0];
        for (int p = 0; p < OH * OW; p++)
            result[p] = out[p];
    }
    return DMA_OK;
}

int main(void) {
    TRY(dma_init(0x40400000, 0x16000000, 131072, 0x16400000, 65536));
    in = (int32_t *)dma_in_buffer();
    TRY(convolve());
    return dma_free();
}
