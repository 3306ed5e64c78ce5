/* Priorities of interrupts: three inside each other, what the mask and the binary point hold back, pending and active. */
#include "board.h"

enum { LOW = 4, MIDDLE = 5, HIGH = 6, SAME_GROUP = 7 };
#define RUNNING AT(CPU_INTERFACE + 0x14)
#define HIGHEST (AT(CPU_INTERFACE + 0x18) & 0x3FF)

static volatile uint32_t order[16], count, spurious;

static void raise(uint32_t id) { AT(DISTRIBUTOR + 0xF00) = 2u << 24 | id; }

/* With interrupts on, as a handler that others may interrupt does it. */
static void let_others(void) {
    uint32_t status;
    __asm__ volatile("mrs %0, spsr" : "=r"(status));
    __asm__ volatile("cps #0x1F\n push {r4, lr}\n cpsie i\n nop\n nop\n nop\n cpsid i\n pop {r4, lr}\n cps #0x12" ::: "memory");
    __asm__ volatile("msr spsr_cxsf, %0" ::"r"(status));
}

void on_irq(void) {
    const uint32_t id = AT(CPU_INTERFACE + 0xC);
    if ((id & 0x3FF) == 1023) {
        spurious++;
        return;
    }
    order[count++ & 15] = id * 1000 + RUNNING;
    if (id < HIGH) {
        raise(id + 1);
        let_others();
    }
    order[count++ & 15] = id;
    AT(CPU_INTERFACE + 0x10) = id;
}

static void tell(const char *what) {
    say(what, count);
    for (uint32_t i = 0; i < count; i++)
        say(" ", order[i]);
    count = 0;
}

static void settle(void) {
    for (volatile int i = 0; i < 1000; i++)
        continue;
}

int main(void) {
    text("nesting\n");
    say("idle", RUNNING);
    enable(LOW, 0xA0);
    enable(MIDDLE, 0x90);
    enable(HIGH, 0x40);
    enable(SAME_GROUP, 0x88);
    say("priority", ((volatile uint8_t *)(DISTRIBUTOR + 0x400))[SAME_GROUP]);
    interrupts_on();
    raise(LOW);
    settle();
    tell("nested");
    AT(CPU_INTERFACE + 4) = 0x40; /* nothing is below */
    raise(HIGH);
    settle();
    tell("masked");
    say("highest", HIGHEST);
    AT(CPU_INTERFACE + 4) = 0xF0;
    settle();
    tell("let");
    AT(CPU_INTERFACE + 8) = 3; /* groups of 16: 0x80 and 0x88 are in one, 0x90 is in another */
    ((volatile uint8_t *)(DISTRIBUTOR + 0x400))[MIDDLE] = 0x80;
    ((volatile uint8_t *)(DISTRIBUTOR + 0x400))[HIGH] = 0x88;
    raise(MIDDLE);
    settle();
    tell("one group");
    AT(CPU_INTERFACE + 8) = 2;
    ((volatile uint8_t *)(DISTRIBUTOR + 0x400))[MIDDLE] = 0x88;
    ((volatile uint8_t *)(DISTRIBUTOR + 0x400))[HIGH] = 0x80;
    raise(MIDDLE);
    settle();
    tell("two groups");
    __asm__ volatile("cpsid i" ::: "memory"); /* by polling */
    raise(HIGH);
    say("acknowledged", AT(CPU_INTERFACE + 0xC) & 0x3FF);
    raise(LOW);
    say("nothing", AT(CPU_INTERFACE + 0xC) & 0x3FF); /* HIGH runs */
    AT(CPU_INTERFACE + 0x10) = HIGH;
    say("next", AT(CPU_INTERFACE + 0xC) & 0x3FF);
    AT(CPU_INTERFACE + 0x10) = LOW;
    say("spurious", spurious);
    return 0;
}
