/* O = F * I on the CPU in plain loops. */
#include "conv.h"

int main(void) {
    for (int oc = 0; oc < OC; oc++)
        for (int oh = 0; oh < OH; oh++)
            for (int ow = 0; ow < OW; ow++) {
                uint32_t sum = 0;
                for (int ic = 0; ic < IC; ic++)
                    for (int fh = 0; fh < FH; fh++)
                        for (int fw = 0; fw < FW; fw++)
                            sum += (uint32_t)(int32_t)F[oc][ic][fh][fw] *
                                   (uint32_t)(int32_t)I[ic][oh * SH + fh][ow * SW + fw];
                O[oc][oh][ow] = (int32_t)sum;
            }
    return 0;
}
