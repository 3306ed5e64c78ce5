// jacobi: HLS C++ of a scheduled loop nest, made by Axiloom
#include <stdint.h>
#include <ap_int.h>

void jacobi(ap_int<12> A[9], ap_int<12> B[9])
{
#pragma HLS interface mode=ap_memory port=A
#pragma HLS interface mode=ap_memory port=B
#pragma HLS interface mode=s_axilite port=return
    for (int t = 0; t < 3; t++) {
        for (int i = 2 * t + 1; i < 2 * t + 9; i++) {
#pragma HLS pipeline II=1
            if (2 * t + 7 >= i) {
                B[i - 2 * t] = ap_int<12>(3) * (A[i - 2 * t - 1] + A[i - 2 * t] + A[i + 1 - 2 * t]);
            }
            if (i >= 2 * t + 2) {
                A[i - 2 * t - 1] = ap_int<12>(3) * (B[i - 2 * t - 2] + B[i - 2 * t - 1] + B[i - 2 * t]);
            }
        }
    }
}
