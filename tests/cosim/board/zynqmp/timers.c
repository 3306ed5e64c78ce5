/* On a Zynq UltraScale+: the generic timer, software interrupts, TTC, exceptions, a wait: the counts do not depend on speed. */
#include <stdint.h>

#define AT(address) (*(volatile uint32_t *)(uintptr_t)(address))
#define UART 0xFF000000u
#define DISTRIBUTOR 0xF9010000u
#define CPU_INTERFACE 0xF9020000u
#define TTC0 0xFF110000u
#define COUNTER 0xFF250000u
enum { SOFTWARE = 3, TIMER = 30, TRIPLE = 68, CALL = 0x15, ABORT = 0x25 };

static volatile uint32_t ticks, software, triple, calls, undefined, reason;

static void put(char c) {
    while (AT(UART + 0x2C) & 0x10)
        continue;
    AT(UART + 0x30) = (uint32_t)c;
}
static void text(const char *s) {
    while (*s)
        put(*s++);
}
static void say(const char *what, uint32_t value) {
    char digits[10];
    int n = 0;
    text(what);
    put(' ');
    do
        digits[n++] = (char)('0' + value % 10);
    while (value /= 10);
    while (n)
        put(digits[--n]);
    put('\n');
}
static uint64_t now(void) {
    uint64_t value;
    __asm__ volatile("isb\n mrs %0, CNTPCT_EL0" : "=r"(value));
    return value;
}

void on_irq(void) {
    const uint32_t id = AT(CPU_INTERFACE + 0xC);
    if (id == TIMER) {
        ticks++;
        __asm__ volatile("msr CNTP_TVAL_EL0, %0" ::"r"(100000ul));
    } else if (id == SOFTWARE) {
        software++;
    } else if (id == TRIPLE) {
        triple += AT(TTC0 + 0x54) & 1;
    }
    AT(CPU_INTERFACE + 0x10) = id;
}
/* Where it goes on: SVC behind itself, anything else behind the instruction. */
uint64_t on_exception(uint64_t why, uint64_t pc) {
    reason = (uint32_t)(why >> 26);
    if (reason == CALL) {
        calls++;
        return pc;
    }
    while (reason == ABORT)
        continue;
    undefined++;
    return pc + 4;
}

int main(void) {
    text("timers\n");
#ifdef RATES /* in 10 ms: what the TTC counts, with more than 16 bits, and the system counter */
    AT(TTC0 + 0x0C) = 16;
    const uint32_t counter = AT(COUNTER);
    const uint64_t start = now();
    while (now() - start < 1000000)
        continue;
    say("triple", AT(TTC0 + 0x18) / 10000);
    say("counter", (AT(COUNTER) - counter) / 10000);
    return 0;
#endif
#ifdef WAITS /* as Xil_WaitForEvent does: some hundred reads of the counter in each microsecond */
    for (const uint64_t all = now(); now() - all < 2000000;)
        for (const uint64_t each = now(); now() - each < 100;)
            continue;
    return 0;
#endif
    AT(DISTRIBUTOR) = 1;
    AT(CPU_INTERFACE + 4) = 0xF0;
    AT(CPU_INTERFACE) = 7;
    AT(DISTRIBUTOR + 0x100) = 1u << TIMER | 1u << SOFTWARE;
    __asm__ volatile("msr CNTP_TVAL_EL0, %0\n msr CNTP_CTL_EL0, %1\n msr daifclr, #2" ::"r"(100000ul), "r"(1ul));
    while (ticks < 5)
        __asm__ volatile("wfi");
    __asm__ volatile("msr CNTP_CTL_EL0, xzr");
    say("ticks", ticks);
    AT(DISTRIBUTOR + 0xF00) = 2u << 24 | SOFTWARE;
    while (!software)
        continue;
    say("software", software);
    ((volatile uint8_t *)(uintptr_t)(DISTRIBUTOR + 0x800))[TRIPLE] = 1;
    AT(DISTRIBUTOR + 0x108) = 1u << TRIPLE % 32;
    AT(TTC0 + 0x00) = 1 | 7 << 1;
    AT(TTC0 + 0x24) = 999;
    AT(TTC0 + 0x60) = 1;
    AT(TTC0 + 0x0C) = 2 | 16;
    while (triple < 3)
        continue;
    AT(TTC0 + 0x0C) = 1;
    say("triple", triple);
    __asm__ volatile("svc 5");
    say("calls", calls);
    __asm__ volatile("udf #0");
    say("undefined", undefined);
    say("reason", reason);
    const uint64_t begin = now();
    while (now() - begin < 300000000)
        continue;
    say("waited", (uint32_t)((now() - begin) / 300000000));
    float half = 1;
    for (volatile int i = 0; i < 3; i++)
        half /= 2;
    say("eighths", (uint32_t)(1 / half));
#ifdef CRASH
    return (int)AT(0x90000000); /* the load */
#endif
    return 4;
}
