/* What loops need of PolyBench's header, where the benchmark's own is not on the way (-I). */
#ifndef POLYBENCH_LOOP_BOUND
#define POLYBENCH_LOOP_BOUND(x, y) x
#define POLYBENCH_1D(v, d0, g0) v[d0]
#define POLYBENCH_2D(v, d0, d1, g0, g1) v[d0][d1]
#define POLYBENCH_3D(v, d0, d1, d2, g0, g1, g2) v[d0][d1][d2]
#define POLYBENCH_4D(v, d0, d1, d2, d3, g0, g1, g2, g3) v[d0][d1][d2][d3]
#define POLYBENCH_5D(v, d0, d1, d2, d3, d4, g0, g1, g2, g3, g4) v[d0][d1][d2][d3][d4]
#endif
