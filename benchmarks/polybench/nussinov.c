/* folding of a sequence, by dynamic programming; integers (PolyBench/C 4.2.1, nussinov) */
#include <stdint.h>

#ifndef N
#define N 500
#endif

#define MATCH(b1, b2) (((b1) + (b2)) == 3 ? 1 : 0)
#define MAX_SCORE(s1, s2) ((s1) >= (s2) ? (s1) : (s2))

void nussinov(int8_t seq[N], int32_t table[N][N])
{
  for (int i = N - 1; i >= 0; i--)
    for (int j = i + 1; j < N; j++) {
      if (j - 1 >= 0)
        table[i][j] = MAX_SCORE(table[i][j], table[i][j - 1]);
      if (i + 1 < N)
        table[i][j] = MAX_SCORE(table[i][j], table[i + 1][j]);
      if (j - 1 >= 0 && i + 1 < N) {
        if (i < j - 1)
          table[i][j] = MAX_SCORE(table[i][j], table[i + 1][j - 1] + MATCH(seq[i], seq[j]));
        else
          table[i][j] = MAX_SCORE(table[i][j], table[i + 1][j - 1]);
      }
      for (int k = i + 1; k < j; k++)
        table[i][j] = MAX_SCORE(table[i][j], table[i][k] + table[k + 1][j]);
    }
}
