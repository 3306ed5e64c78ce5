/* B = alpha*A^T*B, A lower triangular with ones on its diagonal (PolyBench/C 4.2.1, trmm) */
#ifndef M
#define M 200
#endif
#ifndef N
#define N 240
#endif

void trmm(float alpha, float A[M][M], float B[M][N])
{
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      for (int k = i + 1; k < M; k++)
        B[i][j] += A[k][i] * B[k][j];
      B[i][j] = alpha * B[i][j];
    }
}
