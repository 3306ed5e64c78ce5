/* A = Q*R (PolyBench/C 4.2.1, gramschmidt) */
#include <math.h>

#ifndef M
#define M 200
#endif
#ifndef N
#define N 240
#endif

void gramschmidt(float A[M][N], float R[N][N], float Q[M][N])
{
  float nrm;

  for (int k = 0; k < N; k++) {
    nrm = 0.0f;
    for (int i = 0; i < M; i++)
      nrm += A[i][k] * A[i][k];
    R[k][k] = sqrtf(nrm);
    for (int i = 0; i < M; i++)
      Q[i][k] = A[i][k] / R[k][k];
    for (int j = k + 1; j < N; j++) {
      R[k][j] = 0.0f;
      for (int i = 0; i < M; i++)
        R[k][j] += Q[i][k] * A[i][j];
      for (int i = 0; i < M; i++)
        A[i][j] = A[i][j] - Q[i][k] * R[k][j];
    }
  }
}
