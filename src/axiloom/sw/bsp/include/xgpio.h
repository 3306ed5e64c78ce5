/* AXI GPIO: AMD PG144. Channels count from 1; a 1 of a direction is an input. */
#ifndef XGPIO_H
#define XGPIO_H

#include "xgpio_l.h"
#include "xparameters.h"
#include "xstatus.h"

#if !XPAR_XGPIO_NUM_INSTANCES
#error "xgpio.h: the simulated system has no AXI GPIO: give --ip axi_gpio"
#endif

typedef struct {
#ifndef SDT
    u16 DeviceId;
#else
    char *Name;
#endif
    UINTPTR BaseAddress;
    int InterruptPresent;
    int IsDual;
#ifdef SDT
    u16 IntrId;
    UINTPTR IntrParent;
    u16 Width;
#endif
} XGpio_Config;

typedef struct {
    UINTPTR BaseAddress;
    u32 IsReady;
    int InterruptPresent;
    int IsDual;
} XGpio;

#ifdef __cplusplus
extern "C" {
#endif
#ifdef SDT
int XGpio_Initialize(XGpio *InstancePtr, UINTPTR BaseAddress);
XGpio_Config *XGpio_LookupConfig(UINTPTR BaseAddress);
#else
int XGpio_Initialize(XGpio *InstancePtr, u16 DeviceId);
XGpio_Config *XGpio_LookupConfig(u16 DeviceId);
#endif
int XGpio_CfgInitialize(XGpio *InstancePtr, XGpio_Config *Config, UINTPTR EffectiveAddr);
void XGpio_SetDataDirection(XGpio *InstancePtr, unsigned Channel, u32 DirectionMask);
u32 XGpio_GetDataDirection(XGpio *InstancePtr, unsigned Channel);
u32 XGpio_DiscreteRead(XGpio *InstancePtr, unsigned Channel);
void XGpio_DiscreteWrite(XGpio *InstancePtr, unsigned Channel, u32 Mask);
void XGpio_DiscreteSet(XGpio *InstancePtr, unsigned Channel, u32 Mask);
void XGpio_DiscreteClear(XGpio *InstancePtr, unsigned Channel, u32 Mask);
int XGpio_SelfTest(XGpio *InstancePtr);
void XGpio_InterruptGlobalEnable(XGpio *InstancePtr);
void XGpio_InterruptGlobalDisable(XGpio *InstancePtr);
void XGpio_InterruptEnable(XGpio *InstancePtr, u32 Mask);
void XGpio_InterruptDisable(XGpio *InstancePtr, u32 Mask);
void XGpio_InterruptClear(XGpio *InstancePtr, u32 Mask);
u32 XGpio_InterruptGetEnabled(XGpio *InstancePtr);
u32 XGpio_InterruptGetStatus(XGpio *InstancePtr);
#ifdef __cplusplus
}
#endif

#endif
