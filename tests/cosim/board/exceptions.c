/* Aborts, undefined instructions and SVC in the program's own handlers, which go on behind them. */
#include "board.h"

static volatile uint32_t address, status, undefined, calls;

void on_data_abort(uint32_t at, uint32_t why) {
    address = at;
    status = why;
}
void on_prefetch_abort(uint32_t at, uint32_t why) { on_data_abort(at, why); }
void on_undefined(void) { undefined++; }
void on_call(void) { calls++; }

int main(void) {
    text("exceptions\n");
    (void)AT(0x30000000);
    say("load at", address);
    say("status", status & 0x80F);
    AT(0xC0000040) = 1;
    say("store at", address);
    say("status", status & 0x80F);
    ((void (*)(void))0x90000000)();
    say("jump to", address);
    say("status", status & 0x40F);
    __asm__ volatile(".word 0xE7F000F0");
    say("undefined", undefined);
    __asm__ volatile("svc 1\n svc 2" ::: "lr", "memory");
    say("calls", calls);
    float half = 1.0f;
    for (volatile int i = 0; i < 3; i++)
        half /= 2;
    say("eighths", (uint32_t)(1 / half));
    return 7;
}
