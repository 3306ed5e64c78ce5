/* The AXI DMA in simple mode, and what both modes share. */
#include "xaxidma.h"

#include "lookup.h"

enum { RESET_LOOKS = 500 };

LOOKUP(XAxiDma, XAxiDma_LookupConfig, BaseAddr, u32, XPAR_XAXIDMA_NUM_INSTANCES)

XAxiDma_Config *XAxiDma_LookupConfigBaseAddr(UINTPTR Baseaddr) {
    for (u32 i = 0; i < XPAR_XAXIDMA_NUM_INSTANCES; i++)
        if (XAxiDma_ConfigTable[i].BaseAddr == Baseaddr)
            return &XAxiDma_ConfigTable[i];
    return NULL;
}

static void set_ring(XAxiDma_BdRing *ring, const XAxiDma_Config *config, int receives) {
    *ring = (XAxiDma_BdRing){
        .ChanBase = config->BaseAddr + (receives ? XAXIDMA_RX_OFFSET : XAXIDMA_TX_OFFSET),
        .IsRxChannel = receives,
        .RunState = AXIDMA_CHANNEL_HALTED,
        .HasStsCntrlStrm = config->HasStsCntrlStrm,
        .HasDRE = receives ? config->HasS2MmDRE : config->HasMm2SDRE,
        .DataWidth = (receives ? config->S2MmDataWidth : config->Mm2SDataWidth) / 8,
        .MaxTransferLen = (1u << config->SgLengthWidth) - 1,
    };
}

/* Resets it; whether that came to an end. */
static int is_reset(XAxiDma *dma) {
    XAxiDma_Reset(dma);
    for (int looks = 0; looks < RESET_LOOKS; looks++)
        if (XAxiDma_ResetIsDone(dma))
            return TRUE;
    return FALSE;
}

int XAxiDma_CfgInitialize(XAxiDma *InstancePtr, XAxiDma_Config *Config) {
    InstancePtr->Initialized = 0;
    if (!Config)
        return XST_INVALID_PARAM;
    *InstancePtr = (XAxiDma){
        .RegBase = Config->BaseAddr,
        .HasMm2S = Config->HasMm2S,
        .HasS2Mm = Config->HasS2Mm,
        .HasSg = Config->HasSg,
        .TxNumChannels = Config->Mm2sNumChannels,
        .RxNumChannels = Config->S2MmNumChannels,
        .MicroDmaMode = Config->MicroDmaMode,
        .AddrWidth = Config->AddrWidth,
    };
    set_ring(&InstancePtr->TxBdRing, Config, 0);
    set_ring(&InstancePtr->RxBdRing[0], Config, 1);
    if (!is_reset(InstancePtr))
        return XST_DMA_ERROR;
    InstancePtr->Initialized = 1;
    return XST_SUCCESS;
}

/* The reset of either channel is that of both (PG021, DMACR.Reset). */
void XAxiDma_Reset(XAxiDma *InstancePtr) {
    XAxiDma_WriteReg(XAXIDMA_CHANNEL_AT(InstancePtr, !InstancePtr->HasMm2S), XAXIDMA_CR_OFFSET, XAXIDMA_CR_RESET_MASK);
    InstancePtr->TxBdRing.RunState = AXIDMA_CHANNEL_HALTED;
    InstancePtr->RxBdRing[0].RunState = AXIDMA_CHANNEL_HALTED;
    InstancePtr->TxBdRing.BdaRestart = InstancePtr->TxBdRing.HwHead;
    InstancePtr->RxBdRing[0].BdaRestart = InstancePtr->RxBdRing[0].HwHead;
}

int XAxiDma_ResetIsDone(XAxiDma *InstancePtr) {
    u32 control = 0;
    if (InstancePtr->HasMm2S)
        control |= XAxiDma_ReadReg(InstancePtr->RegBase + XAXIDMA_TX_OFFSET, XAXIDMA_CR_OFFSET);
    if (InstancePtr->HasS2Mm)
        control |= XAxiDma_ReadReg(InstancePtr->RegBase + XAXIDMA_RX_OFFSET, XAXIDMA_CR_OFFSET);
    return !(control & XAXIDMA_CR_RESET_MASK);
}

static void set_control(XAxiDma *InstancePtr, int Direction, u32 mask, int on) {
    const UINTPTR channel = XAXIDMA_CHANNEL_AT(InstancePtr, Direction);
    const u32 control = XAxiDma_ReadReg(channel, XAXIDMA_CR_OFFSET);
    XAxiDma_WriteReg(channel, XAXIDMA_CR_OFFSET, on ? control | mask : control & ~mask);
}

static u32 status(XAxiDma *InstancePtr, int Direction) {
    return XAxiDma_ReadReg(XAXIDMA_CHANNEL_AT(InstancePtr, Direction), XAXIDMA_SR_OFFSET);
}

u32 XAxiDma_Busy(XAxiDma *InstancePtr, int Direction) {
    return status(InstancePtr, Direction) & XAXIDMA_IDLE_MASK ? FALSE : TRUE;
}

int XAxiDma_Pause(XAxiDma *InstancePtr) {
    if (!InstancePtr->Initialized)
        return XST_NOT_SGDMA;
    set_control(InstancePtr, XAXIDMA_DMA_TO_DEVICE, XAXIDMA_CR_RUNSTOP_MASK, 0);
    set_control(InstancePtr, XAXIDMA_DEVICE_TO_DMA, XAXIDMA_CR_RUNSTOP_MASK, 0);
    InstancePtr->TxBdRing.RunState = AXIDMA_CHANNEL_HALTED;
    InstancePtr->RxBdRing[0].RunState = AXIDMA_CHANNEL_HALTED;
    return XST_SUCCESS;
}

int XAxiDma_Resume(XAxiDma *InstancePtr) {
    if (!InstancePtr->Initialized)
        return XST_NOT_SGDMA;
    if (InstancePtr->HasSg) {
        const int sends = XAxiDma_BdRingStart(&InstancePtr->TxBdRing);
        return sends == XST_SUCCESS ? XAxiDma_BdRingStart(&InstancePtr->RxBdRing[0]) : sends;
    }
    set_control(InstancePtr, XAXIDMA_DMA_TO_DEVICE, XAXIDMA_CR_RUNSTOP_MASK, 1);
    set_control(InstancePtr, XAXIDMA_DEVICE_TO_DMA, XAXIDMA_CR_RUNSTOP_MASK, 1);
    return XST_SUCCESS;
}

u32 XAxiDma_SimpleTransfer(XAxiDma *InstancePtr, UINTPTR BuffAddr, u32 Length, int Direction) {
    const int receives = Direction == XAXIDMA_DEVICE_TO_DMA;
    const XAxiDma_BdRing *ring = receives ? &InstancePtr->RxBdRing[0] : &InstancePtr->TxBdRing;
    const UINTPTR channel = ring->ChanBase;
    const u32 now = status(InstancePtr, Direction);
    if (InstancePtr->HasSg || !(receives ? InstancePtr->HasS2Mm : InstancePtr->HasMm2S))
        return XST_FAILURE;
    if (Length < 1 || Length > ring->MaxTransferLen)
        return XST_INVALID_PARAM;
    if (!(now & XAXIDMA_HALTED_MASK) && !(now & XAXIDMA_IDLE_MASK))
        return XST_FAILURE;
    if (!ring->HasDRE && BuffAddr & (UINTPTR)(ring->DataWidth - 1))
        return XST_INVALID_PARAM;
    XAxiDma_WriteReg(channel, XAXIDMA_SRCADDR_OFFSET, LOWER_32_BITS(BuffAddr));
    set_control(InstancePtr, Direction, XAXIDMA_CR_RUNSTOP_MASK, 1);
    XAxiDma_WriteReg(channel, XAXIDMA_BUFFLEN_OFFSET, Length);
    return XST_SUCCESS;
}

/* XST_FAILURE where this DMA has no such mode. */
static int select_mode(XAxiDma *InstancePtr, int Direction, u32 mask, int on) {
    set_control(InstancePtr, Direction, mask, on);
    const u32 control = XAxiDma_ReadReg(XAXIDMA_CHANNEL_AT(InstancePtr, Direction), XAXIDMA_CR_OFFSET);
    return !!(control & mask) == !!on ? XST_SUCCESS : XST_FAILURE;
}

int XAxiDma_SelectKeyHole(XAxiDma *InstancePtr, int Direction, int Select) {
    return select_mode(InstancePtr, Direction, XAXIDMA_CR_KEYHOLE_MASK, Select);
}

int XAxiDma_SelectCyclicMode(XAxiDma *InstancePtr, int Direction, int Select) {
    return select_mode(InstancePtr, Direction, XAXIDMA_CR_CYCLIC_MASK, Select);
}

/* The registers are as a reset leaves them. */
int XAxiDma_Selftest(XAxiDma *InstancePtr) {
    if (!is_reset(InstancePtr))
        return XST_FAILURE;
    const u32 sends = status(InstancePtr, XAXIDMA_DMA_TO_DEVICE), receives = status(InstancePtr, XAXIDMA_DEVICE_TO_DMA);
    if (InstancePtr->HasMm2S && !(sends & XAXIDMA_HALTED_MASK))
        return XST_FAILURE;
    return InstancePtr->HasS2Mm && !(receives & XAXIDMA_HALTED_MASK) ? XST_FAILURE : XST_SUCCESS;
}
