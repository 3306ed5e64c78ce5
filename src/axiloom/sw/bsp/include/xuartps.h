/* A UART: polled, or by its interrupt. */
#ifndef XUARTPS_H
#define XUARTPS_H

#include "xil_assert.h"
#include "xil_types.h"
#include "xstatus.h"
#include "xuartps_hw.h"

#define XUARTPS_DFT_BAUDRATE 115200U
#define XUARTPS_MAX_RATE 921600U
#define XUARTPS_MIN_RATE 110U
#define XUARTPS_OPER_MODE_NORMAL 0U
#define XUARTPS_OPER_MODE_AUTO_ECHO 1U
#define XUARTPS_OPER_MODE_LOCAL_LOOP 2U
#define XUARTPS_OPER_MODE_REMOTE_LOOP 3U
#define XUARTPS_OPTION_SET_BREAK 0x0080U
#define XUARTPS_OPTION_RESET_TMOUT 0x0020U
#define XUARTPS_OPTION_RESET_TX 0x0010U
#define XUARTPS_OPTION_RESET_RX 0x0008U
#define XUARTPS_EVENT_RECV_DATA 1U
#define XUARTPS_EVENT_RECV_TOUT 2U
#define XUARTPS_EVENT_SENT_DATA 3U
#define XUARTPS_EVENT_RECV_ERROR 4U

typedef struct {
#ifndef SDT
    u16 DeviceId;
#else
    char *Name;
#endif
    UINTPTR BaseAddress;
    u32 InputClockHz;
    s32 ModemPinsConnected;
#ifdef SDT
    u32 IntrId;
    UINTPTR IntrParent;
#endif
} XUartPs_Config;

typedef struct {
    u8 *NextBytePtr;
    u32 RequestedBytes;
    u32 RemainingBytes;
} XUartPsBuffer;

typedef void (*XUartPs_Handler)(void *CallBackRef, u32 Event, u32 EventData);

typedef struct {
    XUartPs_Config Config;
    u32 InputClockHz;
    u32 IsReady;
    u32 BaudRate;
    XUartPsBuffer SendBuffer, ReceiveBuffer;
    XUartPs_Handler Handler;
    void *CallBackRef;
} XUartPs;

#ifdef __cplusplus
extern "C" {
#endif
#ifdef SDT
XUartPs_Config *XUartPs_LookupConfig(UINTPTR BaseAddress);
#else
XUartPs_Config *XUartPs_LookupConfig(u16 DeviceId);
#endif
s32 XUartPs_CfgInitialize(XUartPs *InstancePtr, XUartPs_Config *Config, UINTPTR EffectiveAddr);
/* What fits now; the rest, by the interrupt. */
u32 XUartPs_Send(XUartPs *InstancePtr, u8 *BufferPtr, u32 NumBytes);
u32 XUartPs_Recv(XUartPs *InstancePtr, u8 *BufferPtr, u32 NumBytes);
s32 XUartPs_SetBaudRate(XUartPs *InstancePtr, u32 BaudRate);
u32 XUartPs_IsSending(XUartPs *InstancePtr);
void XUartPs_SetOperMode(XUartPs *InstancePtr, u8 OperationMode);
u8 XUartPs_GetOperMode(XUartPs *InstancePtr);
void XUartPs_SetFifoThreshold(XUartPs *InstancePtr, u8 TriggerLevel);
void XUartPs_SetRecvTimeout(XUartPs *InstancePtr, u8 RecvTimeout);
void XUartPs_EnableUart(XUartPs *InstancePtr);
void XUartPs_DisableUart(XUartPs *InstancePtr);
u32 XUartPs_GetInterruptMask(XUartPs *InstancePtr);
void XUartPs_SetInterruptMask(XUartPs *InstancePtr, u32 Mask);
void XUartPs_SetHandler(XUartPs *InstancePtr, XUartPs_Handler FuncPtr, void *CallBackRef);
void XUartPs_InterruptHandler(XUartPs *InstancePtr);
s32 XUartPs_SelfTest(XUartPs *InstancePtr);
#ifdef __cplusplus
}
#endif

#endif
