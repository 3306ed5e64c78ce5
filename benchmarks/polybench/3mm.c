/* G = (A*B)*(C*D) (PolyBench/C 4.2.1, 3mm) */
#ifndef NI
#define NI 180
#endif
#ifndef NJ
#define NJ 190
#endif
#ifndef NK
#define NK 200
#endif
#ifndef NL
#define NL 210
#endif
#ifndef NM
#define NM 220
#endif

void k3mm(float A[NI][NK], float B[NK][NJ], float C[NJ][NM], float D[NM][NL], float G[NI][NL])
{
  float E[NI][NJ];
  float F[NJ][NL];

  for (int i = 0; i < NI; i++)
    for (int j = 0; j < NJ; j++) {
      E[i][j] = 0.0f;
      for (int k = 0; k < NK; ++k)
        E[i][j] += A[i][k] * B[k][j];
    }
  for (int i = 0; i < NJ; i++)
    for (int j = 0; j < NL; j++) {
      F[i][j] = 0.0f;
      for (int k = 0; k < NM; ++k)
        F[i][j] += C[i][k] * D[k][j];
    }
  for (int i = 0; i < NI; i++)
    for (int j = 0; j < NL; j++) {
      G[i][j] = 0.0f;
      for (int k = 0; k < NJ; ++k)
        G[i][j] += E[i][k] * F[k][j];
    }
}
