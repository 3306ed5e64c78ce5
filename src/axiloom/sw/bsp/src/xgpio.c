/* AXI GPIO. */
#include "xgpio.h"

#include "lookup.h"

LOOKUP(XGpio, XGpio_LookupConfig, BaseAddress, u16, XPAR_XGPIO_NUM_INSTANCES)

static UINTPTR at(const XGpio *gpio, unsigned channel, u32 offset) {
    Xil_AssertNonvoid(gpio && gpio->IsReady == XIL_COMPONENT_IS_READY && (channel == 1 || (channel == 2 && gpio->IsDual)));
    return gpio->BaseAddress + (channel - 1) * XGPIO_CHAN_OFFSET + offset;
}

static UINTPTR interrupt(const XGpio *gpio, u32 offset) {
    Xil_AssertNonvoid(gpio->InterruptPresent);
    return at(gpio, 1, offset);
}

#ifdef SDT
int XGpio_Initialize(XGpio *InstancePtr, UINTPTR BaseAddress) {
    XGpio_Config *config = XGpio_LookupConfig(BaseAddress);
#else
int XGpio_Initialize(XGpio *InstancePtr, u16 DeviceId) {
    XGpio_Config *config = XGpio_LookupConfig(DeviceId);
#endif
    InstancePtr->IsReady = 0;
    return config ? XGpio_CfgInitialize(InstancePtr, config, config->BaseAddress) : XST_DEVICE_NOT_FOUND;
}

int XGpio_CfgInitialize(XGpio *InstancePtr, XGpio_Config *Config, UINTPTR EffectiveAddr) {
    *InstancePtr = (XGpio){EffectiveAddr, XIL_COMPONENT_IS_READY, Config->InterruptPresent, Config->IsDual};
    return XST_SUCCESS;
}

void XGpio_SetDataDirection(XGpio *InstancePtr, unsigned Channel, u32 DirectionMask) {
    Xil_Out32(at(InstancePtr, Channel, XGPIO_TRI_OFFSET), DirectionMask);
}

u32 XGpio_GetDataDirection(XGpio *InstancePtr, unsigned Channel) { return Xil_In32(at(InstancePtr, Channel, XGPIO_TRI_OFFSET)); }

u32 XGpio_DiscreteRead(XGpio *InstancePtr, unsigned Channel) { return Xil_In32(at(InstancePtr, Channel, XGPIO_DATA_OFFSET)); }

void XGpio_DiscreteWrite(XGpio *InstancePtr, unsigned Channel, u32 Mask) {
    Xil_Out32(at(InstancePtr, Channel, XGPIO_DATA_OFFSET), Mask);
}

void XGpio_DiscreteSet(XGpio *InstancePtr, unsigned Channel, u32 Mask) {
    XGpio_DiscreteWrite(InstancePtr, Channel, XGpio_DiscreteRead(InstancePtr, Channel) | Mask);
}

void XGpio_DiscreteClear(XGpio *InstancePtr, unsigned Channel, u32 Mask) {
    XGpio_DiscreteWrite(InstancePtr, Channel, XGpio_DiscreteRead(InstancePtr, Channel) & ~Mask);
}

int XGpio_SelfTest(XGpio *InstancePtr) {
    XGpio_DiscreteRead(InstancePtr, 1);
    return XST_SUCCESS;
}

void XGpio_InterruptGlobalEnable(XGpio *InstancePtr) {
    Xil_Out32(interrupt(InstancePtr, XGPIO_GIE_OFFSET), XGPIO_GIE_GINTR_ENABLE_MASK);
}

void XGpio_InterruptGlobalDisable(XGpio *InstancePtr) { Xil_Out32(interrupt(InstancePtr, XGPIO_GIE_OFFSET), 0); }

void XGpio_InterruptEnable(XGpio *InstancePtr, u32 Mask) {
    Xil_Out32(interrupt(InstancePtr, XGPIO_IER_OFFSET), XGpio_InterruptGetEnabled(InstancePtr) | Mask);
}

void XGpio_InterruptDisable(XGpio *InstancePtr, u32 Mask) {
    Xil_Out32(interrupt(InstancePtr, XGPIO_IER_OFFSET), XGpio_InterruptGetEnabled(InstancePtr) & ~Mask);
}

/* A 1 toggles a bit of ISR: only those that are set are written. */
void XGpio_InterruptClear(XGpio *InstancePtr, u32 Mask) {
    Xil_Out32(interrupt(InstancePtr, XGPIO_ISR_OFFSET), XGpio_InterruptGetStatus(InstancePtr) & Mask);
}

u32 XGpio_InterruptGetEnabled(XGpio *InstancePtr) { return Xil_In32(interrupt(InstancePtr, XGPIO_IER_OFFSET)); }

u32 XGpio_InterruptGetStatus(XGpio *InstancePtr) { return Xil_In32(interrupt(InstancePtr, XGPIO_ISR_OFFSET)); }
