/* The AXI DMA: transfers by registers (simple mode), or by rings of descriptors. AMD PG021. */
#ifndef XAXIDMA_H
#define XAXIDMA_H

#include "xaxidma_bd.h"
#include "xaxidma_bdring.h"
#include "xil_assert.h"
#include "xil_cache.h"
#include "xparameters.h"
#include "xstatus.h"

#if !XPAR_XAXIDMA_NUM_INSTANCES
#error "xaxidma.h: the simulated system has no AXI DMA: --ip axi_fifo_mm_s takes its place"
#endif

#define XAXIDMA_MAX_TRANSFER_LEN 0x7FFFFFU

typedef struct {
#ifndef SDT
    u32 DeviceId;
#else
    char *Name;
#endif
    UINTPTR BaseAddr;
    int HasStsCntrlStrm;
    int HasMm2S;
    int HasMm2SDRE;
    int Mm2SDataWidth;
    int HasS2Mm;
    int HasS2MmDRE;
    int S2MmDataWidth;
    int HasSg;
    int Mm2sNumChannels;
    int S2MmNumChannels;
    int Mm2SBurstSize;
    int S2MmBurstSize;
    int MicroDmaMode;
    int AddrWidth;
    int SgLengthWidth;
#ifdef SDT
    u16 IntrId[2];
    UINTPTR IntrParent;
#endif
} XAxiDma_Config;

typedef struct XAxiDma {
    UINTPTR RegBase;
    int HasMm2S;
    int HasS2Mm;
    int Initialized;
    int HasSg;
    XAxiDma_BdRing TxBdRing;
    XAxiDma_BdRing RxBdRing[16];
    int TxNumChannels;
    int RxNumChannels;
    int MicroDmaMode;
    int AddrWidth;
} XAxiDma;

#define XAxiDma_GetTxRing(InstancePtr) (&(InstancePtr)->TxBdRing)
#define XAxiDma_GetRxRing(InstancePtr) (&(InstancePtr)->RxBdRing[0])
#define XAxiDma_GetRxIndexRing(InstancePtr, RingIndex) (&(InstancePtr)->RxBdRing[RingIndex])
#define XAxiDma_HasSg(InstancePtr) ((InstancePtr)->HasSg ? TRUE : FALSE)

#define XAXIDMA_CHANNEL_AT(InstancePtr, Direction)                                                 \
    ((InstancePtr)->RegBase + ((Direction) == XAXIDMA_DEVICE_TO_DMA ? XAXIDMA_RX_OFFSET : XAXIDMA_TX_OFFSET))
#define XAxiDma_IntrEnable(InstancePtr, Mask, Direction)                                           \
    XAxiDma_WriteReg(XAXIDMA_CHANNEL_AT(InstancePtr, Direction), XAXIDMA_CR_OFFSET,                \
                     XAxiDma_ReadReg(XAXIDMA_CHANNEL_AT(InstancePtr, Direction), XAXIDMA_CR_OFFSET) | \
                         ((Mask) & XAXIDMA_IRQ_ALL_MASK))
#define XAxiDma_IntrDisable(InstancePtr, Mask, Direction)                                          \
    XAxiDma_WriteReg(XAXIDMA_CHANNEL_AT(InstancePtr, Direction), XAXIDMA_CR_OFFSET,                \
                     XAxiDma_ReadReg(XAXIDMA_CHANNEL_AT(InstancePtr, Direction), XAXIDMA_CR_OFFSET) & \
                         ~((Mask) & XAXIDMA_IRQ_ALL_MASK))
#define XAxiDma_IntrGetEnabled(InstancePtr, Direction)                                             \
    (XAxiDma_ReadReg(XAXIDMA_CHANNEL_AT(InstancePtr, Direction), XAXIDMA_CR_OFFSET) & XAXIDMA_IRQ_ALL_MASK)
#define XAxiDma_IntrGetIrq(InstancePtr, Direction)                                                 \
    (XAxiDma_ReadReg(XAXIDMA_CHANNEL_AT(InstancePtr, Direction), XAXIDMA_SR_OFFSET) & XAXIDMA_IRQ_ALL_MASK)
#define XAxiDma_IntrAckIrq(InstancePtr, Mask, Direction)                                           \
    XAxiDma_WriteReg(XAXIDMA_CHANNEL_AT(InstancePtr, Direction), XAXIDMA_SR_OFFSET, (Mask) & XAXIDMA_IRQ_ALL_MASK)

#ifdef __cplusplus
extern "C" {
#endif
#ifdef SDT
XAxiDma_Config *XAxiDma_LookupConfig(UINTPTR BaseAddress);
#else
XAxiDma_Config *XAxiDma_LookupConfig(u32 DeviceId);
#endif
XAxiDma_Config *XAxiDma_LookupConfigBaseAddr(UINTPTR Baseaddr);
int XAxiDma_CfgInitialize(XAxiDma *InstancePtr, XAxiDma_Config *Config);
void XAxiDma_Reset(XAxiDma *InstancePtr);
int XAxiDma_ResetIsDone(XAxiDma *InstancePtr);
int XAxiDma_Pause(XAxiDma *InstancePtr);
int XAxiDma_Resume(XAxiDma *InstancePtr);
u32 XAxiDma_Busy(XAxiDma *InstancePtr, int Direction);
/* XST_FAILURE while the channel is busy. */
u32 XAxiDma_SimpleTransfer(XAxiDma *InstancePtr, UINTPTR BuffAddr, u32 Length, int Direction);
int XAxiDma_SelectKeyHole(XAxiDma *InstancePtr, int Direction, int Select);
int XAxiDma_SelectCyclicMode(XAxiDma *InstancePtr, int Direction, int Select);
int XAxiDma_Selftest(XAxiDma *InstancePtr);
#ifdef __cplusplus
}
#endif

#endif
