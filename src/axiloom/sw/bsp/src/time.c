/* The global timer, waiting by it, and waiting for events. Cortex-A9 MPCore TRM, 4.4. */
#include <stdarg.h>

#include "sleep.h"
#include "xil_util.h"
#include "xtime_l.h"

void XTime_StartTimer(void) {
    if (!(Xil_In32(GLOBAL_TMR_BASEADDR + GTIMER_CONTROL_OFFSET) & 1))
        Xil_Out32(GLOBAL_TMR_BASEADDR + GTIMER_CONTROL_OFFSET, 1);
}

void XTime_SetTime(XTime Xtime_Global) {
    Xil_Out32(GLOBAL_TMR_BASEADDR + GTIMER_CONTROL_OFFSET, 0);
    Xil_Out32(GLOBAL_TMR_BASEADDR + GTIMER_COUNTER_LOWER_OFFSET, LOWER_32_BITS(Xtime_Global));
    Xil_Out32(GLOBAL_TMR_BASEADDR + GTIMER_COUNTER_UPPER_OFFSET, UPPER_32_BITS(Xtime_Global));
    Xil_Out32(GLOBAL_TMR_BASEADDR + GTIMER_CONTROL_OFFSET, 1);
}

void XTime_GetTime(XTime *Xtime_Global) {
    u32 high, low;
    do {
        high = Xil_In32(GLOBAL_TMR_BASEADDR + GTIMER_COUNTER_UPPER_OFFSET);
        low = Xil_In32(GLOBAL_TMR_BASEADDR + GTIMER_COUNTER_LOWER_OFFSET);
    } while (Xil_In32(GLOBAL_TMR_BASEADDR + GTIMER_COUNTER_UPPER_OFFSET) != high);
    *Xtime_Global = (u64)high << 32 | low;
}

static void wait(u64 counts) {
    XTime begin, now;
    XTime_GetTime(&begin);
    do
        XTime_GetTime(&now);
    while (now - begin < counts);
}

unsigned sleep(unsigned seconds) {
    wait((u64)seconds * COUNTS_PER_SECOND);
    return 0;
}

int usleep(unsigned useconds) {
    wait((u64)useconds * COUNTS_PER_SECOND / 1000000u);
    return 0;
}

void msleep(ULONG mseconds) { wait((u64)mseconds * COUNTS_PER_SECOND / 1000u); }

u32 Xil_WaitForEvent(UINTPTR RegAddr, u32 EventMask, u32 Event, u32 Timeout) {
    for (; Timeout; Timeout--) {
        if ((Xil_In32(RegAddr) & EventMask) == Event)
            return XST_SUCCESS;
        usleep(1);
    }
    return XST_FAILURE;
}

u32 Xil_WaitForEvents(UINTPTR EventsRegAddr, u32 EventsMask, u32 WaitEvents, u32 Timeout, u32 *Events) {
    *Events = 0;
    for (; Timeout; Timeout--) {
        *Events = Xil_In32(EventsRegAddr) & EventsMask;
        if (*Events & WaitEvents)
            return XST_SUCCESS;
        usleep(1);
    }
    return XST_FAILURE;
}

enum { MOST_EVENTS = 16 };

u32 Xil_WaitForEventSet(u32 Timeout, u32 NumOfEvents, volatile u32 *EventAddr, ...) {
    volatile u32 *flags[MOST_EVENTS] = {EventAddr};
    va_list others;
    if (NumOfEvents > MOST_EVENTS)
        return XST_FAILURE;
    va_start(others, EventAddr);
    for (u32 i = 1; i < NumOfEvents; i++)
        flags[i] = va_arg(others, volatile u32 *);
    va_end(others);
    /* Flags are looked at all the time, not once a microsecond: no other time passes but the timer's. */
    XTime begin, now;
    XTime_GetTime(&begin);
    do {
        u32 set = 0;
        for (u32 i = 0; i < NumOfEvents; i++)
            set += *flags[i] != 0;
        if (set == NumOfEvents)
            return XST_SUCCESS;
        XTime_GetTime(&now);
    } while (now - begin < (u64)Timeout * COUNTS_PER_SECOND / 1000000u);
    return XST_FAILURE;
}
