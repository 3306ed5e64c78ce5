/* Leaves its arrays in each way: a loop that goes too far, a store before the begin, a call that copies too much. */
#include <string.h>

#include "axiloom.h"

int32_t A[4][6], B[5] = {1, 2, 3, 4, 5}, C[7];
int32_t copy[8];

int main(void) {
    volatile int32_t *c = C;
    int sum = 0;
    for (int i = 0; i < SIZE; i++)
        sum += ((volatile int32_t *)B)[i];
    c[-BEFORE] = sum;
    memcpy(copy, A[3], COPIED * sizeof(int32_t));
    return sum == 15 ? 0 : 1;
}
