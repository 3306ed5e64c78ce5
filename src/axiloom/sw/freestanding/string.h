/* The part of <string.h> that bare-metal programs get (sw/arm/string.c, or another of the CPU's own); the compiler
 * brings none. */
#ifndef AXL_STRING_H
#define AXL_STRING_H

#include <stddef.h>

void *memcpy(void *restrict dst, const void *restrict src, size_t n);
void *memmove(void *dst, const void *src, size_t n);
void *memset(void *dst, int value, size_t n);
int memcmp(const void *a, const void *b, size_t n);

#endif
