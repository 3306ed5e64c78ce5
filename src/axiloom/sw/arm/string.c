/* The functions of <string.h> that a freestanding compiler may call on its own. The toolchain compiles this file
 * with -fno-builtin, or the loops below would become calls of themselves. */
#include <arm_neon.h>
#include <stdint.h>
#include <string.h>

typedef uint32_t __attribute__((may_alias)) word;

static int words_fit(const void *a, const void *b) {
    return (((uintptr_t)a | (uintptr_t)b) & (sizeof(word) - 1)) == 0;
}

void *memcpy(void *restrict dst, const void *restrict src, size_t n) {
    unsigned char *d = dst;
    const unsigned char *s = src;
    if (words_fit(d, s)) {
        word *restrict dw = dst;
        const word *restrict sw = src;
        size_t words = n / sizeof(word);
        for (size_t i = 0; i < words; i++)
            dw[i] = sw[i];
        d += words * sizeof(word);
        s += words * sizeof(word);
        n %= sizeof(word);
    } else { /* rows of bytes, of a padded image say: normal memory may be accessed at any address */
        for (; n >= 16; n -= 16, d += 16, s += 16)
            vst1q_u8(d, vld1q_u8(s));
    }
    for (size_t i = 0; i < n; i++)
        d[i] = s[i];
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
    unsigned char byte = (unsigned char)value;
    if (words_fit(d, d)) {
        word *dw = dst;
        size_t words = n / sizeof(word);
        for (size_t i = 0; i < words; i++)
            dw[i] = byte * 0x01010101u;
        d += words * sizeof(word);
        n %= sizeof(word);
    } else {
        for (; n >= 16; n -= 16, d += 16)
            vst1q_u8(d, vdupq_n_u8(byte));
    }
    for (size_t i = 0; i < n; i++)
        d[i] = byte;
    return dst;
}

int memcmp(const void *a, const void *b, size_t n) {
    const unsigned char *x = a, *y = b;
    for (size_t i = 0; i < n; i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return 0;
}
