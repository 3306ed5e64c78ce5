// gemm: HLS C++ of a scheduled loop nest, made by Axiloom
#include <stdint.h>
#include <math.h>

void gemm(const float alpha, const float beta, float C[4][5], const float A[4][6], const float B[6][5])
{
#pragma HLS interface mode=s_axilite port=alpha
#pragma HLS interface mode=s_axilite port=beta
#pragma HLS interface mode=ap_memory port=C
#pragma HLS array_partition variable=C cyclic factor=2 dim=2
#pragma HLS interface mode=ap_memory port=A
#pragma HLS interface mode=ap_memory port=B
#pragma HLS array_partition variable=B cyclic factor=2 dim=2
#pragma HLS interface mode=s_axilite port=return
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 5; j++) {
#pragma HLS pipeline II=1
#pragma HLS dependence variable=C type=inter false
#pragma HLS loop_flatten off  // no dependence within a run of this loop: proven by isl
            C[i][j] = C[i][j] * beta;
        }
    }
    for (int k = 0; k < 6; k++) {
        for (int i = 0; i < 4; i++) {
            for (int j1o = 0; j1o < 3; j1o++) {
#pragma HLS pipeline II=2
#pragma HLS dependence variable=C type=inter false
#pragma HLS loop_flatten off  // no dependence within a run of this loop: proven by isl
                for (int j1i = 0; j1i < 2; j1i++) {
#pragma HLS unroll
                    if (2 * j1o + j1i <= 4) {
                        C[i][2 * j1o + j1i] = C[i][2 * j1o + j1i] + alpha * A[i][k] * B[k][2 * j1o + j1i];
                    }
                }
            }
        }
    }
}
