/* Waiting for what an interrupt handler or a device sets; a microsecond each look. */
#ifndef XIL_UTIL_H
#define XIL_UTIL_H

#include "xil_io.h"
#include "xil_types.h"
#include "xstatus.h"

#ifdef __cplusplus
extern "C" {
#endif
/* Until the bits of EventMask at RegAddr are Event. XST_SUCCESS or XST_FAILURE after Timeout looks. */
u32 Xil_WaitForEvent(UINTPTR RegAddr, u32 EventMask, u32 Event, u32 Timeout);
u32 Xil_WaitForEvents(UINTPTR EventsRegAddr, u32 EventsMask, u32 WaitEvents, u32 Timeout, u32 *Events);
/* Until each of NumOfEvents flags is set. */
u32 Xil_WaitForEventSet(u32 Timeout, u32 NumOfEvents, volatile u32 *EventAddr, ...);
#ifdef __cplusplus
}
#endif

#endif
