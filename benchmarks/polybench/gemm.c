/* C = alpha*A*B + beta*C (PolyBench/C 4.2.1, gemm) */
#ifndef NI
#define NI 200
#endif
#ifndef NJ
#define NJ 220
#endif
#ifndef NK
#define NK 240
#endif

void gemm(float alpha, float beta, float C[NI][NJ], float A[NI][NK], float B[NK][NJ])
{
  for (int i = 0; i < NI; i++) {
    for (int j = 0; j < NJ; j++)
      C[i][j] *= beta;
    for (int k = 0; k < NK; k++)
      for (int j = 0; j < NJ; j++)
        C[i][j] += alpha * A[i][k] * B[k][j];
  }
}
