/* Written by Axiloom: the registers of @name@, as Vitis HLS calls their functions. */
#ifndef @upper@_H
#define @upper@_H

#include "@lower@_hw.h"
#include "xil_assert.h"
#include "xil_io.h"
#include "xparameters.h"
#include "xstatus.h"

typedef struct {
#ifdef SDT
    char *Name;
#else
    u16 DeviceId;
#endif
    UINTPTR Control_BaseAddress;
} @camel@_Config;

typedef struct {
    UINTPTR Control_BaseAddress;
    u32 IsReady;
} @camel@;

#define @camel@_WriteReg(BaseAddress, RegOffset, Data) Xil_Out32((BaseAddress) + (RegOffset), (u32)(Data))
#define @camel@_ReadReg(BaseAddress, RegOffset) Xil_In32((BaseAddress) + (RegOffset))

static inline @camel@_Config *@camel@_LookupConfig(UINTPTR Device) {
    static @camel@_Config config = {0, XPAR_@upper@_0_BASEADDR};
    return Device == 0 || Device == XPAR_@upper@_0_BASEADDR ? &config : NULL;
}
static inline int @camel@_CfgInitialize(@camel@ *InstancePtr, @camel@_Config *ConfigPtr) {
    InstancePtr->Control_BaseAddress = ConfigPtr->Control_BaseAddress;
    InstancePtr->IsReady = XIL_COMPONENT_IS_READY;
    return XST_SUCCESS;
}
static inline int @camel@_Initialize(@camel@ *InstancePtr, UINTPTR Device) {
    @camel@_Config *config = @camel@_LookupConfig(Device);
    return config ? @camel@_CfgInitialize(InstancePtr, config) : XST_DEVICE_NOT_FOUND;
}
