/* shortest paths (PolyBench/C 4.2.1, floyd-warshall) */
#ifndef N
#define N 500
#endif

void floyd_warshall(float path[N][N])
{
  for (int k = 0; k < N; k++)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++)
        path[i][j] = path[i][j] < path[i][k] + path[k][j] ? path[i][j] : path[i][k] + path[k][j];
}
