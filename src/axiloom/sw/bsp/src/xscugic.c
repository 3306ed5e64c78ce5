/* The interrupt controller. Handlers lie in the configuration, so that all instances share them. */
#include "xscugic.h"

#include "xinterrupt_wrap.h"

enum { FIRST_SHARED = 32, DEFAULT_PRIORITY = 0xA0, PRIORITY_OF_CPU = 0xF0 };

static void unhandled(void *data) { ((XScuGic *)data)->UnhandledInterrupts++; }

static XScuGic_Config config = {
#ifndef SDT
    .DeviceId = XPAR_SCUGIC_SINGLE_DEVICE_ID,
#endif
    .CpuBaseAddress = XPAR_SCUGIC_0_CPU_BASEADDR,
    .DistBaseAddress = XPAR_SCUGIC_0_DIST_BASEADDR,
};

XScuGic_Config *XScuGic_LookupConfigBaseAddr(UINTPTR BaseAddress) {
    return (BaseAddress & ~1u) == config.DistBaseAddress || BaseAddress == config.CpuBaseAddress ? &config : NULL;
}
#ifdef SDT
XScuGic_Config *XScuGic_LookupConfig(UINTPTR BaseAddress) { return BaseAddress ? XScuGic_LookupConfigBaseAddr(BaseAddress) : &config; }
#else
XScuGic_Config *XScuGic_LookupConfig(u16 DeviceId) { return DeviceId == config.DeviceId ? &config : NULL; }
#endif

static void initialise(u32 distributor, u32 cpu) {
    Xil_Out32(distributor + XSCUGIC_DIST_EN_OFFSET, 0);
    for (u32 id = FIRST_SHARED; id < XSCUGIC_MAX_NUM_INTR_INPUTS; id += 16)
        Xil_Out32(distributor + XSCUGIC_INT_CFG_OFFSET_CALC(id), 0);
    for (u32 id = 0; id < XSCUGIC_MAX_NUM_INTR_INPUTS; id += 4)
        Xil_Out32(distributor + XSCUGIC_PRIORITY_OFFSET_CALC(id), DEFAULT_PRIORITY * 0x01010101u);
    for (u32 id = FIRST_SHARED; id < XSCUGIC_MAX_NUM_INTR_INPUTS; id += 4)
        Xil_Out32(distributor + XSCUGIC_SPI_TARGET_OFFSET_CALC(id), 0);
    for (u32 id = 0; id < XSCUGIC_MAX_NUM_INTR_INPUTS; id += 32)
        Xil_Out32(distributor + XSCUGIC_EN_DIS_OFFSET_CALC(XSCUGIC_DISABLE_OFFSET, id), ~0u);
    Xil_Out32(distributor + XSCUGIC_DIST_EN_OFFSET, 1);
    Xil_Out32(cpu + XSCUGIC_CPU_PRIOR_OFFSET, PRIORITY_OF_CPU);
    Xil_Out32(cpu + XSCUGIC_CONTROL_OFFSET, 7);
}

s32 XScuGic_CfgInitialize(XScuGic *InstancePtr, XScuGic_Config *ConfigPtr, u32 EffectiveAddr) {
    if (!InstancePtr || !ConfigPtr)
        return XST_INVALID_PARAM;
    if (InstancePtr->IsReady == XIL_COMPONENT_IS_READY)
        return XST_SUCCESS;
    InstancePtr->Config = ConfigPtr;
    InstancePtr->UnhandledInterrupts = 0;
    ConfigPtr->CpuBaseAddress = EffectiveAddr == ConfigPtr->DistBaseAddress ? ConfigPtr->CpuBaseAddress : EffectiveAddr;
    for (u32 id = 0; id < XSCUGIC_MAX_NUM_INTR_INPUTS; id++)
        if (!ConfigPtr->HandlerTable[id].Handler)
            ConfigPtr->HandlerTable[id] = (XScuGic_VectorTableEntry){unhandled, InstancePtr};
    initialise(ConfigPtr->DistBaseAddress, ConfigPtr->CpuBaseAddress);
    InstancePtr->IsReady = XIL_COMPONENT_IS_READY;
    return XST_SUCCESS;
}

s32 XScuGic_Connect(XScuGic *InstancePtr, u32 Int_Id, Xil_InterruptHandler Handler, void *CallBackRef) {
    Xil_AssertNonvoid(InstancePtr != NULL && InstancePtr->IsReady == XIL_COMPONENT_IS_READY);
    Xil_AssertNonvoid(Int_Id < XSCUGIC_MAX_NUM_INTR_INPUTS && Handler != NULL);
    InstancePtr->Config->HandlerTable[Int_Id] = (XScuGic_VectorTableEntry){Handler, CallBackRef};
    return XST_SUCCESS;
}

void XScuGic_Disconnect(XScuGic *InstancePtr, u32 Int_Id) {
    Xil_AssertVoid(Int_Id < XSCUGIC_MAX_NUM_INTR_INPUTS);
    XScuGic_Disable(InstancePtr, Int_Id);
    InstancePtr->Config->HandlerTable[Int_Id] = (XScuGic_VectorTableEntry){unhandled, InstancePtr};
}

void XScuGic_Enable(XScuGic *InstancePtr, u32 Int_Id) {
    Xil_AssertVoid(InstancePtr != NULL && Int_Id < XSCUGIC_MAX_NUM_INTR_INPUTS);
    XScuGic_InterruptMaptoCpu(InstancePtr, 0, Int_Id);
    XScuGic_EnableIntr(InstancePtr->Config->DistBaseAddress, Int_Id);
}

void XScuGic_Disable(XScuGic *InstancePtr, u32 Int_Id) {
    Xil_AssertVoid(InstancePtr != NULL && Int_Id < XSCUGIC_MAX_NUM_INTR_INPUTS);
    XScuGic_InterruptUnmapFromCpu(InstancePtr, 0, Int_Id);
    XScuGic_DisableIntr(InstancePtr->Config->DistBaseAddress, Int_Id);
}

s32 XScuGic_SoftwareIntr(XScuGic *InstancePtr, u32 Int_Id, u32 Cpu_Identifier) {
    Xil_AssertNonvoid(Int_Id <= 15U && Cpu_Identifier <= 255U);
    XScuGic_DistWriteReg(InstancePtr, XSCUGIC_SFI_TRIG_OFFSET, Cpu_Identifier << 16 | Int_Id);
    return XST_SUCCESS;
}

/* `bits` of interrupt Int_Id, of which a register from `offset` on has 32 / `width`. */
static void set_field(u32 distributor, u32 offset, u32 Int_Id, u32 width, u32 bits) {
    const u32 fields = 32 / width, shift = Int_Id % fields * width, at = distributor + offset + Int_Id / fields * 4;
    const u32 mask = ((1u << width) - 1) << shift;
    Xil_Out32(at, (Xil_In32(at) & ~mask) | (bits << shift & mask));
}

static u32 field(u32 distributor, u32 offset, u32 Int_Id, u32 width) {
    const u32 fields = 32 / width;
    return Xil_In32(distributor + offset + Int_Id / fields * 4) >> Int_Id % fields * width & ((1u << width) - 1);
}

void XScuGic_SetPriTrigTypeByDistAddr(u32 DistBaseAddress, u32 Int_Id, u8 Priority, u8 Trigger) {
    Xil_AssertVoid(Int_Id < XSCUGIC_MAX_NUM_INTR_INPUTS && Trigger <= 3);
    set_field(DistBaseAddress, XSCUGIC_INT_CFG_OFFSET, Int_Id, 2, Trigger);
    set_field(DistBaseAddress, XSCUGIC_PRIORITY_OFFSET, Int_Id, 8, Priority & XREG_INT_PRIORITY_MASK);
}

void XScuGic_GetPriTrigTypeByDistAddr(u32 DistBaseAddress, u32 Int_Id, u8 *Priority, u8 *Trigger) {
    *Trigger = (u8)field(DistBaseAddress, XSCUGIC_INT_CFG_OFFSET, Int_Id, 2);
    *Priority = (u8)field(DistBaseAddress, XSCUGIC_PRIORITY_OFFSET, Int_Id, 8);
}

void XScuGic_SetPriorityTriggerType(XScuGic *InstancePtr, u32 Int_Id, u8 Priority, u8 Trigger) {
    XScuGic_SetPriTrigTypeByDistAddr(InstancePtr->Config->DistBaseAddress, Int_Id, Priority, Trigger);
}

void XScuGic_GetPriorityTriggerType(XScuGic *InstancePtr, u32 Int_Id, u8 *Priority, u8 *Trigger) {
    XScuGic_GetPriTrigTypeByDistAddr(InstancePtr->Config->DistBaseAddress, Int_Id, Priority, Trigger);
}

static void map(XScuGic *InstancePtr, u8 Cpu_Identifier, u32 Int_Id, int is_on) {
    const u32 distributor = InstancePtr->Config->DistBaseAddress, bit = 1u << Cpu_Identifier;
    const u32 now = field(distributor, XSCUGIC_SPI_TARGET_OFFSET, Int_Id, 8);
    if (Int_Id >= FIRST_SHARED)
        set_field(distributor, XSCUGIC_SPI_TARGET_OFFSET, Int_Id, 8, is_on ? now | bit : now & ~bit);
}

void XScuGic_InterruptMaptoCpu(XScuGic *InstancePtr, u8 Cpu_Identifier, u32 Int_Id) {
    map(InstancePtr, Cpu_Identifier, Int_Id, 1);
}

void XScuGic_InterruptUnmapFromCpu(XScuGic *InstancePtr, u8 Cpu_Identifier, u32 Int_Id) {
    map(InstancePtr, Cpu_Identifier, Int_Id, 0);
}

void XScuGic_Stop(XScuGic *InstancePtr) {
    for (u32 id = 0; id < XSCUGIC_MAX_NUM_INTR_INPUTS; id += 32)
        XScuGic_DistWriteReg(InstancePtr, XSCUGIC_EN_DIS_OFFSET_CALC(XSCUGIC_DISABLE_OFFSET, id), ~0u);
    XScuGic_DistWriteReg(InstancePtr, XSCUGIC_DIST_EN_OFFSET, 0);
}

static u32 cpu_id;
void XScuGic_SetCpuID(u32 CpuCoreId) { cpu_id = CpuCoreId; }
u32 XScuGic_GetCpuID(void) { return cpu_id; }

static void handle(XScuGic_Config *from) {
    const u32 acknowledged = Xil_In32(from->CpuBaseAddress + XSCUGIC_INT_ACK_OFFSET);
    const u32 id = acknowledged & XSCUGIC_ACK_INTID_MASK;
    if (id >= XSCUGIC_MAX_NUM_INTR_INPUTS) /* spurious: it is not ended */
        return;
    const XScuGic_VectorTableEntry *entry = &from->HandlerTable[id];
    if (entry->Handler)
        entry->Handler(entry->CallBackRef);
    Xil_Out32(from->CpuBaseAddress + XSCUGIC_EOI_OFFSET, acknowledged);
}

void XScuGic_InterruptHandler(XScuGic *InstancePtr) {
    Xil_AssertVoid(InstancePtr != NULL);
    handle(InstancePtr->Config);
}

s32 XScuGic_SelfTest(XScuGic *InstancePtr) {
    return (XScuGic_DistReadReg(InstancePtr, XSCUGIC_IC_TYPE_OFFSET) & 0x1F) * 32 + 32 >= XSCUGIC_MAX_NUM_INTR_INPUTS
               ? XST_SUCCESS
               : XST_FAILURE;
}

s32 XScuGic_DeviceInitialize(u32 DeviceId) {
    (void)DeviceId;
    initialise(config.DistBaseAddress, config.CpuBaseAddress);
    return XST_SUCCESS;
}

void XScuGic_DeviceInterruptHandler(void *DeviceId) {
    (void)DeviceId;
    handle(&config);
}

void XScuGic_RegisterHandler(u32 BaseAddress, s32 InterruptID, Xil_InterruptHandler IntrHandler, void *CallBackRef) {
    (void)BaseAddress;
    Xil_AssertVoid((u32)InterruptID < XSCUGIC_MAX_NUM_INTR_INPUTS);
    config.HandlerTable[InterruptID] = (XScuGic_VectorTableEntry){IntrHandler, CallBackRef};
}

/* ---- xinterrupt_wrap.h: one instance for all devices */

static XScuGic shared;

u32 XGetIntrId(u32 IntrId) { return (IntrId & 0xFFFu) + (IntrId & XINTC_INTR_TYPE_PPI ? 16u : FIRST_SHARED); }

int XConfigInterruptCntrl(UINTPTR IntcParent) {
    return IntcParent ? XScuGic_CfgInitialize(&shared, &config, config.CpuBaseAddress) : XST_FAILURE;
}

int XConnectToInterruptCntrl(u32 IntrId, void *IntrHandler, void *CallBackRef, UINTPTR IntcParent) {
    (void)IntcParent;
    return XScuGic_Connect(&shared, XGetIntrId(IntrId), (Xil_InterruptHandler)IntrHandler, CallBackRef);
}

int XDisconnectInterruptCntrl(u32 IntrId, UINTPTR IntcParent) {
    (void)IntcParent;
    XScuGic_Disconnect(&shared, XGetIntrId(IntrId));
    return XST_SUCCESS;
}

void XEnableIntrId(u32 IntrId, UINTPTR IntcParent) {
    (void)IntcParent;
    XScuGic_Enable(&shared, XGetIntrId(IntrId));
}

void XDisableIntrId(u32 IntrId, UINTPTR IntcParent) {
    (void)IntcParent;
    XScuGic_Disable(&shared, XGetIntrId(IntrId));
}

void XSetPriorityTriggerType(u32 IntrId, u8 Priority, UINTPTR IntcParent) {
    (void)IntcParent;
    const u8 trigger = (IntrId >> 12 & 0xF) == 1 ? 3 : 1;
    XScuGic_SetPriorityTriggerType(&shared, XGetIntrId(IntrId), Priority, trigger);
}

void XRegisterInterruptHandler(void *IntrHandler, UINTPTR IntcParent) {
    (void)IntcParent;
    Xil_ExceptionRegisterHandler(
        XIL_EXCEPTION_ID_IRQ_INT,
        IntrHandler ? (Xil_ExceptionHandler)IntrHandler : (Xil_ExceptionHandler)XScuGic_InterruptHandler, &shared);
}

int XStartInterruptCntrl(u32 Mode, UINTPTR IntcParent) {
    (void)Mode, (void)IntcParent;
    return XST_SUCCESS;
}

int XSetupInterruptSystem(void *DriverInstance, void *IntrHandler, u32 IntrId, UINTPTR IntcParent, u16 Priority) {
    if (XConfigInterruptCntrl(IntcParent) != XST_SUCCESS)
        return XST_FAILURE;
    XSetPriorityTriggerType(IntrId, (u8)Priority, IntcParent);
    if (XConnectToInterruptCntrl(IntrId, IntrHandler, DriverInstance, IntcParent) != XST_SUCCESS)
        return XST_FAILURE;
    XEnableIntrId(IntrId, IntcParent);
    XRegisterInterruptHandler(NULL, IntcParent);
    Xil_ExceptionInit();
    Xil_ExceptionEnable();
    return XST_SUCCESS;
}
