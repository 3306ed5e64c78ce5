/* y = A^T * (A*x) (PolyBench/C 4.2.1, atax) */
#ifndef M
#define M 390
#endif
#ifndef N
#define N 410
#endif

void atax(float A[M][N], float x[N], float y[N])
{
  float tmp[M];

  for (int i = 0; i < N; i++)
    y[i] = 0.0f;
  for (int i = 0; i < M; i++) {
    tmp[i] = 0.0f;
    for (int j = 0; j < N; j++)
      tmp[i] = tmp[i] + A[i][j] * x[j];
    for (int j = 0; j < N; j++)
      y[j] = y[j] + A[i][j] * tmp[i];
  }
}
