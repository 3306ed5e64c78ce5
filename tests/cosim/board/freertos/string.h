/* What FreeRTOS takes of a C library. */
#pragma once
#include <stddef.h>
void *memset(void *to, int value, size_t size);
void *memcpy(void *to, const void *from, size_t size);
int memcmp(const void *a, const void *b, size_t size);
size_t strlen(const char *text);
