/* A = L*L^T, in the lower triangle (PolyBench/C 4.2.1, cholesky) */
#include <math.h>

#ifndef N
#define N 400
#endif

void cholesky(float A[N][N])
{
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < i; j++) {
      for (int k = 0; k < j; k++)
        A[i][j] -= A[i][k] * A[j][k];
      A[i][j] /= A[j][j];
    }
    for (int k = 0; k < i; k++)
      A[i][i] -= A[i][k] * A[i][k];
    A[i][i] = sqrtf(A[i][i]);
  }
}
