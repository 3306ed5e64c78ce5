/* The AXI Timer, two counters: AMD PG079. */
#ifndef XTMRCTR_H
#define XTMRCTR_H

#include "xil_assert.h"
#include "xparameters.h"
#include "xstatus.h"
#include "xtmrctr_l.h"

#if !XPAR_XTMRCTR_NUM_INSTANCES
#error "xtmrctr.h: the simulated system has no AXI Timer: give --ip axi_timer"
#endif

#define XTC_CASCADE_MODE_OPTION 0x00000080UL
#define XTC_ENABLE_ALL_OPTION 0x00000040UL
#define XTC_DOWN_COUNT_OPTION 0x00000020UL
#define XTC_CAPTURE_MODE_OPTION 0x00000010UL
#define XTC_INT_MODE_OPTION 0x00000008UL
#define XTC_AUTO_RELOAD_OPTION 0x00000004UL
#define XTC_EXT_COMPARE_OPTION 0x00000002UL
#define XTC_ROUND_DIV(a, b) (((a) + ((b) / 2)) / (b))
#define XTC_HZ_TO_NS(Hz) XTC_ROUND_DIV(1000000000, Hz)

typedef struct {
#ifndef SDT
    u16 DeviceId;
#else
    char *Name;
#endif
    UINTPTR BaseAddress;
    u32 SysClockFreqHz;
#ifdef SDT
    u32 IntrId;
    UINTPTR IntrParent;
#endif
} XTmrCtr_Config;

typedef void (*XTmrCtr_Handler)(void *CallBackRef, u8 TmrCtrNumber);

typedef struct {
    u32 Interrupts;
} XTmrCtrStats;

typedef struct {
    XTmrCtr_Config Config;
    XTmrCtrStats Stats;
    UINTPTR BaseAddress;
    u32 IsReady;
    u32 IsStartedTmrCtr0;
    u32 IsStartedTmrCtr1;
    u32 IsPwmEnabled;
    XTmrCtr_Handler Handler;
    void *CallBackRef;
} XTmrCtr;

#ifdef __cplusplus
extern "C" {
#endif
#ifdef SDT
int XTmrCtr_Initialize(XTmrCtr *InstancePtr, UINTPTR BaseAddr);
XTmrCtr_Config *XTmrCtr_LookupConfig(UINTPTR BaseAddress);
#else
int XTmrCtr_Initialize(XTmrCtr *InstancePtr, u16 DeviceId);
XTmrCtr_Config *XTmrCtr_LookupConfig(u16 DeviceId);
#endif
void XTmrCtr_CfgInitialize(XTmrCtr *InstancePtr, XTmrCtr_Config *ConfigPtr, UINTPTR EffectiveAddr);
int XTmrCtr_InitHw(XTmrCtr *InstancePtr);
void XTmrCtr_Start(XTmrCtr *InstancePtr, u8 TmrCtrNumber);
void XTmrCtr_Stop(XTmrCtr *InstancePtr, u8 TmrCtrNumber);
u32 XTmrCtr_GetValue(XTmrCtr *InstancePtr, u8 TmrCtrNumber);
void XTmrCtr_SetResetValue(XTmrCtr *InstancePtr, u8 TmrCtrNumber, u32 ResetValue);
u32 XTmrCtr_GetCaptureValue(XTmrCtr *InstancePtr, u8 TmrCtrNumber);
int XTmrCtr_IsExpired(XTmrCtr *InstancePtr, u8 TmrCtrNumber);
void XTmrCtr_Reset(XTmrCtr *InstancePtr, u8 TmrCtrNumber);
/* Times in ns; the duty cycle in percent, or XST_INVALID_PARAM. */
u8 XTmrCtr_PwmConfigure(XTmrCtr *InstancePtr, u32 PwmPeriod, u32 PwmHighTime);
void XTmrCtr_PwmEnable(XTmrCtr *InstancePtr);
void XTmrCtr_PwmDisable(XTmrCtr *InstancePtr);
void XTmrCtr_SetOptions(XTmrCtr *InstancePtr, u8 TmrCtrNumber, u32 Options);
u32 XTmrCtr_GetOptions(XTmrCtr *InstancePtr, u8 TmrCtrNumber);
void XTmrCtr_GetStats(XTmrCtr *InstancePtr, XTmrCtrStats *StatsPtr);
void XTmrCtr_ClearStats(XTmrCtr *InstancePtr);
int XTmrCtr_SelfTest(XTmrCtr *InstancePtr, u8 TmrCtrNumber);
void XTmrCtr_SetHandler(XTmrCtr *InstancePtr, XTmrCtr_Handler FuncPtr, void *CallBackRef);
void XTmrCtr_InterruptHandler(void *InstancePtr);
#ifdef __cplusplus
}
#endif

#endif
