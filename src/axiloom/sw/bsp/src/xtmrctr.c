/* The AXI Timer. */
#include "xtmrctr.h"

#include "lookup.h"

LOOKUP(XTmrCtr, XTmrCtr_LookupConfig, BaseAddress, u16, XPAR_XTMRCTR_NUM_INSTANCES)

static UINTPTR base(const XTmrCtr *timer, u8 number) {
    (void)number;
    Xil_AssertNonvoid(timer && number < XTC_DEVICE_TIMER_COUNT && timer->IsReady == XIL_COMPONENT_IS_READY);
    return timer->BaseAddress;
}

#define GET(Register) XTmrCtr_ReadReg(base(InstancePtr, TmrCtrNumber), TmrCtrNumber, XTC_##Register##_OFFSET)
#define SET(Register, Value) XTmrCtr_WriteReg(base(InstancePtr, TmrCtrNumber), TmrCtrNumber, XTC_##Register##_OFFSET, Value)

static u32 *started(XTmrCtr *timer, u8 number) { return number ? &timer->IsStartedTmrCtr1 : &timer->IsStartedTmrCtr0; }

static void nothing(void *CallBackRef, u8 TmrCtrNumber) {
    (void)CallBackRef;
    (void)TmrCtrNumber;
}

void XTmrCtr_CfgInitialize(XTmrCtr *InstancePtr, XTmrCtr_Config *ConfigPtr, UINTPTR EffectiveAddr) {
    InstancePtr->Config = *ConfigPtr;
    InstancePtr->Config.BaseAddress = InstancePtr->BaseAddress = EffectiveAddr;
    InstancePtr->Stats.Interrupts = 0;
    InstancePtr->IsReady = XIL_COMPONENT_IS_READY;
    XTmrCtr_SetHandler(InstancePtr, nothing, InstancePtr);
}

int XTmrCtr_InitHw(XTmrCtr *InstancePtr) {
    int status = XST_DEVICE_IS_STARTED;
    for (u8 TmrCtrNumber = 0; TmrCtrNumber < XTC_DEVICE_TIMER_COUNT; TmrCtrNumber++) {
        if (*started(InstancePtr, TmrCtrNumber) == XIL_COMPONENT_IS_STARTED)
            continue;
        SET(TLR, 0);
        SET(TCSR, XTC_CSR_INT_OCCURED_MASK | XTC_CSR_LOAD_MASK);
        SET(TCSR, 0);
        status = XST_SUCCESS;
    }
    return status;
}

#ifdef SDT
int XTmrCtr_Initialize(XTmrCtr *InstancePtr, UINTPTR BaseAddr) {
    XTmrCtr_Config *config = XTmrCtr_LookupConfig(BaseAddr);
#else
int XTmrCtr_Initialize(XTmrCtr *InstancePtr, u16 DeviceId) {
    XTmrCtr_Config *config = XTmrCtr_LookupConfig(DeviceId);
#endif
    if (*started(InstancePtr, 0) == XIL_COMPONENT_IS_STARTED && *started(InstancePtr, 1) == XIL_COMPONENT_IS_STARTED)
        return XST_DEVICE_IS_STARTED;
    if (!config)
        return XST_DEVICE_NOT_FOUND;
    XTmrCtr_CfgInitialize(InstancePtr, config, config->BaseAddress);
    return XTmrCtr_InitHw(InstancePtr);
}

void XTmrCtr_Start(XTmrCtr *InstancePtr, u8 TmrCtrNumber) {
    const u32 control = GET(TCSR);
    SET(TCSR, XTC_CSR_LOAD_MASK);
    *started(InstancePtr, TmrCtrNumber) = XIL_COMPONENT_IS_STARTED;
    SET(TCSR, control | XTC_CSR_ENABLE_TMR_MASK);
}

void XTmrCtr_Stop(XTmrCtr *InstancePtr, u8 TmrCtrNumber) {
    SET(TCSR, GET(TCSR) & ~XTC_CSR_ENABLE_TMR_MASK);
    *started(InstancePtr, TmrCtrNumber) = 0;
}

u32 XTmrCtr_GetValue(XTmrCtr *InstancePtr, u8 TmrCtrNumber) { return GET(TCR); }

void XTmrCtr_SetResetValue(XTmrCtr *InstancePtr, u8 TmrCtrNumber, u32 ResetValue) { SET(TLR, ResetValue); }

u32 XTmrCtr_GetCaptureValue(XTmrCtr *InstancePtr, u8 TmrCtrNumber) { return GET(TLR); }

int XTmrCtr_IsExpired(XTmrCtr *InstancePtr, u8 TmrCtrNumber) { return !!(GET(TCSR) & XTC_CSR_INT_OCCURED_MASK); }

void XTmrCtr_Reset(XTmrCtr *InstancePtr, u8 TmrCtrNumber) {
    const u32 control = GET(TCSR);
    SET(TCSR, control | XTC_CSR_LOAD_MASK);
    SET(TCSR, control);
}

static void change(XTmrCtr *InstancePtr, u32 clear, u32 set) {
    for (u8 TmrCtrNumber = 0; TmrCtrNumber < XTC_DEVICE_TIMER_COUNT; TmrCtrNumber++)
        SET(TCSR, (GET(TCSR) & ~clear) | set);
}

u8 XTmrCtr_PwmConfigure(XTmrCtr *InstancePtr, u32 PwmPeriod, u32 PwmHighTime) {
    const u32 cycle = XTC_HZ_TO_NS(InstancePtr->Config.SysClockFreqHz);
    for (u8 i = 0; i < XTC_DEVICE_TIMER_COUNT; i++)
        if (*started(InstancePtr, i) == XIL_COMPONENT_IS_STARTED)
            XTmrCtr_Stop(InstancePtr, i);
    change(InstancePtr, XTC_CSR_CASC_MASK | XTC_CSR_EXT_GENERATE_MASK, XTC_CSR_DOWN_COUNT_MASK | XTC_CSR_AUTO_RELOAD_MASK);
    if (PwmPeriod < PwmHighTime || PwmPeriod < 2 * cycle || PwmHighTime < 2 * cycle)
        return XST_INVALID_PARAM;
    const u64 period = XTC_ROUND_DIV(PwmPeriod, cycle) - 2, high = XTC_ROUND_DIV(PwmHighTime, cycle) - 2;
    XTmrCtr_SetResetValue(InstancePtr, XTC_TIMER_0, (u32)period);
    XTmrCtr_SetResetValue(InstancePtr, XTC_TIMER_1, (u32)high);
    change(InstancePtr, XTC_CSR_CAPTURE_MODE_MASK, 0);
    return period ? (u8)XTC_ROUND_DIV(high * 100, period) : 100;
}

void XTmrCtr_PwmEnable(XTmrCtr *InstancePtr) {
    if (InstancePtr->IsPwmEnabled)
        return;
    change(InstancePtr, 0, XTC_CSR_ENABLE_PWM_MASK | XTC_CSR_EXT_GENERATE_MASK);
    XTmrCtr_Reset(InstancePtr, XTC_TIMER_0);
    XTmrCtr_Reset(InstancePtr, XTC_TIMER_1);
    XTC_CHANGE(InstancePtr->BaseAddress, XTC_TIMER_0, 0U, XTC_CSR_ENABLE_ALL_MASK);
    InstancePtr->IsPwmEnabled = TRUE;
}

void XTmrCtr_PwmDisable(XTmrCtr *InstancePtr) {
    if (!InstancePtr->IsPwmEnabled)
        return;
    for (u8 i = 0; i < XTC_DEVICE_TIMER_COUNT; i++) {
        XTmrCtr_Stop(InstancePtr, i);
        XTmrCtr_Reset(InstancePtr, i);
    }
    change(InstancePtr, XTC_CSR_ENABLE_PWM_MASK | XTC_CSR_EXT_GENERATE_MASK, 0);
    InstancePtr->IsPwmEnabled = FALSE;
}

static const struct {
    u32 option, mask;
} options[] = {
    {XTC_CASCADE_MODE_OPTION, XTC_CSR_CASC_MASK},
    {XTC_ENABLE_ALL_OPTION, XTC_CSR_ENABLE_ALL_MASK},
    {XTC_DOWN_COUNT_OPTION, XTC_CSR_DOWN_COUNT_MASK},
    {XTC_CAPTURE_MODE_OPTION, XTC_CSR_CAPTURE_MODE_MASK | XTC_CSR_EXT_CAPTURE_MASK},
    {XTC_INT_MODE_OPTION, XTC_CSR_ENABLE_INT_MASK},
    {XTC_AUTO_RELOAD_OPTION, XTC_CSR_AUTO_RELOAD_MASK},
    {XTC_EXT_COMPARE_OPTION, XTC_CSR_EXT_GENERATE_MASK},
};
#define OPTIONS (sizeof options / sizeof options[0])

void XTmrCtr_SetOptions(XTmrCtr *InstancePtr, u8 TmrCtrNumber, u32 Options) {
    u32 control = 0;
    for (u32 i = 0; i < OPTIONS; i++)
        control |= Options & options[i].option ? options[i].mask : 0;
    SET(TCSR, control);
}

u32 XTmrCtr_GetOptions(XTmrCtr *InstancePtr, u8 TmrCtrNumber) {
    const u32 control = GET(TCSR);
    u32 result = 0;
    for (u32 i = 0; i < OPTIONS; i++)
        result |= control & options[i].mask ? options[i].option : 0;
    return result;
}

void XTmrCtr_GetStats(XTmrCtr *InstancePtr, XTmrCtrStats *StatsPtr) { *StatsPtr = InstancePtr->Stats; }

void XTmrCtr_ClearStats(XTmrCtr *InstancePtr) { InstancePtr->Stats.Interrupts = 0; }

int XTmrCtr_SelfTest(XTmrCtr *InstancePtr, u8 TmrCtrNumber) {
    u32 looks = 0xFFFF;
    SET(TLR, 0);
    SET(TCSR, XTC_CSR_INT_OCCURED_MASK | XTC_CSR_LOAD_MASK);
    SET(TCSR, XTC_CSR_ENABLE_TMR_MASK);
    const u32 first = GET(TCR);
    while (GET(TCR) == first && --looks)
        ;
    SET(TCSR, XTC_CSR_INT_OCCURED_MASK | XTC_CSR_LOAD_MASK);
    SET(TCSR, 0);
    return looks ? XST_SUCCESS : XST_FAILURE;
}

void XTmrCtr_SetHandler(XTmrCtr *InstancePtr, XTmrCtr_Handler FuncPtr, void *CallBackRef) {
    InstancePtr->Handler = FuncPtr;
    InstancePtr->CallBackRef = CallBackRef;
}

void XTmrCtr_InterruptHandler(void *Instance) {
    XTmrCtr *InstancePtr = Instance;
    for (u8 TmrCtrNumber = 0; TmrCtrNumber < XTC_DEVICE_TIMER_COUNT; TmrCtrNumber++) {
        const u32 pending = XTC_CSR_ENABLE_INT_MASK | XTC_CSR_INT_OCCURED_MASK;
        if ((GET(TCSR) & pending) != pending)
            continue;
        InstancePtr->Stats.Interrupts++;
        InstancePtr->Handler(InstancePtr->CallBackRef, TmrCtrNumber);
        u32 control = GET(TCSR);
        if (!(control & (XTC_CSR_AUTO_RELOAD_MASK | XTC_CSR_CAPTURE_MODE_MASK))) { /* it has stopped: ready for a next start */
            control &= ~XTC_CSR_ENABLE_TMR_MASK;
            SET(TCSR, control | XTC_CSR_LOAD_MASK);
            SET(TCSR, control);
        }
        SET(TCSR, control | XTC_CSR_INT_OCCURED_MASK);
    }
}
