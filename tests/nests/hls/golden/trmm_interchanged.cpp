// trmm: HLS C++ of a scheduled loop nest, made by Axiloom
#include <stdint.h>
#include <ap_fixed.h>

typedef ap_fixed<16, 8, AP_RND, AP_WRAP> fixed16_8_t;
typedef ap_fixed<16, 8, AP_RND, AP_SAT> fixed16_8_sat_t;

static inline long floor_div(long a, long b) { return a / b - (a % b < 0); }

void trmm(const fixed16_8_t alpha, const fixed16_8_t A[6][6], fixed16_8_t B[6][5])
{
#pragma HLS interface mode=s_axilite port=alpha
#pragma HLS interface mode=ap_memory port=A
#pragma HLS interface mode=ap_memory port=B
#pragma HLS interface mode=s_axilite port=return
    for (int j = 0; j < 5; j++) {
        for (int i = 0; i < 6; i++) {
            for (int ko = floor_div(i, 2); ko < 3; ko++) {
#pragma HLS pipeline II=1
                for (int ki = 0; ki < 2; ki++) {
#pragma HLS unroll
                    if (2 * ko + ki >= i && 2 * ko + ki <= 4) {
                        B[i][j] = B[i][j] + fixed16_8_t(fixed16_8_sat_t(A[2 * ko + ki + 1][i] * B[2 * ko + ki + 1][j]));
                    }
                }
            }
            B[i][j] = fixed16_8_t(fixed16_8_sat_t(alpha * B[i][j]));
        }
    }
}
