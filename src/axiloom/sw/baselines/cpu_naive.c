/* C += A . B on the CPU in plain loops. */
#include "cpu.h"

int main(void) {
    plain(0, 0, 0, M, N);
    return 0;
}
