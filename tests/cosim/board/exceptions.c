/* Aborts, undefined instructions and SVC, of ARM and Thumb code, in the program's own handlers, which go on behind them or
 * do the access again. */
#include "board.h"

#define THUMB __attribute__((target("thumb"), noinline))
#define SECTION 0x00100000u
#define PLACE 0xA0000000u /* no section of the table */

extern uint32_t table[];
static volatile uint32_t address, status, aborts, undefined, calls, lazy;

static void map(uint32_t at, uint32_t entry) {
    table[at >> 20] = entry;
    __asm__ volatile("dsb\n mcr p15, 0, %0, c8, c7, 0\n dsb\n isb" ::"r"(0) : "memory");
}

/* Again: when it has put RAM there. */
int on_data_abort(uint32_t at, uint32_t why) {
    address = at;
    status = why;
    aborts++;
    if (lazy)
        map(at, (at & 0x1FF00000u) | 0x15DE6);
    return (int)lazy;
}
int on_prefetch_abort(uint32_t at, uint32_t why) {
    address = at;
    status = why;
    return 0;
}
void on_undefined(void) { undefined++; }
void on_call(void) { calls++; }

static void tell(const char *what) {
    say(what, address);
    say("status", status & 0x80F);
    address = status = 0;
}

#define ABORTS(what, instruction, base) \
    __asm__ volatile(instruction "\n nop" ::"r"(base), "r"(0x40) : "r3", "r4", "r5", "memory"); \
    tell(what)

THUMB static void in_thumb(void) {
    ABORTS("ldr", "ldr r3, [%0, #4]", PLACE);
    ABORTS("ldr register", "ldr r3, [%0, %1]", PLACE);
    ABORTS("ldrb", "ldrb r3, [%0, #3]", PLACE);
    ABORTS("strh", "strh r3, [%0, #6]", PLACE);
    ABORTS("str.w", "str.w r3, [%0, #0x100]", PLACE);
    ABORTS("str.w down", "str r3, [%0, #-8]", PLACE);
    ABORTS("ldr.w shifted", "ldr.w r3, [%0, %1, lsl #2]", PLACE);
    ABORTS("strd", "strd r4, r5, [%0, #16]", PLACE);
    ABORTS("ldr back", "ldr r3, [%0], #4", PLACE);
    ABORTS("ldm", "ldm.w %0, {r3, r4}", PLACE);
    ABORTS("vldr", "vldr d0, [%0, #8]", PLACE);
    __asm__ volatile("udf #1");
    __asm__ volatile("svc 3" ::: "memory");
}

static void in_arm(void) {
    ABORTS("ldr", "ldr r3, [%0, #4]", PLACE);
    ABORTS("strh", "strh r3, [%0, #-6]", PLACE);
    ABORTS("ldrb register", "ldrb r3, [%0, %1, lsl #1]", PLACE);
    ABORTS("strd", "strd r4, r5, [%0, %1]", PLACE);
    ABORTS("stmdb", "stmdb %0, {r3, r4}", PLACE);
    ABORTS("ldmib", "ldmib %0, {r3, r4}", PLACE);
    ABORTS("ldrex", "ldrex r3, [%0]", PLACE);
    ABORTS("vstr", "vstr d0, [%0, #8]", PLACE);
}

int main(void) {
    text("exceptions\n");
    in_arm();
    in_thumb();
    say("undefined", undefined);
    say("calls", calls);

    ((void (*)(void))0x90000000)();
    say("jump to", address);
    say("status", status & 0x40F);
    __asm__ volatile(".word 0xE7F000F0");
    say("undefined", undefined);
    __asm__ volatile("svc 1\n svc 2" ::: "memory");
    say("calls", calls);

    map(PLACE, (0x1F000000u & 0xFFF00000u) | 0x1DDE6); /* RAM that is read only */
    __asm__ volatile("mcr p15, 0, %0, c3, c0, 0\n isb" ::"r"(0x55555555)); /* and the table says so */
    AT(PLACE + 12) = 1;
    tell("read only");
    say("reads", AT(PLACE + 12));

    lazy = 1;
    aborts = 0;
    for (uint32_t i = 0; i < 8; i++)
        AT(0xB1000000u + i * SECTION / 2) = 100 + i;
    say("mapped", aborts);
    say("there", AT(0x11000000u + 7 * SECTION / 2));

    __asm__ volatile("cps #0x10\n svc 4\n" ::: "memory"); /* of a user, who cannot go back */
    say("calls", calls);
    uint32_t mode;
    __asm__ volatile("mrs %0, cpsr" : "=r"(mode));
    say("mode", mode & 0x1F);
    float half = 1.0f;
    for (volatile int i = 0; i < 3; i++)
        half /= 2;
    say("eighths", (uint32_t)(1 / half));
    return 7;
}
