/* Waiting by the global timer. */
#ifndef SLEEP_H
#define SLEEP_H

#include <unistd.h>

#include "xil_io.h"
#include "xil_types.h"

#ifdef __cplusplus
extern "C" {
#endif
unsigned sleep(unsigned seconds);
int usleep(unsigned useconds);
void msleep(ULONG mseconds);
#ifdef __cplusplus
}
#endif

/* Until a read by `IO_func` makes `cond` true, or for `timeout_us` at most; 0, or XST_FAILURE. */
#define Xil_poll_timeout(IO_func, ADDR, VALUE, COND, TIMEOUT_US)                                   \
    ({                                                                                             \
        u64 left_ = (TIMEOUT_US);                                                                  \
        while (((VALUE) = IO_func(ADDR)), !(COND) && left_ > 0) {                                  \
            usleep(1U);                                                                            \
            left_--;                                                                               \
        }                                                                                          \
        (COND) ? XST_SUCCESS : XST_FAILURE;                                                        \
    })

#endif
