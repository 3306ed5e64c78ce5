/* The CPU's private timer. */
#include "xscutimer.h"

static XScuTimer_Config config = {
#ifdef SDT
    .Name = "arm,cortex-a9-twd-timer",
    .IntrId = XPAR_SCUTIMER_INTERRUPTS,
    .IntrParent = XPAR_SCUTIMER_INTERRUPT_PARENT,
#endif
    .BaseAddr = XPAR_XSCUTIMER_0_BASEADDR,
};

#ifdef SDT
XScuTimer_Config *XScuTimer_LookupConfig(UINTPTR BaseAddress) {
    return BaseAddress == config.BaseAddr || !BaseAddress ? &config : NULL;
}
#else
XScuTimer_Config *XScuTimer_LookupConfig(u16 DeviceId) { return DeviceId == XPAR_XSCUTIMER_0_DEVICE_ID ? &config : NULL; }
#endif

s32 XScuTimer_CfgInitialize(XScuTimer *InstancePtr, XScuTimer_Config *ConfigPtr, UINTPTR EffectiveAddress) {
    Xil_AssertNonvoid(InstancePtr != NULL && ConfigPtr != NULL);
    if (InstancePtr->IsStarted == XIL_COMPONENT_IS_STARTED)
        return XST_DEVICE_IS_STARTED;
    InstancePtr->Config = *ConfigPtr;
    InstancePtr->Config.BaseAddr = EffectiveAddress;
    InstancePtr->IsStarted = 0;
    InstancePtr->IsReady = XIL_COMPONENT_IS_READY;
    return XST_SUCCESS;
}

void XScuTimer_Start(XScuTimer *InstancePtr) {
    XSCUTIMER_SET(InstancePtr, XSCUTIMER_CONTROL_ENABLE_MASK);
    InstancePtr->IsStarted = XIL_COMPONENT_IS_STARTED;
}

void XScuTimer_Stop(XScuTimer *InstancePtr) {
    XSCUTIMER_CLEAR(InstancePtr, XSCUTIMER_CONTROL_ENABLE_MASK);
    InstancePtr->IsStarted = 0;
}

void XScuTimer_SetPrescaler(XScuTimer *InstancePtr, u8 PrescalerValue) {
    XSCUTIMER_CLEAR(InstancePtr, XSCUTIMER_CONTROL_PRESCALER_MASK);
    XSCUTIMER_SET(InstancePtr, (u32)PrescalerValue << XSCUTIMER_CONTROL_PRESCALER_SHIFT);
}

u8 XScuTimer_GetPrescaler(XScuTimer *InstancePtr) {
    return (u8)(Xil_In32(XSCUTIMER_AT(InstancePtr, CONTROL)) >> XSCUTIMER_CONTROL_PRESCALER_SHIFT);
}

s32 XScuTimer_SelfTest(XScuTimer *InstancePtr) {
    const u32 before = Xil_In32(XSCUTIMER_AT(InstancePtr, CONTROL));
    Xil_Out32(XSCUTIMER_AT(InstancePtr, CONTROL), 0);
    XScuTimer_LoadTimer(InstancePtr, 0xA55AF00Fu);
    const u32 loaded = Xil_In32(XSCUTIMER_AT(InstancePtr, LOAD));
    Xil_Out32(XSCUTIMER_AT(InstancePtr, CONTROL), before);
    return loaded == 0xA55AF00Fu ? XST_SUCCESS : XST_FAILURE;
}
