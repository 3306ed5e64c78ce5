// pair: HLS C++ of a scheduled loop nest, made by Axiloom
#include <stdint.h>

void pair(const uint16_t X[10], uint16_t Y[10])
{
#pragma HLS interface mode=ap_memory port=X
#pragma HLS interface mode=ap_memory port=Y
#pragma HLS interface mode=s_axilite port=return
    uint16_t T[10];
    for (int i = 0; i < 10; i++) {
#pragma HLS pipeline II=1
        T[i] = X[i] + X[i];
        if (i >= 1) {
            Y[i] = (uint32_t)T[i - 1] * (uint32_t)T[i];
        }
    }
}
