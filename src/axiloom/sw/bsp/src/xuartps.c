/* A UART. UG585, chapter 19. */
#include "xuartps.h"

static XUartPs_Config configs[] = {
#ifdef SDT
    {"xlnx,xuartps", XPAR_XUARTPS_0_BASEADDR, XPAR_XUARTPS_0_CLOCK_FREQ, 0, XPAR_XUARTPS_0_INTERRUPTS, XPAR_XUARTPS_0_INTERRUPT_PARENT},
    {"xlnx,xuartps", XPAR_XUARTPS_1_BASEADDR, XPAR_XUARTPS_1_CLOCK_FREQ, 0, XPAR_XUARTPS_1_INTERRUPTS, XPAR_XUARTPS_1_INTERRUPT_PARENT},
#else
    {XPAR_XUARTPS_0_DEVICE_ID, XPAR_XUARTPS_0_BASEADDR, XPAR_XUARTPS_0_UART_CLK_FREQ_HZ, 0},
    {XPAR_XUARTPS_1_DEVICE_ID, XPAR_XUARTPS_1_BASEADDR, XPAR_XUARTPS_1_UART_CLK_FREQ_HZ, 0},
#endif
};

#ifdef SDT
XUartPs_Config *XUartPs_LookupConfig(UINTPTR BaseAddress) {
    for (u32 i = 0; i < ARRAY_SIZE(configs); i++)
        if (configs[i].BaseAddress == BaseAddress || !BaseAddress)
            return &configs[i];
    return NULL;
}
#else
XUartPs_Config *XUartPs_LookupConfig(u16 DeviceId) { return DeviceId < ARRAY_SIZE(configs) ? &configs[DeviceId] : NULL; }
#endif

static u32 get(XUartPs *InstancePtr, u32 offset) { return Xil_In32(InstancePtr->Config.BaseAddress + offset); }
static void set(XUartPs *InstancePtr, u32 offset, u32 value) { Xil_Out32(InstancePtr->Config.BaseAddress + offset, value); }

static void ignore(void *CallBackRef, u32 Event, u32 EventData) { (void)CallBackRef, (void)Event, (void)EventData; }

s32 XUartPs_CfgInitialize(XUartPs *InstancePtr, XUartPs_Config *Config, UINTPTR EffectiveAddr) {
    Xil_AssertNonvoid(InstancePtr != NULL && Config != NULL);
    *InstancePtr = (XUartPs){.Config = *Config, .InputClockHz = Config->InputClockHz, .Handler = ignore};
    InstancePtr->Config.BaseAddress = EffectiveAddr;
    InstancePtr->IsReady = XIL_COMPONENT_IS_READY;
    if (XUartPs_SetBaudRate(InstancePtr, XUARTPS_DFT_BAUDRATE) != XST_SUCCESS) {
        InstancePtr->IsReady = 0;
        return XST_FAILURE;
    }
    set(InstancePtr, XUARTPS_MR_OFFSET, 0x20); /* 8 bits, no parity, one stop bit */
    set(InstancePtr, XUARTPS_RXWM_OFFSET, 8);
    set(InstancePtr, XUARTPS_RXTOUT_OFFSET, 1);
    set(InstancePtr, XUARTPS_IDR_OFFSET, XUARTPS_IXR_MASK);
    return XST_SUCCESS;
}

/* Dividers whose rate is nearest: UG585, 19.2.3. */
s32 XUartPs_SetBaudRate(XUartPs *InstancePtr, u32 BaudRate) {
    u32 best = ~0u, divider = 0, generator = 0;
    if (BaudRate < XUARTPS_MIN_RATE || BaudRate > XUARTPS_MAX_RATE)
        return XST_INVALID_PARAM;
    for (u32 by = 4; by < 255; by++) {
        const u32 count = InstancePtr->InputClockHz / (BaudRate * (by + 1));
        if (!count)
            continue;
        const u32 rate = InstancePtr->InputClockHz / (count * (by + 1));
        const u32 away = rate > BaudRate ? rate - BaudRate : BaudRate - rate;
        if (away < best)
            best = away, divider = by, generator = count;
    }
    if (best > BaudRate / 33) /* 3 % */
        return XST_UART;
    XUartPs_DisableUart(InstancePtr);
    set(InstancePtr, XUARTPS_BAUDGEN_OFFSET, generator);
    set(InstancePtr, XUARTPS_BAUDDIV_OFFSET, divider);
    set(InstancePtr, XUARTPS_CR_OFFSET, XUARTPS_CR_TXRST | XUARTPS_CR_RXRST);
    XUartPs_EnableUart(InstancePtr);
    InstancePtr->BaudRate = BaudRate;
    return XST_SUCCESS;
}

void XUartPs_EnableUart(XUartPs *InstancePtr) { set(InstancePtr, XUARTPS_CR_OFFSET, XUARTPS_CR_TX_EN | XUARTPS_CR_RX_EN); }
void XUartPs_DisableUart(XUartPs *InstancePtr) { set(InstancePtr, XUARTPS_CR_OFFSET, XUARTPS_CR_TX_DIS | XUARTPS_CR_RX_DIS); }

static u32 send_some(XUartPs *InstancePtr) {
    XUartPsBuffer *buffer = &InstancePtr->SendBuffer;
    u32 sent = 0;
    for (; buffer->RemainingBytes && !XUartPs_IsTransmitFull(InstancePtr->Config.BaseAddress); sent++) {
        set(InstancePtr, XUARTPS_FIFO_OFFSET, *buffer->NextBytePtr++);
        buffer->RemainingBytes--;
    }
    return sent;
}

static u32 receive_some(XUartPs *InstancePtr) {
    XUartPsBuffer *buffer = &InstancePtr->ReceiveBuffer;
    u32 received = 0;
    for (; buffer->RemainingBytes && XUartPs_IsReceiveData(InstancePtr->Config.BaseAddress); received++) {
        *buffer->NextBytePtr++ = (u8)get(InstancePtr, XUARTPS_FIFO_OFFSET);
        buffer->RemainingBytes--;
    }
    return received;
}

/* `some` of a new buffer, while its interrupts are held back; then they are as before, with `more`. */
static u32 begin(XUartPs *InstancePtr, XUartPsBuffer *buffer, u8 *BufferPtr, u32 NumBytes, u32 (*some)(XUartPs *), u32 more) {
    const u32 mask = get(InstancePtr, XUARTPS_IMR_OFFSET);
    set(InstancePtr, XUARTPS_IDR_OFFSET, XUARTPS_IXR_MASK);
    *buffer = (XUartPsBuffer){BufferPtr, NumBytes, NumBytes};
    const u32 done = some(InstancePtr);
    set(InstancePtr, XUARTPS_IER_OFFSET, mask | (buffer->RemainingBytes && mask ? more : 0));
    return done;
}

u32 XUartPs_Send(XUartPs *InstancePtr, u8 *BufferPtr, u32 NumBytes) {
    return begin(InstancePtr, &InstancePtr->SendBuffer, BufferPtr, NumBytes, send_some, XUARTPS_IXR_TXEMPTY);
}

u32 XUartPs_Recv(XUartPs *InstancePtr, u8 *BufferPtr, u32 NumBytes) {
    return begin(InstancePtr, &InstancePtr->ReceiveBuffer, BufferPtr, NumBytes, receive_some, 0);
}

u32 XUartPs_IsSending(XUartPs *InstancePtr) {
    const u32 status = get(InstancePtr, XUARTPS_SR_OFFSET);
    return (status & XUARTPS_SR_TACTIVE) || !(status & XUARTPS_SR_TXEMPTY);
}

void XUartPs_SetOperMode(XUartPs *InstancePtr, u8 OperationMode) {
    const u32 mode = get(InstancePtr, XUARTPS_MR_OFFSET) & ~XUARTPS_MR_CHMODE_MASK;
    set(InstancePtr, XUARTPS_MR_OFFSET, mode | (u32)OperationMode << 8);
}

u8 XUartPs_GetOperMode(XUartPs *InstancePtr) {
    return (u8)((get(InstancePtr, XUARTPS_MR_OFFSET) & XUARTPS_MR_CHMODE_MASK) >> 8);
}

void XUartPs_SetFifoThreshold(XUartPs *InstancePtr, u8 TriggerLevel) { set(InstancePtr, XUARTPS_RXWM_OFFSET, TriggerLevel & 0x3F); }

void XUartPs_SetRecvTimeout(XUartPs *InstancePtr, u8 RecvTimeout) {
    set(InstancePtr, XUARTPS_RXTOUT_OFFSET, RecvTimeout);
    set(InstancePtr, XUARTPS_CR_OFFSET, get(InstancePtr, XUARTPS_CR_OFFSET) | XUARTPS_CR_TORST);
}

u32 XUartPs_GetInterruptMask(XUartPs *InstancePtr) { return get(InstancePtr, XUARTPS_IMR_OFFSET); }

void XUartPs_SetInterruptMask(XUartPs *InstancePtr, u32 Mask) {
    set(InstancePtr, XUARTPS_IER_OFFSET, Mask & XUARTPS_IXR_MASK);
    set(InstancePtr, XUARTPS_IDR_OFFSET, ~Mask & XUARTPS_IXR_MASK);
}

void XUartPs_SetHandler(XUartPs *InstancePtr, XUartPs_Handler FuncPtr, void *CallBackRef) {
    InstancePtr->Handler = FuncPtr;
    InstancePtr->CallBackRef = CallBackRef;
}

void XUartPs_InterruptHandler(XUartPs *InstancePtr) {
    const u32 pending = get(InstancePtr, XUARTPS_IMR_OFFSET) & get(InstancePtr, XUARTPS_ISR_OFFSET);
    XUartPsBuffer *in = &InstancePtr->ReceiveBuffer, *out = &InstancePtr->SendBuffer;
    u32 event = 0, bytes = 0;
    if (pending & (XUARTPS_IXR_RXOVR | XUARTPS_IXR_RXEMPTY | XUARTPS_IXR_RXFULL | XUARTPS_IXR_TOUT)) {
        receive_some(InstancePtr);
        bytes = in->RequestedBytes - in->RemainingBytes;
        if (!in->RemainingBytes)
            event = XUARTPS_EVENT_RECV_DATA;
        else if (pending & XUARTPS_IXR_TOUT)
            event = XUARTPS_EVENT_RECV_TOUT;
    }
    set(InstancePtr, XUARTPS_ISR_OFFSET, pending);
    if (event)
        InstancePtr->Handler(InstancePtr->CallBackRef, event, bytes);
    if (pending & (XUARTPS_IXR_OVER | XUARTPS_IXR_FRAMING | XUARTPS_IXR_PARITY))
        InstancePtr->Handler(InstancePtr->CallBackRef, XUARTPS_EVENT_RECV_ERROR, in->RequestedBytes - in->RemainingBytes);
    if (pending & (XUARTPS_IXR_TXEMPTY | XUARTPS_IXR_TXFULL)) {
        if (out->RemainingBytes) {
            send_some(InstancePtr);
        } else {
            set(InstancePtr, XUARTPS_IDR_OFFSET, XUARTPS_IXR_TXEMPTY);
            InstancePtr->Handler(InstancePtr->CallBackRef, XUARTPS_EVENT_SENT_DATA, out->RequestedBytes);
        }
    }
}

s32 XUartPs_SelfTest(XUartPs *InstancePtr) {
    const u32 mode = get(InstancePtr, XUARTPS_MR_OFFSET);
    s32 status = XST_SUCCESS;
    XUartPs_SetOperMode(InstancePtr, XUARTPS_OPER_MODE_LOCAL_LOOP);
    for (u8 c = 'a'; c < 'a' + 32 && status == XST_SUCCESS; c++) {
        XUartPs_SendByte(InstancePtr->Config.BaseAddress, c);
        if (XUartPs_RecvByte(InstancePtr->Config.BaseAddress) != c)
            status = XST_UART;
    }
    set(InstancePtr, XUARTPS_MR_OFFSET, mode);
    return status;
}

void XUartPs_SendByte(UINTPTR BaseAddress, u8 Data) {
    while (XUartPs_IsTransmitFull(BaseAddress))
        continue;
    Xil_Out32(BaseAddress + XUARTPS_FIFO_OFFSET, Data);
}

u8 XUartPs_RecvByte(UINTPTR BaseAddress) {
    while (!XUartPs_IsReceiveData(BaseAddress))
        continue;
    return (u8)Xil_In32(BaseAddress + XUARTPS_FIFO_OFFSET);
}

void XUartPs_ResetHw(UINTPTR BaseAddress) {
    Xil_Out32(BaseAddress + XUARTPS_IDR_OFFSET, XUARTPS_IXR_MASK);
    Xil_Out32(BaseAddress + XUARTPS_CR_OFFSET, XUARTPS_CR_TXRST | XUARTPS_CR_RXRST);
    Xil_Out32(BaseAddress + XUARTPS_CR_OFFSET, XUARTPS_CR_TX_DIS | XUARTPS_CR_RX_DIS);
}
