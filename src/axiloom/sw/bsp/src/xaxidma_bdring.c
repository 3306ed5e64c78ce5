/* Rings of descriptors. */
#include "xaxidma.h"

/* A tail that is no descriptor: in cyclic mode it only starts the channel (PG021, "Cyclic DMA Mode"). */
#define CYCLIC_TAIL 0x50u

#define BD(address) ((XAxiDma_Bd *)(address))

static XAxiDma_Bd *next(XAxiDma_BdRing *ring, XAxiDma_Bd *at) { return XAxiDma_BdRingNext(ring, at); }

static XAxiDma_Bd *ahead(XAxiDma_BdRing *ring, XAxiDma_Bd *at, int count) {
    while (count-- > 0)
        at = next(ring, at);
    return at;
}

static UINTPTR physical(const XAxiDma_BdRing *ring, const XAxiDma_Bd *at) {
    return (UINTPTR)at - ring->FirstBdAddr + ring->FirstBdPhysAddr;
}

static void to_memory(const XAxiDma_Bd *at) { Xil_DCacheFlushRange((INTPTR)at, XAXIDMA_BD_HW_NUM_BYTES); }
static void from_memory(const XAxiDma_Bd *at) { Xil_DCacheInvalidateRange((INTPTR)at, XAXIDMA_BD_HW_NUM_BYTES); }

u32 XAxiDma_BdRingCreate(XAxiDma_BdRing *RingPtr, UINTPTR PhysAddr, UINTPTR VirtAddr, u32 Alignment, int BdCount) {
    if (BdCount <= 0 || Alignment < XAXIDMA_BD_MINIMUM_ALIGNMENT || Alignment & (Alignment - 1) ||
        PhysAddr & (Alignment - 1) || VirtAddr & (Alignment - 1))
        return XST_INVALID_PARAM;
    const UINTPTR separation = (sizeof(XAxiDma_Bd) + Alignment - 1) & ~(UINTPTR)(Alignment - 1);
    if (VirtAddr + separation * (UINTPTR)BdCount < VirtAddr)
        return XST_DMA_SG_LIST_ERROR;
    memset((void *)VirtAddr, 0, separation * (UINTPTR)BdCount);
    RingPtr->FirstBdPhysAddr = PhysAddr;
    RingPtr->FirstBdAddr = VirtAddr;
    RingPtr->Separation = separation;
    RingPtr->LastBdAddr = VirtAddr + separation * (UINTPTR)(BdCount - 1);
    RingPtr->Length = (u32)(RingPtr->LastBdAddr - VirtAddr + separation);
    RingPtr->FreeHead = RingPtr->PreHead = RingPtr->HwHead = RingPtr->HwTail = RingPtr->PostHead = BD(VirtAddr);
    RingPtr->BdaRestart = BD(VirtAddr);
    RingPtr->AllCnt = RingPtr->FreeCnt = BdCount;
    RingPtr->PreCnt = RingPtr->HwCnt = RingPtr->PostCnt = 0;
    RingPtr->RunState = AXIDMA_CHANNEL_HALTED;
    XAxiDma_Bd *at = BD(VirtAddr);
    for (int i = 0; i < BdCount; i++, at = next(RingPtr, at)) {
        XAxiDma_BdWrite(at, XAXIDMA_BD_NDESC_OFFSET, physical(RingPtr, next(RingPtr, at)));
        XAxiDma_BdWrite(at, XAXIDMA_BD_HAS_STSCNTRL_OFFSET, RingPtr->HasStsCntrlStrm);
        XAxiDma_BdWrite(at, XAXIDMA_BD_HAS_DRE_OFFSET, (u32)RingPtr->HasDRE << 8 | (u32)RingPtr->DataWidth);
        to_memory(at);
    }
    return XST_SUCCESS;
}

int XAxiDma_BdRingClone(XAxiDma_BdRing *RingPtr, XAxiDma_Bd *SrcBdPtr) {
    if (!RingPtr->AllCnt)
        return XST_DMA_SG_NO_LIST;
    if (RingPtr->RunState == AXIDMA_CHANNEL_NOT_HALTED)
        return XST_DEVICE_IS_STARTED;
    if (RingPtr->FreeCnt != RingPtr->AllCnt)
        return XST_DMA_SG_LIST_ERROR;
    XAxiDma_Bd *at = BD(RingPtr->FirstBdAddr);
    for (int i = 0; i < RingPtr->AllCnt; i++, at = next(RingPtr, at)) {
        memcpy((char *)at + XAXIDMA_BD_START_CLEAR, (char *)SrcBdPtr + XAXIDMA_BD_START_CLEAR, XAXIDMA_BD_BYTES_TO_CLEAR);
        XAxiDma_BdWrite(at, XAXIDMA_BD_STS_OFFSET, 0);
        to_memory(at);
    }
    return XST_SUCCESS;
}

int XAxiDma_BdRingAlloc(XAxiDma_BdRing *RingPtr, int NumBd, XAxiDma_Bd **BdSetPtr) {
    if (NumBd <= 0)
        return XST_INVALID_PARAM;
    if (RingPtr->FreeCnt < NumBd)
        return XST_FAILURE;
    *BdSetPtr = RingPtr->FreeHead;
    RingPtr->FreeHead = ahead(RingPtr, RingPtr->FreeHead, NumBd);
    RingPtr->FreeCnt -= NumBd;
    RingPtr->PreCnt += NumBd;
    return XST_SUCCESS;
}

/* The last ones that were allocated. */
int XAxiDma_BdRingUnAlloc(XAxiDma_BdRing *RingPtr, int NumBd, XAxiDma_Bd *BdSetPtr) {
    if (NumBd <= 0)
        return XST_INVALID_PARAM;
    if (RingPtr->PreCnt < NumBd || ahead(RingPtr, BdSetPtr, NumBd) != RingPtr->FreeHead)
        return XST_FAILURE;
    RingPtr->FreeHead = BdSetPtr;
    RingPtr->FreeCnt += NumBd;
    RingPtr->PreCnt -= NumBd;
    return XST_SUCCESS;
}

static void ring_doorbell(XAxiDma_BdRing *ring) {
    dsb();
    XAxiDma_WriteReg(ring->ChanBase, XAXIDMA_TDESC_OFFSET,
                     ring->Cyclic ? CYCLIC_TAIL : LOWER_32_BITS(physical(ring, ring->HwTail)));
}

int XAxiDma_BdRingToHw(XAxiDma_BdRing *RingPtr, int NumBd, XAxiDma_Bd *BdSetPtr) {
    if (NumBd <= 0)
        return NumBd ? XST_INVALID_PARAM : XST_SUCCESS;
    if (RingPtr->PreCnt < NumBd || RingPtr->PreHead != BdSetPtr)
        return XST_DMA_SG_LIST_ERROR;
    const int sends = !RingPtr->IsRxChannel;
    XAxiDma_Bd *at = BdSetPtr, *last = BdSetPtr;
    if (sends && !(XAxiDma_BdGetCtrl(at) & XAXIDMA_BD_CTRL_TXSOF_MASK))
        return XST_FAILURE;
    for (int i = 0; i < NumBd; i++, at = next(RingPtr, at)) {
        if (!XAxiDma_BdGetLength(at, RingPtr->MaxTransferLen))
            return XST_FAILURE;
        XAxiDma_BdWrite(at, XAXIDMA_BD_STS_OFFSET, XAxiDma_BdRead(at, XAXIDMA_BD_STS_OFFSET) & ~XAXIDMA_BD_STS_COMPLETE_MASK);
        to_memory(at);
        last = at;
    }
    if (sends && !(XAxiDma_BdGetCtrl(last) & XAXIDMA_BD_CTRL_TXEOF_MASK))
        return XST_FAILURE;
    RingPtr->PreHead = at;
    RingPtr->PreCnt -= NumBd;
    RingPtr->HwTail = last;
    RingPtr->HwCnt += NumBd;
    if (RingPtr->RunState == AXIDMA_CHANNEL_NOT_HALTED)
        ring_doorbell(RingPtr);
    return XST_SUCCESS;
}

/* Whole packets only: descriptors of one that is not at its end stay with the hardware. */
int XAxiDma_BdRingFromHw(XAxiDma_BdRing *RingPtr, int BdLimit, XAxiDma_Bd **BdSetPtr) {
    XAxiDma_Bd *at = RingPtr->HwHead, *behind = at;
    int count = 0;
    if (BdLimit > RingPtr->HwCnt)
        BdLimit = RingPtr->HwCnt;
    for (int seen = 1; seen <= BdLimit; seen++) {
        from_memory(at);
        const u32 status = XAxiDma_BdRead(at, XAXIDMA_BD_STS_OFFSET);
        if (!(status & XAXIDMA_BD_STS_COMPLETE_MASK))
            break;
        const int ends = RingPtr->IsRxChannel ? !!(status & XAXIDMA_BD_STS_RXEOF_MASK)
                                              : !!(XAxiDma_BdGetCtrl(at) & XAXIDMA_BD_CTRL_TXEOF_MASK);
        at = next(RingPtr, at);
        if (ends) {
            count = seen;
            behind = at;
        }
    }
    *BdSetPtr = count ? RingPtr->HwHead : NULL;
    RingPtr->HwHead = behind;
    if (!RingPtr->Cyclic) {
        RingPtr->HwCnt -= count;
        RingPtr->PostCnt += count;
    }
    return count;
}

int XAxiDma_BdRingFree(XAxiDma_BdRing *RingPtr, int NumBd, XAxiDma_Bd *BdSetPtr) {
    if (NumBd <= 0)
        return NumBd ? XST_INVALID_PARAM : XST_SUCCESS;
    if (RingPtr->PostCnt < NumBd || RingPtr->PostHead != BdSetPtr)
        return XST_DMA_SG_LIST_ERROR;
    RingPtr->PostHead = ahead(RingPtr, RingPtr->PostHead, NumBd);
    RingPtr->PostCnt -= NumBd;
    RingPtr->FreeCnt += NumBd;
    return XST_SUCCESS;
}

int XAxiDma_UpdateBdRingCDesc(XAxiDma_BdRing *RingPtr) {
    if (!RingPtr->AllCnt)
        return XST_DMA_SG_NO_LIST;
    if (RingPtr->RunState == AXIDMA_CHANNEL_NOT_HALTED)
        return XST_SUCCESS;
    if (XAxiDma_BdRingHwIsStarted(RingPtr))
        return XST_DMA_ERROR;
    XAxiDma_WriteReg(RingPtr->ChanBase, XAXIDMA_CDESC_OFFSET, LOWER_32_BITS(physical(RingPtr, RingPtr->BdaRestart)));
    return XST_SUCCESS;
}

int XAxiDma_StartBdRingHw(XAxiDma_BdRing *RingPtr) {
    if (!XAxiDma_BdRingHwIsStarted(RingPtr)) {
        const u32 control = XAxiDma_ReadReg(RingPtr->ChanBase, XAXIDMA_CR_OFFSET);
        XAxiDma_WriteReg(RingPtr->ChanBase, XAXIDMA_CR_OFFSET, control | XAXIDMA_CR_RUNSTOP_MASK);
    }
    if (!XAxiDma_BdRingHwIsStarted(RingPtr))
        return XST_DMA_ERROR;
    RingPtr->RunState = AXIDMA_CHANNEL_NOT_HALTED;
    if (RingPtr->HwCnt > 0) {
        from_memory(RingPtr->HwTail);
        if (RingPtr->Cyclic || !XAxiDma_BdHwCompleted(RingPtr->HwTail))
            ring_doorbell(RingPtr);
    }
    return XST_SUCCESS;
}

int XAxiDma_BdRingStart(XAxiDma_BdRing *RingPtr) {
    const int status = XAxiDma_UpdateBdRingCDesc(RingPtr);
    return status == XST_SUCCESS ? XAxiDma_StartBdRingHw(RingPtr) : status;
}

int XAxiDma_BdRingSetCoalesce(XAxiDma_BdRing *RingPtr, u32 Counter, u32 Timer) {
    u32 control = XAxiDma_ReadReg(RingPtr->ChanBase, XAXIDMA_CR_OFFSET);
    if (Counter != XAXIDMA_NO_CHANGE) {
        if (Counter < 1 || Counter > 255)
            return XST_FAILURE;
        control = (control & ~XAXIDMA_COALESCE_MASK) | Counter << XAXIDMA_COALESCE_SHIFT;
    }
    if (Timer != XAXIDMA_NO_CHANGE) {
        if (Timer > 255)
            return XST_FAILURE;
        control = (control & ~XAXIDMA_DELAY_MASK) | Timer << XAXIDMA_DELAY_SHIFT;
    }
    XAxiDma_WriteReg(RingPtr->ChanBase, XAXIDMA_CR_OFFSET, control);
    return XST_SUCCESS;
}

void XAxiDma_BdRingGetCoalesce(XAxiDma_BdRing *RingPtr, u32 *CounterPtr, u32 *TimerPtr) {
    const u32 control = XAxiDma_ReadReg(RingPtr->ChanBase, XAXIDMA_CR_OFFSET);
    *CounterPtr = (control & XAXIDMA_COALESCE_MASK) >> XAXIDMA_COALESCE_SHIFT;
    *TimerPtr = (control & XAXIDMA_DELAY_MASK) >> XAXIDMA_DELAY_SHIFT;
}

int XAxiDma_BdRingCheck(XAxiDma_BdRing *RingPtr) {
    if (!RingPtr->AllCnt)
        return XST_DMA_SG_NO_LIST;
    XAxiDma_Bd *at = BD(RingPtr->FirstBdAddr);
    for (int i = 0; i < RingPtr->AllCnt; i++, at = next(RingPtr, at))
        if (XAxiDma_BdRead(at, XAXIDMA_BD_NDESC_OFFSET) != physical(RingPtr, next(RingPtr, at)))
            return XST_DMA_SG_LIST_ERROR;
    return RingPtr->FreeCnt + RingPtr->PreCnt + RingPtr->HwCnt + RingPtr->PostCnt == RingPtr->AllCnt ? XST_SUCCESS
                                                                                                   : XST_DMA_SG_LIST_ERROR;
}

void XAxiDma_BdRingDumpRegs(XAxiDma_BdRing *RingPtr) {
    xil_printf("%s: control %x, status %x, current %x, tail %x\r\n", RingPtr->IsRxChannel ? "S2MM" : "MM2S",
               XAxiDma_ReadReg(RingPtr->ChanBase, XAXIDMA_CR_OFFSET), XAxiDma_BdRingGetSr(RingPtr),
               XAxiDma_ReadReg(RingPtr->ChanBase, XAXIDMA_CDESC_OFFSET),
               XAxiDma_ReadReg(RingPtr->ChanBase, XAXIDMA_TDESC_OFFSET));
}

int XAxiDma_BdSetLength(XAxiDma_Bd *BdPtr, u32 LenBytes, u32 LengthMask) {
    if (LenBytes < 1 || LenBytes > LengthMask)
        return XST_INVALID_PARAM;
    const u32 control = XAxiDma_BdRead(BdPtr, XAXIDMA_BD_CTRL_LEN_OFFSET) & ~LengthMask;
    XAxiDma_BdWrite(BdPtr, XAXIDMA_BD_CTRL_LEN_OFFSET, control | LenBytes);
    return XST_SUCCESS;
}

/* Without a realignment engine (DRE) an address is aligned to the width of the memory port. */
u32 XAxiDma_BdSetBufAddr(XAxiDma_Bd *BdPtr, UINTPTR Addr) {
    const u32 abilities = XAxiDma_BdRead(BdPtr, XAXIDMA_BD_HAS_DRE_OFFSET);
    if (!(abilities & 0xF00u) && Addr & ((abilities & 0xFFu) - 1))
        return XST_INVALID_PARAM;
    XAxiDma_BdWrite(BdPtr, XAXIDMA_BD_BUFA_OFFSET, LOWER_32_BITS(Addr));
    return XST_SUCCESS;
}

void XAxiDma_BdSetCtrl(XAxiDma_Bd *BdPtr, u32 Data) {
    const u32 length = XAxiDma_BdRead(BdPtr, XAXIDMA_BD_CTRL_LEN_OFFSET) & ~XAXIDMA_BD_CTRL_ALL_MASK;
    XAxiDma_BdWrite(BdPtr, XAXIDMA_BD_CTRL_LEN_OFFSET, length | (Data & XAXIDMA_BD_CTRL_ALL_MASK));
}

int XAxiDma_BdSetAppWord(XAxiDma_Bd *BdPtr, int Offset, u32 Word) {
    if (!XAxiDma_BdRead(BdPtr, XAXIDMA_BD_HAS_STSCNTRL_OFFSET) || Offset < 0 || Offset > XAXIDMA_LAST_APPWORD)
        return XST_INVALID_PARAM;
    XAxiDma_BdWrite(BdPtr, XAXIDMA_BD_USR0_OFFSET + Offset * 4, Word);
    return XST_SUCCESS;
}

u32 XAxiDma_BdGetAppWord(XAxiDma_Bd *BdPtr, int Offset, int *Valid) {
    *Valid = XAxiDma_BdRead(BdPtr, XAXIDMA_BD_HAS_STSCNTRL_OFFSET) && Offset >= 0 && Offset <= XAXIDMA_LAST_APPWORD;
    return *Valid ? XAxiDma_BdRead(BdPtr, XAXIDMA_BD_USR0_OFFSET + Offset * 4) : 0;
}

void XAxiDma_DumpBd(XAxiDma_Bd *BdPtr) {
    xil_printf("BD %x: next %x, buffer %x, control %x, status %x, id %x\r\n", (UINTPTR)BdPtr,
               XAxiDma_BdRead(BdPtr, XAXIDMA_BD_NDESC_OFFSET), XAxiDma_BdGetBufAddr(BdPtr),
               XAxiDma_BdRead(BdPtr, XAXIDMA_BD_CTRL_LEN_OFFSET), XAxiDma_BdRead(BdPtr, XAXIDMA_BD_STS_OFFSET),
               XAxiDma_BdGetId(BdPtr));
}
