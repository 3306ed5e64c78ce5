/* C = alpha*A*B + beta*C, A symmetric, its lower triangle stored (PolyBench/C 4.2.1, symm) */
#ifndef M
#define M 200
#endif
#ifndef N
#define N 240
#endif

void symm(float alpha, float beta, float C[M][N], float A[M][M], float B[M][N])
{
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      float temp2 = 0;
      for (int k = 0; k < i; k++) {
        C[k][j] += alpha * B[i][j] * A[i][k];
        temp2 += B[k][j] * A[i][k];
      }
      C[i][j] = beta * C[i][j] + alpha * B[i][j] * A[i][i] + alpha * temp2;
    }
}
