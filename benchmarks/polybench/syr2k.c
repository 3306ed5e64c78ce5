/* C = alpha*A*B^T + alpha*B*A^T + beta*C, the lower triangle (PolyBench/C 4.2.1, syr2k) */
#ifndef M
#define M 200
#endif
#ifndef N
#define N 240
#endif

void syr2k(float alpha, float beta, float C[N][N], float A[N][M], float B[N][M])
{
  for (int i = 0; i < N; i++) {
    for (int j = 0; j <= i; j++)
      C[i][j] *= beta;
    for (int k = 0; k < M; k++)
      for (int j = 0; j <= i; j++)
        C[i][j] += A[j][k] * alpha * B[i][k] + B[j][k] * alpha * A[i][k];
  }
}
