/* Asks at one UART, and prints at both. */
#include "board.h"

static void second(const char *s) {
    for (; *s; s++) {
        while (AT(UART + 0x102C) & 0x10)
            continue;
        AT(UART + 0x1030) = (uint32_t)*s;
    }
}

int main(void) {
    char name[32];
    int n = 0;
    text("name? ");
    do {
        while (AT(UART + 0x2C) & 2)
            continue;
        name[n] = (char)AT(UART + 0x30);
        put(name[n] == '\r' ? '\n' : name[n]);
    } while (name[n++] != '\r' && n < 31);
    name[--n] = 0;
    text("hello ");
    second("a second port\nhalf ");
    text(name);
    put('\n');
    second("a line\nthe last");
    return n;
}
