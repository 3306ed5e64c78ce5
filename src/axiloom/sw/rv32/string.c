/* The functions of <string.h> that a freestanding compiler may call on its own, for a core whose loads and stores must be
 * aligned. The toolchain compiles this file with -fno-builtin, or the loops below would become calls of themselves. */
#include <stdint.h>
#include <string.h>

typedef uint32_t __attribute__((may_alias)) word;

enum { WITHIN = sizeof(word) - 1 };

/* Bytes up to the next word, `n` at most. */
static size_t to_word(const void *at, size_t n) {
    const size_t bytes = -(uintptr_t)at & WITHIN;
    return bytes < n ? bytes : n;
}

void *memcpy(void *restrict dst, const void *restrict src, size_t n) {
    unsigned char *d = dst;
    const unsigned char *s = src;
    if ((((uintptr_t)d ^ (uintptr_t)s) & WITHIN) == 0) {
        for (size_t head = to_word(d, n); head; head--, n--)
            *d++ = *s++;
        word *dw = (word *)d;
        const word *sw = (const word *)s;
        for (; n >= 4 * sizeof(word); n -= 4 * sizeof(word), dw += 4, sw += 4) {
            const word a = sw[0], b = sw[1], c = sw[2], e = sw[3];
            dw[0] = a, dw[1] = b, dw[2] = c, dw[3] = e;
        }
        for (; n >= sizeof(word); n -= sizeof(word))
            *dw++ = *sw++;
        d = (unsigned char *)dw;
        s = (const unsigned char *)sw;
    }
    while (n--)
        *d++ = *s++;
    return dst;
}

void *memmove(void *dst, const void *src, size_t n) {
    unsigned char *d = dst;
    const unsigned char *s = src;
    if ((uintptr_t)d - (uintptr_t)s >= n)
        return memcpy(dst, src, n);
    while (n--)
        d[n] = s[n];
    return dst;
}

void *memset(void *dst, int value, size_t n) {
    unsigned char *d = dst;
    const unsigned char byte = (unsigned char)value;
    for (size_t head = to_word(d, n); head; head--, n--)
        *d++ = byte;
    word *dw = (word *)d;
    for (; n >= sizeof(word); n -= sizeof(word))
        *dw++ = byte * 0x01010101u;
    for (d = (unsigned char *)dw; n; n--)
        *d++ = byte;
    return dst;
}

int memcmp(const void *a, const void *b, size_t n) {
    const unsigned char *x = a, *y = b;
    for (size_t i = 0; i < n; i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return 0;
}
