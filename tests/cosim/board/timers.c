/* Private timer, software interrupts, a higher priority inside a lower one, sleep: the counts do not depend on speed. */
#include "board.h"

static volatile uint32_t ticks, software, nested, depth, deepest, triple;

void on_irq(void) {
    const uint32_t id = AT(CPU_INTERFACE + 0xC);
    if (++depth > deepest)
        deepest = depth;
    if (id == 29) {
        AT(PRIVATE_TIMER + 0xC) = 1;
        ticks++;
    } else if (id == 3) {
        software++;
        AT(DISTRIBUTOR + 0xF00) = 2u << 24 | 5; /* 5 has the higher priority: it comes now */
        uint32_t status, link;
        __asm__ volatile("mrs %0, spsr\n mov %1, lr" : "=r"(status), "=r"(link));
        __asm__ volatile("cps #0x1F\n push {lr}\n cpsie i\n nop\n nop\n nop\n cpsid i\n pop {lr}\n cps #0x12" ::: "memory");
        __asm__ volatile("msr spsr_cxsf, %0" ::"r"(status));
    } else if (id == 5) {
        nested++;
    } else if (id == 42) {
        triple += AT(TTC0 + 0x54) & 1;
    }
    depth--;
    AT(CPU_INTERFACE + 0x10) = id;
}

int main(void) {
    text("timers\n");
    start_clock();
    enable(29, 0xA0);
    enable(3, 0xA0);
    enable(5, 0x40);
    interrupts_on();
    AT(PRIVATE_TIMER) = 33333;
    AT(PRIVATE_TIMER + 8) = 7;
    while (ticks < 5)
        __asm__ volatile("wfi");
    AT(PRIVATE_TIMER + 8) = 0;
    say("ticks", ticks);
    AT(DISTRIBUTOR + 0xF00) = 2u << 24 | 3;
    while (!nested)
        continue;
    say("software", software);
    say("nested", nested);
    say("deepest", deepest);
    enable(42, 0xA0);
    AT(TTC0 + 0x00) = 1 | 15 << 1; /* by 65,536 */
    AT(TTC0 + 0x24) = 99;
    AT(TTC0 + 0x60) = 1;
    AT(TTC0 + 0x0C) = 2 | 16;
    while (triple < 3)
        continue;
    AT(TTC0 + 0x0C) = 1;
    say("triple", triple);
    const uint64_t begin = now(); /* 2^30 ticks: some three seconds */
    while (now() - begin < 1u << 30)
        continue;
    say("waited", (uint32_t)((now() - begin) >> 30));
    AT(DISTRIBUTOR + 0x200 + 4) = 1u << 29; /* 61, made pending by software: not enabled */
    say("pending", AT(DISTRIBUTOR + 0x200 + 4) >> 29 & 1);
    return 0;
}
