/* D = alpha*A*B*C + beta*D (PolyBench/C 4.2.1, 2mm) */
#ifndef NI
#define NI 180
#endif
#ifndef NJ
#define NJ 190
#endif
#ifndef NK
#define NK 210
#endif
#ifndef NL
#define NL 220
#endif

void k2mm(float alpha, float beta, float A[NI][NK], float B[NK][NJ], float C[NJ][NL], float D[NI][NL])
{
  float tmp[NI][NJ];

  for (int i = 0; i < NI; i++)
    for (int j = 0; j < NJ; j++) {
      tmp[i][j] = 0.0f;
      for (int k = 0; k < NK; ++k)
        tmp[i][j] += alpha * A[i][k] * B[k][j];
    }
  for (int i = 0; i < NI; i++)
    for (int j = 0; j < NL; j++) {
      D[i][j] *= beta;
      for (int k = 0; k < NJ; ++k)
        D[i][j] += tmp[i][k] * C[k][j];
    }
}
