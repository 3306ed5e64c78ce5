/* The interrupt controller. Triggers: 1 level, 3 rising edge. */
#ifndef XSCUGIC_H
#define XSCUGIC_H

#include "xil_exception.h"
#include "xil_io.h"
#include "xscugic_hw.h"
#include "xstatus.h"

typedef struct {
    Xil_InterruptHandler Handler;
    void *CallBackRef;
} XScuGic_VectorTableEntry;

typedef struct {
#ifndef SDT
    u16 DeviceId;
#endif
    u32 CpuBaseAddress;
    u32 DistBaseAddress;
    XScuGic_VectorTableEntry HandlerTable[XSCUGIC_MAX_NUM_INTR_INPUTS];
} XScuGic_Config;

typedef struct {
    XScuGic_Config *Config;
    u32 IsReady;
    u32 UnhandledInterrupts;
} XScuGic;

#define XScuGic_CPUWriteReg(InstancePtr, RegOffset, Data)                                          \
    XScuGic_WriteReg((InstancePtr)->Config->CpuBaseAddress, RegOffset, Data)
#define XScuGic_CPUReadReg(InstancePtr, RegOffset) XScuGic_ReadReg((InstancePtr)->Config->CpuBaseAddress, RegOffset)
#define XScuGic_DistWriteReg(InstancePtr, RegOffset, Data)                                         \
    XScuGic_WriteReg((InstancePtr)->Config->DistBaseAddress, RegOffset, Data)
#define XScuGic_DistReadReg(InstancePtr, RegOffset) XScuGic_ReadReg((InstancePtr)->Config->DistBaseAddress, RegOffset)

#ifdef __cplusplus
extern "C" {
#endif
#ifdef SDT
XScuGic_Config *XScuGic_LookupConfig(UINTPTR BaseAddress);
#else
XScuGic_Config *XScuGic_LookupConfig(u16 DeviceId);
#endif
XScuGic_Config *XScuGic_LookupConfigBaseAddr(UINTPTR BaseAddress);
s32 XScuGic_CfgInitialize(XScuGic *InstancePtr, XScuGic_Config *ConfigPtr, u32 EffectiveAddr);
s32 XScuGic_Connect(XScuGic *InstancePtr, u32 Int_Id, Xil_InterruptHandler Handler, void *CallBackRef);
void XScuGic_Disconnect(XScuGic *InstancePtr, u32 Int_Id);
void XScuGic_Enable(XScuGic *InstancePtr, u32 Int_Id);
void XScuGic_Disable(XScuGic *InstancePtr, u32 Int_Id);
s32 XScuGic_SoftwareIntr(XScuGic *InstancePtr, u32 Int_Id, u32 Cpu_Identifier);
void XScuGic_SetPriorityTriggerType(XScuGic *InstancePtr, u32 Int_Id, u8 Priority, u8 Trigger);
void XScuGic_GetPriorityTriggerType(XScuGic *InstancePtr, u32 Int_Id, u8 *Priority, u8 *Trigger);
void XScuGic_InterruptMaptoCpu(XScuGic *InstancePtr, u8 Cpu_Identifier, u32 Int_Id);
void XScuGic_InterruptUnmapFromCpu(XScuGic *InstancePtr, u8 Cpu_Identifier, u32 Int_Id);
void XScuGic_Stop(XScuGic *InstancePtr);
void XScuGic_SetCpuID(u32 CpuCoreId);
u32 XScuGic_GetCpuID(void);
void XScuGic_InterruptHandler(XScuGic *InstancePtr);
s32 XScuGic_SelfTest(XScuGic *InstancePtr);
#ifdef __cplusplus
}
#endif

#endif
