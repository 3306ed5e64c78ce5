/* Connecting a device by the interrupt that its configuration names. An identity has the number of a shared interrupt from 0
 * on in its lower 12 bits, and in the next 4 how it is triggered: 1 rising edge, 4 level. */
#ifndef XINTERRUPT_WRAP_H
#define XINTERRUPT_WRAP_H

#include "xil_exception.h"
#include "xil_types.h"
#include "xscugic.h"

#define XINTERRUPT_DEFAULT_PRIORITY 0xA0U
#define XINTC_TYPE_MASK 0x1U
#define XINTC_INTR_TYPE_PPI 0x100000U

#ifdef __cplusplus
extern "C" {
#endif
int XConfigInterruptCntrl(UINTPTR IntcParent);
int XConnectToInterruptCntrl(u32 IntrId, void *IntrHandler, void *CallBackRef, UINTPTR IntcParent);
int XDisconnectInterruptCntrl(u32 IntrId, UINTPTR IntcParent);
void XEnableIntrId(u32 IntrId, UINTPTR IntcParent);
void XDisableIntrId(u32 IntrId, UINTPTR IntcParent);
void XSetPriorityTriggerType(u32 IntrId, u8 Priority, UINTPTR IntcParent);
int XSetupInterruptSystem(void *DriverInstance, void *IntrHandler, u32 IntrId, UINTPTR IntcParent, u16 Priority);
void XRegisterInterruptHandler(void *IntrHandler, UINTPTR IntcParent);
int XStartInterruptCntrl(u32 Mode, UINTPTR IntcParent);
u32 XGetIntrId(u32 IntrId);
#ifdef __cplusplus
}
#endif

#endif
