/* The global timer: it counts at half of the CPU's clock. */
#ifndef XTIME_L_H
#define XTIME_L_H

#include "xil_types.h"
#include "xparameters.h"

typedef u64 XTime;

#define GLOBAL_TMR_BASEADDR XPAR_GLOBAL_TMR_BASEADDR
#define GTIMER_COUNTER_LOWER_OFFSET 0x00U
#define GTIMER_COUNTER_UPPER_OFFSET 0x04U
#define GTIMER_CONTROL_OFFSET 0x08U
#define COUNTS_PER_SECOND (XPAR_CPU_CORTEXA9_CORE_CLOCK_FREQ_HZ / 2)
#define COUNTS_PER_USECOND (COUNTS_PER_SECOND / 1000000)

#ifdef __cplusplus
extern "C" {
#endif
void XTime_StartTimer(void);
void XTime_SetTime(XTime Xtime_Global);
void XTime_GetTime(XTime *Xtime_Global);
#ifdef __cplusplus
}
#endif

#endif
