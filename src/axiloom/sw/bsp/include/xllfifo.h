/* The AXI4-Stream FIFO: AMD PG080. Lengths are bytes, vacancy and occupancy words. */
#ifndef XLLFIFO_H
#define XLLFIFO_H

#include "xil_assert.h"
#include "xil_printf.h"
#include "xllfifo_hw.h"
#include "xparameters.h"
#include "xstatus.h"
#include "xstreamer.h"

#if !XPAR_XLLFIFO_NUM_INSTANCES
#error "xllfifo.h: the simulated system has no AXI4-Stream FIFO: give --ip axi_fifo_mm_s"
#endif

typedef struct XLlFifo {
    UINTPTR BaseAddress;
    u32 IsReady;
    UINTPTR Axi4BaseAddress;
    u32 Datainterface;
    XStrm_RxFifoStreamer RxStreamer;
    XStrm_TxFifoStreamer TxStreamer;
#ifdef SDT
    u32 IntId;
    UINTPTR IntrParent;
#endif
} XLlFifo;

typedef struct XLlFifo_Config {
#ifndef SDT
    u32 DeviceId;
#else
    char *Name;
#endif
    UINTPTR BaseAddress;
    UINTPTR Axi4BaseAddress;
    u32 Datainterface;
#ifdef SDT
    u32 IntId;
    UINTPTR IntrParent;
#endif
} XLlFifo_Config;

#define XLLFIFO_GET(InstancePtr, Register) XLlFifo_ReadReg((InstancePtr)->BaseAddress, XLLF_##Register##_OFFSET)
#define XLLFIFO_SET(InstancePtr, Register, Value) XLlFifo_WriteReg((InstancePtr)->BaseAddress, XLLF_##Register##_OFFSET, Value)
#define XLlFifo_Reset(InstancePtr) XLLFIFO_SET(InstancePtr, LLR, XLLF_LLR_RESET_MASK)
#define XLlFifo_RxReset(InstancePtr) XLLFIFO_SET(InstancePtr, RDFR, XLLF_RDFR_RESET_MASK)
#define XLlFifo_TxReset(InstancePtr) XLLFIFO_SET(InstancePtr, TDFR, XLLF_TDFR_RESET_MASK)
#define XLlFifo_Status(InstancePtr) XLLFIFO_GET(InstancePtr, ISR)
#define XLlFifo_IntEnable(InstancePtr, Mask)                                                       \
    XLLFIFO_SET(InstancePtr, IER, XLLFIFO_GET(InstancePtr, IER) | ((Mask) & XLLF_INT_ALL_MASK))
#define XLlFifo_IntDisable(InstancePtr, Mask)                                                      \
    XLLFIFO_SET(InstancePtr, IER, XLLFIFO_GET(InstancePtr, IER) & ~((Mask) & XLLF_INT_ALL_MASK))
#define XLlFifo_IntPending(InstancePtr) (XLLFIFO_GET(InstancePtr, IER) & XLLFIFO_GET(InstancePtr, ISR))
#define XLlFifo_IntClear(InstancePtr, Mask) XLLFIFO_SET(InstancePtr, ISR, (Mask) & XLLF_INT_ALL_MASK)
#define XLlFifo_IsRxEmpty(InstancePtr) (XLLFIFO_GET(InstancePtr, RDFO) == 0U ? TRUE : FALSE)
#define XLlFifo_IsTxDone(InstancePtr) (XLLFIFO_GET(InstancePtr, ISR) & XLLF_INT_TC_MASK ? TRUE : FALSE)
#define XLlFifo_IsRxDone(InstancePtr) (XLLFIFO_GET(InstancePtr, ISR) & XLLF_INT_RC_MASK ? TRUE : FALSE)
#define XLlFifo_WriteTdr(InstancePtr, Tdest) XLLFIFO_SET(InstancePtr, TDR, (Tdest) & 0xFU)
#define XLlFifo_ReadRdr(InstancePtr) XLLFIFO_GET(InstancePtr, RDR)

#ifdef __cplusplus
extern "C" {
#endif
#ifdef SDT
XLlFifo_Config *XLlFfio_LookupConfig(UINTPTR BaseAddress);
#else
XLlFifo_Config *XLlFfio_LookupConfig(u32 DeviceId);
#endif
int XLlFifo_CfgInitialize(XLlFifo *InstancePtr, XLlFifo_Config *Config, UINTPTR EffectiveAddress);
void XLlFifo_Initialize(XLlFifo *InstancePtr, UINTPTR BaseAddress);
/* Words by the registers. */
u32 XLlFifo_iRxOccupancy(XLlFifo *InstancePtr);
u32 XLlFifo_iRxGetLen(XLlFifo *InstancePtr);
u32 XLlFifo_iTxVacancy(XLlFifo *InstancePtr);
void XLlFifo_iTxSetLen(XLlFifo *InstancePtr, u32 Bytes);
u32 XLlFifo_RxGetWord(XLlFifo *InstancePtr);
void XLlFifo_TxPutWord(XLlFifo *InstancePtr, u32 Word);
/* Bytes. */
u32 XLlFifo_RxOccupancy(XLlFifo *InstancePtr);
u32 XLlFifo_RxGetLen(XLlFifo *InstancePtr);
void XLlFifo_Read(XLlFifo *InstancePtr, void *BufPtr, unsigned Bytes);
u32 XLlFifo_TxVacancy(XLlFifo *InstancePtr);
void XLlFifo_TxSetLen(XLlFifo *InstancePtr, u32 Bytes);
void XLlFifo_Write(XLlFifo *InstancePtr, const void *BufPtr, unsigned Bytes);
#ifdef __cplusplus
}
#endif

#endif
