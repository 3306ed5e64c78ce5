/* C is stored with no receive armed; the next computes fill the device until its input stalls. */
#include "common.h"

int main(void) {
    TRY(start());
    TRY(send_tile(1, A));
    TRY(send_tile(2, B));
    for (int i = 0; i < 64; i++) {
        TRY(send_opcode(4));
        TRY(send_opcode(8));
    }
    return 0;
}
