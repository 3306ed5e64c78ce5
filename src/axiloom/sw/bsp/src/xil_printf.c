/* Text on the UART, and assertions, which end in a message of it. UG585, 19.3 and B.33. */
#include "xil_printf.h"

#include "xil_assert.h"
#include "xil_io.h"
#include "xparameters.h"

enum { UART_STATUS = 0x2C, UART_FIFO = 0x30, RECEIVED_NONE = 1u << 1, SENDER_FULL = 1u << 4 };

void outbyte(char c) {
    while (Xil_In32(STDOUT_BASEADDRESS + UART_STATUS) & SENDER_FULL)
        continue;
    Xil_Out32(STDOUT_BASEADDRESS + UART_FIFO, (u32)(u8)c);
}

char inbyte(void) {
    while (Xil_In32(STDIN_BASEADDRESS + UART_STATUS) & RECEIVED_NONE)
        continue;
    return (char)Xil_In32(STDIN_BASEADDRESS + UART_FIFO);
}

void print(const char8 *ptr) {
    while (*ptr)
        outbyte(*ptr++);
}

void putnum(u32 num) { xil_printf("%08x", num); }

typedef struct {
    int width, left;
    char fill;
} layout;

static void padded(const char *text, int length, layout how) {
    const int more = how.width - length;
    for (int i = 0; i < more && !how.left; i++)
        outbyte(how.fill);
    for (int i = 0; i < length; i++)
        outbyte(text[i]);
    for (int i = 0; i < more && how.left; i++)
        outbyte(' ');
}

static void number(u64 value, u32 base, int is_negative, const char *digits, layout how) {
    char text[24];
    int first = sizeof text;
    do
        text[--first] = digits[value % base];
    while (value /= base);
    if (is_negative && how.fill == '0') {
        outbyte('-');
        how.width--;
    } else if (is_negative) {
        text[--first] = '-';
    }
    padded(text + first, (int)sizeof text - first, how);
}

static s64 signed_argument(va_list *from, int longs) {
    return longs > 1 ? va_arg(*from, long long) : longs ? va_arg(*from, long) : va_arg(*from, int);
}

static u64 unsigned_argument(va_list *from, int longs) {
    return longs > 1 ? va_arg(*from, unsigned long long) : longs ? va_arg(*from, unsigned long) : va_arg(*from, unsigned);
}

static int length_of(const char *text, int most) {
    int length = 0;
    while ((most < 0 || length < most) && text[length])
        length++;
    return length;
}

/* One conversion, from behind its %; the place behind it. */
static const char8 *conversion(const char8 *at, va_list *from) {
    layout how = {0, 0, ' '};
    int longs = 0, most = -1;
    for (;; at++) {
        if (*at == '-')
            how.left = 1;
        else if (*at == '0')
            how.fill = '0';
        else
            break;
    }
    for (; *at >= '0' && *at <= '9'; at++)
        how.width = how.width * 10 + *at - '0';
    if (*at == '.')
        for (at++, most = 0; *at >= '0' && *at <= '9'; at++)
            most = most * 10 + *at - '0';
    for (; *at == 'l'; at++)
        longs++;
    switch (*at) {
    case 0:
        return at;
    case 'd':
    case 'i': {
        const s64 value = signed_argument(from, longs);
        number(value < 0 ? -(u64)value : (u64)value, 10, value < 0, "0123456789", how);
        break;
    }
    case 'u':
        number(unsigned_argument(from, longs), 10, 0, "0123456789", how);
        break;
    case 'p':
        number((UINTPTR)va_arg(*from, void *), 16, 0, "0123456789ABCDEF", how);
        break;
    case 'x':
        number(unsigned_argument(from, longs), 16, 0, "0123456789abcdef", how);
        break;
    case 'X':
        number(unsigned_argument(from, longs), 16, 0, "0123456789ABCDEF", how);
        break;
    case 's': {
        const char *text = va_arg(*from, const char *);
        text = text ? text : "(null)";
        padded(text, length_of(text, most), how);
        break;
    }
    case 'c':
        outbyte((char)va_arg(*from, int));
        break;
    case '%':
        outbyte('%');
        break;
    default: /* as on a board: a floating point number is not printed, and its argument not taken */
        break;
    }
    return at + 1;
}

void xil_vprintf(const char8 *ctrl1, va_list argp) {
    va_list from;
    va_copy(from, argp);
    while (*ctrl1) {
        if (*ctrl1 == '%')
            ctrl1 = conversion(ctrl1 + 1, &from);
        else
            outbyte(*ctrl1++);
    }
    va_end(from);
}

void xil_printf(const char8 *ctrl1, ...) {
    va_list from;
    va_start(from, ctrl1);
    xil_vprintf(ctrl1, from);
    va_end(from);
}

u32 Xil_AssertStatus;
s32 Xil_AssertWait = 1;
static Xil_AssertCallback on_assertion;

void Xil_AssertSetCallback(Xil_AssertCallback Routine) { on_assertion = Routine; }
void XNullHandler(void *NullParameter) { (void)NullParameter; }

__attribute__((noinline)) void Xil_Assert(const char8 *File, s32 Line) {
    if (on_assertion)
        on_assertion(File, Line);
    while (*(volatile s32 *)&Xil_AssertWait)
        continue;
}
