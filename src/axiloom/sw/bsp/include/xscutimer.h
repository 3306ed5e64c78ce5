/* The CPU's private timer: it counts down at half of the CPU's clock. Cortex-A9 MPCore TRM, 4.2. */
#ifndef XSCUTIMER_H
#define XSCUTIMER_H

#include "xil_io.h"
#include "xparameters.h"
#include "xstatus.h"

#define XSCUTIMER_LOAD_OFFSET 0x00U
#define XSCUTIMER_COUNTER_OFFSET 0x04U
#define XSCUTIMER_CONTROL_OFFSET 0x08U
#define XSCUTIMER_ISR_OFFSET 0x0CU
#define XSCUTIMER_CONTROL_ENABLE_MASK 0x1U
#define XSCUTIMER_CONTROL_AUTO_RELOAD_MASK 0x2U
#define XSCUTIMER_CONTROL_IRQ_ENABLE_MASK 0x4U
#define XSCUTIMER_CONTROL_PRESCALER_MASK 0xFF00U
#define XSCUTIMER_CONTROL_PRESCALER_SHIFT 8U
#define XSCUTIMER_ISR_EVENT_FLAG_MASK 0x1U

typedef struct {
#ifndef SDT
    u16 DeviceId;
#else
    char *Name;
#endif
    UINTPTR BaseAddr;
#ifdef SDT
    u32 IntrId;
    UINTPTR IntrParent;
#endif
} XScuTimer_Config;

typedef struct {
    XScuTimer_Config Config;
    u32 IsReady;
    u32 IsStarted;
} XScuTimer;

#define XScuTimer_ReadReg(BaseAddr, RegOffset) Xil_In32((BaseAddr) + (RegOffset))
#define XScuTimer_WriteReg(BaseAddr, RegOffset, Data) Xil_Out32((BaseAddr) + (RegOffset), Data)
#define XSCUTIMER_AT(InstancePtr, Register) ((InstancePtr)->Config.BaseAddr + XSCUTIMER_##Register##_OFFSET)
#define XSCUTIMER_SET(InstancePtr, Bits)                                                           \
    Xil_Out32(XSCUTIMER_AT(InstancePtr, CONTROL), Xil_In32(XSCUTIMER_AT(InstancePtr, CONTROL)) | (Bits))
#define XSCUTIMER_CLEAR(InstancePtr, Bits)                                                         \
    Xil_Out32(XSCUTIMER_AT(InstancePtr, CONTROL), Xil_In32(XSCUTIMER_AT(InstancePtr, CONTROL)) & ~(Bits))
#define XScuTimer_LoadTimer(InstancePtr, Value) Xil_Out32(XSCUTIMER_AT(InstancePtr, LOAD), Value)
#define XScuTimer_RestartTimer(InstancePtr)                                                        \
    XScuTimer_LoadTimer(InstancePtr, Xil_In32(XSCUTIMER_AT(InstancePtr, LOAD)))
#define XScuTimer_GetCounterValue(InstancePtr) Xil_In32(XSCUTIMER_AT(InstancePtr, COUNTER))
#define XScuTimer_IsExpired(InstancePtr) ((Xil_In32(XSCUTIMER_AT(InstancePtr, ISR)) & XSCUTIMER_ISR_EVENT_FLAG_MASK) != 0U)
#define XScuTimer_EnableAutoReload(InstancePtr) XSCUTIMER_SET(InstancePtr, XSCUTIMER_CONTROL_AUTO_RELOAD_MASK)
#define XScuTimer_DisableAutoReload(InstancePtr) XSCUTIMER_CLEAR(InstancePtr, XSCUTIMER_CONTROL_AUTO_RELOAD_MASK)
#define XScuTimer_EnableInterrupt(InstancePtr) XSCUTIMER_SET(InstancePtr, XSCUTIMER_CONTROL_IRQ_ENABLE_MASK)
#define XScuTimer_DisableInterrupt(InstancePtr) XSCUTIMER_CLEAR(InstancePtr, XSCUTIMER_CONTROL_IRQ_ENABLE_MASK)
#define XScuTimer_GetInterruptStatus(InstancePtr) Xil_In32(XSCUTIMER_AT(InstancePtr, ISR))
#define XScuTimer_ClearInterruptStatus(InstancePtr)                                                \
    Xil_Out32(XSCUTIMER_AT(InstancePtr, ISR), XSCUTIMER_ISR_EVENT_FLAG_MASK)

#ifdef __cplusplus
extern "C" {
#endif
#ifdef SDT
XScuTimer_Config *XScuTimer_LookupConfig(UINTPTR BaseAddress);
#else
XScuTimer_Config *XScuTimer_LookupConfig(u16 DeviceId);
#endif
s32 XScuTimer_CfgInitialize(XScuTimer *InstancePtr, XScuTimer_Config *ConfigPtr, UINTPTR EffectiveAddress);
void XScuTimer_Start(XScuTimer *InstancePtr);
void XScuTimer_Stop(XScuTimer *InstancePtr);
void XScuTimer_SetPrescaler(XScuTimer *InstancePtr, u8 PrescalerValue);
u8 XScuTimer_GetPrescaler(XScuTimer *InstancePtr);
s32 XScuTimer_SelfTest(XScuTimer *InstancePtr);
#ifdef __cplusplus
}
#endif

#endif
