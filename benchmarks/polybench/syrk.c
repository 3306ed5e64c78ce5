/* C = alpha*A*A^T + beta*C, the lower triangle (PolyBench/C 4.2.1, syrk) */
#ifndef M
#define M 200
#endif
#ifndef N
#define N 240
#endif

void syrk(float alpha, float beta, float C[N][N], float A[N][M])
{
  for (int i = 0; i < N; i++) {
    for (int j = 0; j <= i; j++)
      C[i][j] *= beta;
    for (int k = 0; k < M; k++)
      for (int j = 0; j <= i; j++)
        C[i][j] += alpha * A[i][k] * A[j][k];
  }
}
