/* The AXI4-Stream FIFO. */
#include "xllfifo.h"

#include <string.h>

#include "lookup.h"

LOOKUP(XLlFifo, XLlFfio_LookupConfig, BaseAddress, u32, XPAR_XLLFIFO_NUM_INSTANCES)

void XLlFifo_Initialize(XLlFifo *InstancePtr, UINTPTR BaseAddress) {
    *InstancePtr = (XLlFifo){.BaseAddress = BaseAddress, .IsReady = XIL_COMPONENT_IS_READY, .Axi4BaseAddress = BaseAddress};
    InstancePtr->RxStreamer.Index = sizeof InstancePtr->RxStreamer.Bytes;
    XLlFifo_TxReset(InstancePtr);
    XLlFifo_RxReset(InstancePtr);
    XLlFifo_Reset(InstancePtr);
}

int XLlFifo_CfgInitialize(XLlFifo *InstancePtr, XLlFifo_Config *Config, UINTPTR EffectiveAddress) {
    if (!Config)
        return XST_INVALID_PARAM;
    XLlFifo_Initialize(InstancePtr, EffectiveAddress);
#ifdef SDT
    InstancePtr->IntId = Config->IntId;
    InstancePtr->IntrParent = Config->IntrParent;
#endif
    return XST_SUCCESS;
}

u32 XLlFifo_iRxOccupancy(XLlFifo *InstancePtr) { return XLLFIFO_GET(InstancePtr, RDFO); }
u32 XLlFifo_iRxGetLen(XLlFifo *InstancePtr) { return XLLFIFO_GET(InstancePtr, RLF); }
u32 XLlFifo_iTxVacancy(XLlFifo *InstancePtr) { return XLLFIFO_GET(InstancePtr, TDFV); }
void XLlFifo_iTxSetLen(XLlFifo *InstancePtr, u32 Bytes) { XLLFIFO_SET(InstancePtr, TLF, Bytes); }
u32 XLlFifo_RxGetWord(XLlFifo *InstancePtr) { return XLLFIFO_GET(InstancePtr, RDFD); }
void XLlFifo_TxPutWord(XLlFifo *InstancePtr, u32 Word) { XLLFIFO_SET(InstancePtr, TDFD, Word); }

u32 XLlFifo_RxOccupancy(XLlFifo *InstancePtr) {
    const XStrm_RxFifoStreamer *rx = &InstancePtr->RxStreamer;
    return XLlFifo_iRxOccupancy(InstancePtr) + (rx->FrmByteCnt ? sizeof rx->Bytes - rx->Index : 0);
}

u32 XLlFifo_RxGetLen(XLlFifo *InstancePtr) {
    InstancePtr->RxStreamer.Index = sizeof InstancePtr->RxStreamer.Bytes;
    return InstancePtr->RxStreamer.FrmByteCnt = XLlFifo_iRxGetLen(InstancePtr);
}

void XLlFifo_Read(XLlFifo *InstancePtr, void *BufPtr, unsigned Bytes) {
    XStrm_RxFifoStreamer *rx = &InstancePtr->RxStreamer;
    u8 *to = BufPtr;
    rx->FrmByteCnt -= Bytes;
    while (Bytes--) {
        if (rx->Index == sizeof rx->Bytes) {
            const u32 word = XLlFifo_RxGetWord(InstancePtr);
            memcpy(rx->Bytes, &word, sizeof word);
            rx->Index = 0;
        }
        *to++ = rx->Bytes[rx->Index++];
    }
}

u32 XLlFifo_TxVacancy(XLlFifo *InstancePtr) {
    return XLlFifo_iTxVacancy(InstancePtr) - (InstancePtr->TxStreamer.Index + 3) / 4;
}

static void put(XLlFifo *fifo) {
    u32 word;
    memcpy(&word, fifo->TxStreamer.Bytes, sizeof word);
    XLlFifo_TxPutWord(fifo, word);
    fifo->TxStreamer.Index = 0;
}

void XLlFifo_TxSetLen(XLlFifo *InstancePtr, u32 Bytes) {
    if (InstancePtr->TxStreamer.Index)
        put(InstancePtr);
    XLlFifo_iTxSetLen(InstancePtr, Bytes);
}

void XLlFifo_Write(XLlFifo *InstancePtr, const void *BufPtr, unsigned Bytes) {
    XStrm_TxFifoStreamer *tx = &InstancePtr->TxStreamer;
    const u8 *from = BufPtr;
    while (Bytes--) {
        tx->Bytes[tx->Index++] = *from++;
        if (tx->Index == sizeof tx->Bytes)
            put(InstancePtr);
    }
}
