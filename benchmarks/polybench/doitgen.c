/* A[r][q] = A[r][q] * C4 (PolyBench/C 4.2.1, doitgen) */
#ifndef NQ
#define NQ 40
#endif
#ifndef NR
#define NR 50
#endif
#ifndef NP
#define NP 60
#endif

void doitgen(float A[NR][NQ][NP], float C4[NP][NP])
{
  float sum[NP];

  for (int r = 0; r < NR; r++)
    for (int q = 0; q < NQ; q++) {
      for (int p = 0; p < NP; p++) {
        sum[p] = 0.0f;
        for (int s = 0; s < NP; s++)
          sum[p] += A[r][q][s] * C4[s][p];
      }
      for (int p = 0; p < NP; p++)
        A[r][q][p] = sum[p];
    }
}
