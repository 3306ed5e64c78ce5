/* x1 += A*y1, x2 += A^T*y2 (PolyBench/C 4.2.1, mvt) */
#ifndef N
#define N 400
#endif

void mvt(float x1[N], float x2[N], float y_1[N], float y_2[N], float A[N][N])
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      x1[i] = x1[i] + A[i][j] * y_1[j];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      x2[i] = x2[i] + A[j][i] * y_2[j];
}
