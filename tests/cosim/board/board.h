/* The few registers that the programs here use. UG585. */
#include <stdint.h>

#define AT(address) (*(volatile uint32_t *)(address))
#define UART 0xE0000000u
#define CPU_INTERFACE 0xF8F00100u
#define DISTRIBUTOR 0xF8F01000u
#define GLOBAL_TIMER 0xF8F00200u
#define PRIVATE_TIMER 0xF8F00600u
#define TTC0 0xF8001000u

static inline void put(char c) {
    while (AT(UART + 0x2C) & 0x10)
        continue;
    AT(UART + 0x30) = (uint32_t)c;
}
static inline void text(const char *s) {
    while (*s)
        put(*s++);
}
static inline void number(uint32_t value) {
    char digits[10];
    int n = 0;
    do
        digits[n++] = (char)('0' + value % 10);
    while (value /= 10);
    while (n)
        put(digits[--n]);
}
static inline void say(const char *what, uint32_t value) {
    text(what);
    put(' ');
    number(value);
    put('\n');
}
static inline uint64_t now(void) {
    uint32_t high, low;
    do {
        high = AT(GLOBAL_TIMER + 4);
        low = AT(GLOBAL_TIMER);
    } while (high != AT(GLOBAL_TIMER + 4));
    return (uint64_t)high << 32 | low;
}
/* At half of a CPU's clock. */
static inline void start_clock(void) {
    AT(GLOBAL_TIMER + 8) = 0;
    AT(GLOBAL_TIMER) = 0;
    AT(GLOBAL_TIMER + 4) = 0;
    AT(GLOBAL_TIMER + 8) = 1;
}
static inline void interrupts_on(void) {
    AT(DISTRIBUTOR) = 1;
    AT(CPU_INTERFACE + 4) = 0xF0;
    AT(CPU_INTERFACE) = 7;
    __asm__ volatile("cpsie i" ::: "memory");
}
static inline void enable(uint32_t id, uint8_t priority) {
    ((volatile uint8_t *)(DISTRIBUTOR + 0x400))[id] = priority;
    ((volatile uint8_t *)(DISTRIBUTOR + 0x800))[id] = 1;
    AT(DISTRIBUTOR + 0x100 + id / 32 * 4) = 1u << id % 32;
}
