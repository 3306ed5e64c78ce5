// jacobi: HLS C++ of a scheduled loop nest, made by Axiloom
#include <stdint.h>
#include <ap_int.h>

void jacobi(ap_int<12> A[9], ap_int<12> B[9])
{
#pragma HLS interface mode=ap_memory port=A
#pragma HLS interface mode=ap_memory port=B
#pragma HLS interface mode=s_axilite port=return
    for (int t = 0; t < 3; t++) {
        for (int s = 2 * t + 1; s < 2 * t + 9; s++) {
#pragma HLS pipeline II=1
            if (2 * t + 7 >= s) {
                B[s - 2 * t] = ap_int<12>(3) * (A[s - 2 * t - 1] + A[s - 2 * t] + A[s + 1 - 2 * t]);
            }
            if (s >= 2 * t + 2) {
                A[s - 2 * t - 1] = ap_int<12>(3) * (B[s - 2 * t - 2] + B[s - 2 * t - 1] + B[s - 2 * t]);
            }
        }
    }
}
