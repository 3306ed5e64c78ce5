/* GPIO, system watchdog and XADC of a Zynq-7000, by the vendor's names of their registers. */
#include "board.h"

#define GPIO 0xE000A000u
#define XGPIOPS_DATA_LSW_OFFSET 0x00
#define XGPIOPS_DATA_OFFSET 0x40
#define XGPIOPS_DATA_RO_OFFSET 0x60
#define XGPIOPS_DIRM_OFFSET 0x204
#define XGPIOPS_OUTEN_OFFSET 0x208
#define XGPIOPS_INTMASK_OFFSET 0x20C
#define XGPIOPS_INTEN_OFFSET 0x210
#define XGPIOPS_INTDIS_OFFSET 0x214
#define XGPIOPS_INTSTS_OFFSET 0x218
#define XGPIOPS_INTTYPE_OFFSET 0x21C
#define XGPIOPS_INTPOL_OFFSET 0x220
#define XGPIOPS_INTANY_OFFSET 0x224
#define SWDT 0xF8005000u
#define XWDTPS_ZMR_OFFSET 0x0
#define XWDTPS_CCR_OFFSET 0x4
#define XWDTPS_RESTART_OFFSET 0x8
#define XWDTPS_SR_OFFSET 0xC
#define XADC 0xF8007100u
#define XADCPS_MSTS_OFFSET 0x0C
#define XADCPS_CMDFIFO_OFFSET 0x10
#define XADCPS_RDFIFO_OFFSET 0x14
#define XADCPS_MCTL_OFFSET 0x18

static volatile uint32_t pins, bites;

void on_irq(void) {
    const uint32_t id = AT(CPU_INTERFACE + 0xC);
    if (id == 52) {
        pins = pins << 8 | AT(GPIO + XGPIOPS_INTSTS_OFFSET) >> 10;
        AT(GPIO + XGPIOPS_INTSTS_OFFSET) = ~0u;
    } else if (id == 41) {
        bites++;
    }
    AT(CPU_INTERFACE + 0x10) = id;
}

static void drive(uint32_t value) {
    AT(GPIO + XGPIOPS_DATA_OFFSET) = value;
    for (volatile int i = 0; i < 3; i++) /* an interrupt comes at the start of a block */
        continue;
}

static uint32_t converter(uint32_t where) {
    AT(XADC + XADCPS_CMDFIFO_OFFSET) = 1u << 26 | where << 16;
    (void)AT(XADC + XADCPS_RDFIFO_OFFSET);
    AT(XADC + XADCPS_CMDFIFO_OFFSET) = 0;
    return AT(XADC + XADCPS_RDFIFO_OFFSET);
}

int main(void) {
    start_clock();
    enable(52, 0xA0);
    enable(41, 0xA0);
    ((volatile uint32_t *)(DISTRIBUTOR + 0xC00))[41 / 16] |= 2u << 41 % 16 * 2; /* an edge */
    interrupts_on();

    AT(GPIO + XGPIOPS_DIRM_OFFSET) = 3u << 10;
    AT(GPIO + XGPIOPS_DATA_OFFSET) = 0xFFFFFFFF;
    say("without enable", AT(GPIO + XGPIOPS_DATA_RO_OFFSET));
    AT(GPIO + XGPIOPS_OUTEN_OFFSET) = 3u << 10;
    say("pins", AT(GPIO + XGPIOPS_DATA_RO_OFFSET) >> 10);
    AT(GPIO + XGPIOPS_DATA_LSW_OFFSET) = (uint32_t)~(1u << 11) << 16; /* 11 alone */
    say("one less", AT(GPIO + XGPIOPS_DATA_RO_OFFSET) >> 10);
    say("kept", AT(GPIO + XGPIOPS_DATA_OFFSET) == ~(1u << 11));
    say("edges", AT(GPIO + 0x40 + XGPIOPS_INTTYPE_OFFSET));
    AT(GPIO + XGPIOPS_INTDIS_OFFSET) = ~0u;
    AT(GPIO + XGPIOPS_INTSTS_OFFSET) = ~0u;
    AT(GPIO + XGPIOPS_INTPOL_OFFSET) = 1u << 11; /* 11 rises, 10 falls */
    AT(GPIO + XGPIOPS_INTEN_OFFSET) = 3u << 10;
    say("masked", AT(GPIO + XGPIOPS_INTMASK_OFFSET) == ~(3u << 10));
    pins = 0;
    drive(3u << 10); /* 11 rises: 2 */
    drive(1u << 10); /* 11 falls: nothing */
    drive(0);        /* 10 falls: 1 */
    AT(GPIO + XGPIOPS_INTANY_OFFSET) = 1u << 10;
    drive(1u << 10); /* 10 rises: 1 */
    say("interrupts", pins);
    AT(GPIO + 0x80 + XGPIOPS_DIRM_OFFSET) = AT(GPIO + 0x80 + XGPIOPS_OUTEN_OFFSET) = 1;
    AT(GPIO + 8 + XGPIOPS_DATA_OFFSET) = 1; /* EMIO: the fabric gives nothing back */
    say("emio", AT(GPIO + 8 + XGPIOPS_DATA_RO_OFFSET));

    AT(SWDT + XWDTPS_ZMR_OFFSET) = 0x1C7; /* without its key */
    say("mode", AT(SWDT + XWDTPS_ZMR_OFFSET));
    AT(SWDT + XWDTPS_CCR_OFFSET) = 0x248u << 14 | 1 << 2 | 1; /* 8,192 counts of 64 ticks */
    AT(SWDT + XWDTPS_ZMR_OFFSET) = 0xABCu << 12 | 5;
    uint64_t begin = now();
    for (int round = 0; round < 3; round++) {
        while (now() - begin < 1000000u * (uint32_t)(round + 1))
            continue;
        AT(SWDT + XWDTPS_RESTART_OFFSET) = 0x1999;
    }
    say("fed", bites + AT(SWDT + XWDTPS_SR_OFFSET));
    begin = now();
    while (!(AT(SWDT + XWDTPS_SR_OFFSET) & 1))
        continue;
    say("bites", bites);
    say("after", (uint32_t)(now() - begin) / 1000); /* 8,192 x 64 x 6 / 2 = 1,572,864 */
#ifdef RESETS
    AT(SWDT + XWDTPS_ZMR_OFFSET) = 0xABCu << 12 | 3;
    AT(SWDT + XWDTPS_RESTART_OFFSET) = 0x1999;
    for (;;)
        continue; /* the loop */
#endif

    AT(XADC + XADCPS_MCTL_OFFSET) = 0;
    say("empty", AT(XADC + XADCPS_MSTS_OFFSET) >> 8 & 1);
    say("degrees", (converter(0) * 50397 / 65536 - 27315 + 50) / 100);
    say("millivolts", (converter(2) * 3000 + 32768) / 65536);
    say("aux", converter(0x10));
    AT(XADC + XADCPS_CMDFIFO_OFFSET) = 2u << 26 | 0x50u << 16 | 0xB5ED;
    say("written", converter(0x50) | AT(XADC + XADCPS_RDFIFO_OFFSET));
    return 0;
}
