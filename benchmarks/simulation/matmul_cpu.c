/* C = A . B in plain loops: int32, wrapping, row major. */
#include <stdint.h>

enum { N = 128 };
int32_t A[N][N], B[N][N], C[N][N];

int main(void) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            uint32_t sum = 0;
            for (int k = 0; k < N; k++)
                sum += (uint32_t)A[i][k] * (uint32_t)B[k][j];
            C[i][j] = (int32_t)sum;
        }
    return 0;
}
