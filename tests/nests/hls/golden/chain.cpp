// chain: HLS C++ of a scheduled loop nest, made by Axiloom
#include <stdint.h>
#include <hls_stream.h>

static void chain_0(const int32_t X[4][6], hls::stream<int32_t> &T)
{
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 6; j++) {
#pragma HLS pipeline II=1
            T.write(X[i][j] + X[i][j]);
        }
    }
}

static void chain_1(int32_t Y[4][6], hls::stream<int32_t> &T)
{
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 6; j++) {
#pragma HLS pipeline II=1
            const int32_t T_next = T.read();
            Y[i][j] = T_next * T_next;
        }
    }
}

void chain(const int32_t X[4][6], int32_t Y[4][6])
{
#pragma HLS interface mode=ap_memory port=X
#pragma HLS interface mode=ap_memory port=Y
#pragma HLS interface mode=s_axilite port=return
#pragma HLS dataflow
    hls::stream<int32_t> T("T");
#pragma HLS stream variable=T depth=3
    chain_0(X, T);
    chain_1(Y, T);
}
