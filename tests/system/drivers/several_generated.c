/* Two drivers that Axiloom generated, for two accelerators of one system, used in turn by one program. */
#include "large.h"
#include "small.h"

#define TRY(call) do { dma_status status_ = (call); if (status_) return status_; } while (0)

enum { TURNS = 2 };

int32_t A0[24 * 16], B0[16 * 32], C0[24 * 32];
int32_t A1[48 * 32], B1[32 * 16], C1[48 * 16];

int main(void) {
    TRY(dma_select(AXL_ID_v3_8));
    TRY(small_init());
    TRY(dma_select(AXL_ID_v4_16));
    TRY(large_init());
    for (int i = 0; i < TURNS; i++) {
        TRY(dma_select(AXL_ID_v3_8));
        TRY(small(A0, B0, C0));
        TRY(dma_select(AXL_ID_v4_16));
        TRY(large(A1, B1, C1));
    }
    return 0;
}
