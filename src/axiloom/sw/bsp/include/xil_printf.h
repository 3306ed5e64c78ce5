/* Text on the UART. xil_printf knows %c %d %i %u %x %X %p %s %%, with width, `-`, `0` and `l`: no floating point. */
#ifndef XIL_PRINTF_H
#define XIL_PRINTF_H

#include <stdarg.h>

#include "xil_types.h"

#ifdef __cplusplus
extern "C" {
#endif
void xil_printf(const char8 *ctrl1, ...);
void xil_vprintf(const char8 *ctrl1, va_list argp);
void print(const char8 *ptr);
void putnum(u32 num);
void outbyte(char c);
char inbyte(void);
#ifdef __cplusplus
}
#endif

#endif
