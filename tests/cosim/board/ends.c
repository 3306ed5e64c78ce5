/* How programs end badly, or not at all. */
#include "board.h"

void Xil_DataAbortHandler(void) {
    while (1)
        continue;
}
void on_data_abort(void) { Xil_DataAbortHandler(); }
static volatile int wait = 1;
__attribute__((noinline)) void Xil_Assert(const char *file, int line) {
    __asm__ volatile("" ::"r"(file), "r"(line));
    while (wait)
        continue;
}

int main(void) {
    text("begins\n");
#if HOW == 0
    return (int)AT(0x30000000); /* the load */
#elif HOW == 1
    Xil_Assert("ends.c", 4711);
    return 0;
#elif HOW == 2
    while (1)
        continue; /* the loop */
#elif HOW == 3
    AT(PRIVATE_TIMER) = 1000;
    AT(PRIVATE_TIMER + 8) = 7;
    enable(29, 0xA0);
    interrupts_on();
    while (1)
        __asm__ volatile("wfi");
}
void on_irq(void) {
    AT(PRIVATE_TIMER + 0xC) = 1;
    AT(CPU_INTERFACE + 0x10) = AT(CPU_INTERFACE + 0xC);
#elif HOW == 4
    AT(0xE000D040) = 3; /* the register */
    AT(0xE000D040) = AT(0xE000D040) + 1;
    say("register", AT(0xE000D040));
    AT(0xF8F02108) = 0x121; /* PL310: latency of its tags */
    say("latency", AT(0xF8F02108));
    return 0;
#else
    for (;;) {
        while (AT(UART + 0x2C) & 2)
            continue;
        put((char)AT(UART + 0x30));
    }
#endif
}
