/* Cache maintenance by address, by set and way, by way of the L2, with caches on and off: what is stored stays. */
#include "board.h"

#define PL310 0xF8F02000u
#define WORDS 4096u
__attribute__((aligned(64))) static volatile uint32_t data[WORDS];

#define CP15(operation, value) __asm__ volatile("mcr p15, 0, %0, " operation "\n dsb" ::"r"(value) : "memory")

static uint32_t control(void) {
    uint32_t value;
    __asm__ volatile("mrc p15, 0, %0, c1, c0, 0" : "=r"(value));
    return value;
}
static void set_control(uint32_t value) {
    __asm__ volatile("dsb\n mcr p15, 0, %0, c1, c0, 0\n isb" ::"r"(value) : "memory");
}

static void fill(uint32_t by) {
    for (uint32_t i = 0; i < WORDS; i++)
        data[i] = i * by;
}
static uint32_t sum(void) {
    uint32_t result = 0;
    for (uint32_t i = 0; i < WORDS; i++)
        result += data[i];
    return result;
}

static void lines(int clean, int invalidate) {
    for (uint32_t at = (uint32_t)data; at < (uint32_t)(data + WORDS); at += 32) {
        if (clean && invalidate)
            CP15("c7, c14, 1", at);
        else if (clean)
            CP15("c7, c10, 1", at);
        else
            CP15("c7, c6, 1", at);
        AT(PL310 + (clean && invalidate ? 0x7F0 : clean ? 0x7B0 : 0x770)) = at;
    }
    AT(PL310 + 0x730) = 0;
    while (AT(PL310 + 0x730))
        continue;
}

static void all(void) {
    uint32_t size;
    __asm__ volatile("mcr p15, 2, %1, c0, c0, 0\n isb\n mrc p15, 1, %0, c0, c0, 0" : "=r"(size) : "r"(0));
    for (uint32_t way = 0; way <= (size >> 3 & 0x3FF); way++)
        for (uint32_t set = 0; set <= (size >> 13 & 0x7FFF); set++)
            CP15("c7, c14, 2", way << 30 | set << 5);
    AT(PL310 + 0x7FC) = 0xFFFF;
    while (AT(PL310 + 0x7FC))
        continue;
    AT(PL310 + 0x730) = 0;
}

int main(void) {
    uint32_t size;
    text("caches\n");
    AT(PL310 + 0x77C) = 0xFFFF;
    while (AT(PL310 + 0x77C))
        continue;
    AT(PL310 + 0x100) = 1;
    __asm__ volatile("mcr p15, 2, %1, c0, c0, 0\n isb\n mrc p15, 1, %0, c0, c0, 0" : "=r"(size) : "r"(0));
    say("sets", (size >> 13 & 0x7FFF) + 1);
    say("ways", (size >> 3 & 0x3FF) + 1);
    fill(3);
    lines(1, 0);
    say("cleaned", sum());
    lines(0, 1); /* nothing in there was dirty */
    say("invalidated", sum());
    fill(5);
    lines(1, 1);
    say("both", sum());
    fill(7);
    all();
    set_control(control() & ~0x1004u);
    AT(PL310 + 0x100) = 0;
    say("off", sum());
    fill(9);
    CP15("c7, c5, 0", 0);
    CP15("c7, c5, 6", 0);
    AT(PL310 + 0x77C) = 0xFFFF;
    AT(PL310 + 0x100) = 1;
    set_control(control() | 0x1004u);
    say("on", sum());
    __asm__ volatile("pld [%0]\n pldw [%0]" ::"r"(data));
    return (int)(sum() != 9 * (WORDS - 1) * WORDS / 2);
}
