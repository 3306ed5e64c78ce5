/* L*x = b, L lower triangular (PolyBench/C 4.2.1, trisolv) */
#ifndef N
#define N 400
#endif

void trisolv(float L[N][N], float x[N], float b[N])
{
  for (int i = 0; i < N; i++) {
    x[i] = b[i];
    for (int j = 0; j < i; j++)
      x[i] -= L[i][j] * x[j];
    x[i] = x[i] / L[i][i];
  }
}
