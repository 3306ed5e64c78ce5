/* The AXI CDMA. */
#include "xaxicdma.h"

#include "lookup.h"
#include "xpseudo_asm.h"

LOOKUP(XAxiCdma, XAxiCdma_LookupConfig, BaseAddress, u32, XPAR_XAXICDMA_NUM_INSTANCES)

#define GET(Register) XAxiCdma_ReadReg(InstancePtr->BaseAddr, XAXICDMA_##Register##_OFFSET)
#define SET(Register, Value) XAxiCdma_WriteReg(InstancePtr->BaseAddr, XAXICDMA_##Register##_OFFSET, Value)

static void change(XAxiCdma *InstancePtr, u32 clear, u32 set) { SET(CR, (GET(CR) & ~clear) | set); }

u32 XAxiCdma_CfgInitialize(XAxiCdma *InstancePtr, XAxiCdma_Config *CfgPtr, UINTPTR EffectiveAddr) {
    *InstancePtr = (XAxiCdma){.BaseAddr = EffectiveAddr,
                              .HasDRE = CfgPtr->HasDRE,
                              .WordLength = CfgPtr->DataWidth / 8,
                              .BurstLen = CfgPtr->BurstLen};
    InstancePtr->SimpleOnlyBuild = !(GET(SR) & XAXICDMA_SR_SGINCLD_MASK);
    XAxiCdma_Reset(InstancePtr);
    InstancePtr->Initialized = XAxiCdma_ResetIsDone(InstancePtr);
    return InstancePtr->Initialized ? XST_SUCCESS : XST_FAILURE;
}

void XAxiCdma_Reset(XAxiCdma *InstancePtr) {
    SET(CR, XAXICDMA_CR_RESET_MASK);
    InstancePtr->SimpleNotDone = InstancePtr->SGWaiting = InstancePtr->SgHandlerHead = InstancePtr->SgHandlerTail = 0;
    InstancePtr->SimpleCallBackFn = NULL;
}

int XAxiCdma_ResetIsDone(XAxiCdma *InstancePtr) { return !(GET(CR) & XAXICDMA_CR_RESET_MASK); }
int XAxiCdma_IsBusy(XAxiCdma *InstancePtr) { return !(GET(SR) & XAXICDMA_SR_IDLE_MASK); }
u32 XAxiCdma_GetError(XAxiCdma *InstancePtr) { return GET(SR) & XAXICDMA_SR_ERR_ALL_MASK; }

int XAxiCdma_SetCoalesce(XAxiCdma *InstancePtr, u32 Counter, u32 Delay) {
    u32 clear = 0, set = 0;
    if (Counter != XAXICDMA_COALESCE_NO_CHANGE) {
        if (Counter < 1 || Counter > XAXICDMA_COALESCE_MAX)
            return XST_INVALID_PARAM;
        clear |= XAXICDMA_XR_COALESCE_MASK;
        set |= Counter << XAXICDMA_COALESCE_SHIFT;
    }
    if (Delay != XAXICDMA_COALESCE_NO_CHANGE) {
        if (Delay > XAXICDMA_DELAY_MAX)
            return XST_INVALID_PARAM;
        clear |= XAXICDMA_XR_DELAY_MASK;
        set |= Delay << XAXICDMA_DELAY_SHIFT;
    }
    change(InstancePtr, clear, set);
    return XST_SUCCESS;
}

void XAxiCdma_GetCoalesce(XAxiCdma *InstancePtr, u32 *CounterPtr, u32 *DelayPtr) {
    const u32 control = GET(CR);
    *CounterPtr = (control & XAXICDMA_XR_COALESCE_MASK) >> XAXICDMA_COALESCE_SHIFT;
    *DelayPtr = (control & XAXICDMA_XR_DELAY_MASK) >> XAXICDMA_DELAY_SHIFT;
}

void XAxiCdma_IntrEnable(XAxiCdma *InstancePtr, u32 Mask) { change(InstancePtr, 0, Mask & XAXICDMA_XR_IRQ_ALL_MASK); }
void XAxiCdma_IntrDisable(XAxiCdma *InstancePtr, u32 Mask) { change(InstancePtr, Mask & XAXICDMA_XR_IRQ_ALL_MASK, 0); }
u32 XAxiCdma_IntrGetEnabled(XAxiCdma *InstancePtr) { return GET(CR) & XAXICDMA_XR_IRQ_ALL_MASK; }

int XAxiCdma_SelectKeyHole(XAxiCdma *InstancePtr, u32 Direction, u32 Select) {
    const u32 mask = Direction == XAXICDMA_KEYHOLE_WRITE ? XAXICDMA_CR_KHOLE_WR_MASK : XAXICDMA_CR_KHOLE_RD_MASK;
    if (XAxiCdma_IsBusy(InstancePtr))
        return XST_DEVICE_BUSY;
    if (Select && InstancePtr->BurstLen != 16) /* longest burst of a fixed address */
        return XST_NO_FEATURE;
    change(InstancePtr, mask, Select ? mask : 0);
    return XST_SUCCESS;
}

/* ---- the ring ---- */

static XAxiCdma_Bd *bd(const XAxiCdma *cdma, int number) {
    return (XAxiCdma_Bd *)(cdma->FirstBdAddr + (UINTPTR)(number % cdma->AllBdCnt) * cdma->BdSeparation);
}

static int number_of(const XAxiCdma *cdma, UINTPTR address, UINTPTR first) { return (int)((address - first) / cdma->BdSeparation); }

static UINTPTR physical(const XAxiCdma *cdma, int number) {
    return (UINTPTR)bd(cdma, number) - cdma->FirstBdAddr + cdma->FirstBdPhysAddr;
}

static void advance(const XAxiCdma *cdma, int *head, int count) { *head = (*head + count) % cdma->AllBdCnt; }

static void to_memory(const XAxiCdma_Bd *at) { Xil_DCacheFlushRange((INTPTR)at, XAXICDMA_BD_HW_NUM_BYTES); }

/* What tells a descriptor's own functions of the port: DRE and bytes of a word, behind what the hardware reads. */
enum { HAS_DRE = 0x2C, WORD_LENGTH = 0x30 };

static u32 separation(u32 alignment) { return (sizeof(XAxiCdma_Bd) + alignment - 1) & ~(alignment - 1); }

u32 XAxiCdma_BdRingCntCalc(u32 Alignment, u32 Bytes, UINTPTR BuffAddr) {
    return BuffAddr & (Alignment - 1) ? 0 : Bytes / separation(Alignment);
}
u32 XAxiCdma_BdRingMemCalc(u32 Alignment, int NumBd) { return separation(Alignment) * (u32)NumBd; }
u32 XAxiCdma_BdRingGetCnt(XAxiCdma *InstancePtr) { return (u32)InstancePtr->AllBdCnt; }
u32 XAxiCdma_BdRingGetFreeCnt(XAxiCdma *InstancePtr) { return (u32)InstancePtr->FreeBdCnt; }

XAxiCdma_Bd *XAxiCdma_BdRingNext(XAxiCdma *InstancePtr, XAxiCdma_Bd *BdPtr) {
    return bd(InstancePtr, number_of(InstancePtr, (UINTPTR)BdPtr, InstancePtr->FirstBdAddr) + 1);
}
XAxiCdma_Bd *XAxiCdma_BdRingPrev(XAxiCdma *InstancePtr, XAxiCdma_Bd *BdPtr) {
    return bd(InstancePtr, number_of(InstancePtr, (UINTPTR)BdPtr, InstancePtr->FirstBdAddr) + InstancePtr->AllBdCnt - 1);
}

LONG XAxiCdma_BdRingCreate(XAxiCdma *InstancePtr, UINTPTR PhysAddr, UINTPTR VirtAddr, u32 Alignment, int BdCount) {
    if (InstancePtr->SimpleOnlyBuild)
        return XST_FAILURE;
    if (BdCount <= 0 || Alignment < XAXICDMA_BD_MINIMUM_ALIGNMENT || Alignment & (Alignment - 1) ||
        (PhysAddr | VirtAddr) & (Alignment - 1))
        return XST_INVALID_PARAM;
    InstancePtr->FirstBdPhysAddr = PhysAddr;
    InstancePtr->FirstBdAddr = VirtAddr;
    InstancePtr->BdSeparation = separation(Alignment);
    InstancePtr->AllBdCnt = InstancePtr->FreeBdCnt = BdCount;
    InstancePtr->PreBdCnt = InstancePtr->HwBdCnt = InstancePtr->PostBdCnt = 0;
    InstancePtr->FreeBdHead = InstancePtr->PreBdHead = InstancePtr->HwBdHead = InstancePtr->PostBdHead = 0;
    InstancePtr->Restart = 0;
    memset((void *)VirtAddr, 0, (size_t)BdCount * InstancePtr->BdSeparation);
    for (int i = 0; i < BdCount; i++) {
        XAxiCdma_BdWrite(bd(InstancePtr, i), XAXICDMA_BD_NDESC_OFFSET, physical(InstancePtr, i + 1));
        XAxiCdma_BdWrite(bd(InstancePtr, i), HAS_DRE, InstancePtr->HasDRE);
        XAxiCdma_BdWrite(bd(InstancePtr, i), WORD_LENGTH, InstancePtr->WordLength);
        to_memory(bd(InstancePtr, i));
    }
    return XST_SUCCESS;
}

LONG XAxiCdma_BdRingClone(XAxiCdma *InstancePtr, XAxiCdma_Bd *TemplateBdPtr) {
    if (!InstancePtr->AllBdCnt)
        return XST_DMA_SG_NO_LIST;
    if (XAxiCdma_IsBusy(InstancePtr))
        return XST_DEVICE_IS_STARTED;
    if (InstancePtr->FreeBdCnt != InstancePtr->AllBdCnt)
        return XST_DMA_SG_LIST_ERROR;
    for (int i = 0; i < InstancePtr->AllBdCnt; i++) {
        memcpy((char *)bd(InstancePtr, i) + XAXICDMA_BD_START_CLEAR, (char *)TemplateBdPtr + XAXICDMA_BD_START_CLEAR,
               XAXICDMA_BD_TO_CLEAR);
        XAxiCdma_BdClearSts(bd(InstancePtr, i));
    }
    return XST_SUCCESS;
}

LONG XAxiCdma_BdRingAlloc(XAxiCdma *InstancePtr, int NumBd, XAxiCdma_Bd **BdSetPtr) {
    if (NumBd <= 0)
        return XST_INVALID_PARAM;
    if (InstancePtr->FreeBdCnt < NumBd)
        return XST_FAILURE;
    *BdSetPtr = bd(InstancePtr, InstancePtr->FreeBdHead);
    advance(InstancePtr, &InstancePtr->FreeBdHead, NumBd);
    InstancePtr->FreeBdCnt -= NumBd;
    InstancePtr->PreBdCnt += NumBd;
    return XST_SUCCESS;
}

LONG XAxiCdma_BdRingUnAlloc(XAxiCdma *InstancePtr, int NumBd, XAxiCdma_Bd *BdSetPtr) {
    const int first = number_of(InstancePtr, (UINTPTR)BdSetPtr, InstancePtr->FirstBdAddr);
    if (NumBd <= 0)
        return XST_INVALID_PARAM;
    if (InstancePtr->PreBdCnt < NumBd || (first + NumBd) % InstancePtr->AllBdCnt != InstancePtr->FreeBdHead)
        return XST_FAILURE;
    InstancePtr->FreeBdHead = first;
    InstancePtr->FreeBdCnt += NumBd;
    InstancePtr->PreBdCnt -= NumBd;
    return XST_SUCCESS;
}

static int is_simple(XAxiCdma *InstancePtr) { return !(GET(CR) & XAXICDMA_CR_SGMODE_MASK); }

/* CURDESC is lost in simple mode: it goes on behind the last descriptor that was done. */
static int to_mode(XAxiCdma *InstancePtr, int simple) {
    if (is_simple(InstancePtr) == simple)
        return XST_SUCCESS;
    if (XAxiCdma_IsBusy(InstancePtr))
        return XST_DEVICE_BUSY;
    if (simple) {
        if (InstancePtr->AllBdCnt)
            InstancePtr->Restart = number_of(InstancePtr, GET(CDESC), InstancePtr->FirstBdPhysAddr) + 1;
        change(InstancePtr, XAXICDMA_CR_SGMODE_MASK, 0);
    } else {
        change(InstancePtr, 0, XAXICDMA_CR_SGMODE_MASK);
        SET(CDESC, physical(InstancePtr, InstancePtr->Restart));
    }
    return XST_SUCCESS;
}

static int starts_chain(XAxiCdma *InstancePtr) {
    if (!InstancePtr->HwBdCnt)
        return XST_SUCCESS;
    if (InstancePtr->SimpleNotDone || to_mode(InstancePtr, 0) != XST_SUCCESS) {
        InstancePtr->SGWaiting = 1;
        return XST_FAILURE;
    }
    InstancePtr->SGWaiting = 0;
    dsb();
    SET(TDESC, physical(InstancePtr, InstancePtr->HwBdHead + InstancePtr->HwBdCnt - 1));
    return XST_SUCCESS;
}

static void frees(void *CallBackRef, u32 IrqMask, int *NumBdPtr) {
    XAxiCdma_Bd *first;
    const u32 count = XAxiCdma_BdRingFromHw(CallBackRef, *NumBdPtr, &first);
    (void)IrqMask;
    if (count && XAxiCdma_BdRingFree(CallBackRef, (int)count, first) == XST_SUCCESS)
        *NumBdPtr -= (int)count;
}

LONG XAxiCdma_BdRingToHw(XAxiCdma *InstancePtr, int NumBd, XAxiCdma_Bd *BdSetPtr, XAxiCdma_CallBackFn CallBack,
                         void *CallBackRef) {
    const int next_handler = (InstancePtr->SgHandlerTail + 1) % XAXICDMA_MAXIMUM_MAX_HANDLER;
    if (!InstancePtr->Initialized || InstancePtr->SimpleOnlyBuild)
        return XST_FAILURE;
    if (NumBd <= 0)
        return NumBd ? XST_INVALID_PARAM : XST_SUCCESS;
    if (InstancePtr->PreBdCnt < NumBd || bd(InstancePtr, InstancePtr->PreBdHead) != BdSetPtr)
        return XST_DMA_SG_LIST_ERROR;
    if (next_handler == InstancePtr->SgHandlerHead)
        return XST_FIFO_NO_ROOM;
    for (int i = 0; i < NumBd; i++) {
        XAxiCdma_Bd *at = bd(InstancePtr, InstancePtr->PreBdHead + i);
        if (!XAxiCdma_BdGetLength(at))
            return XST_INVALID_PARAM;
        XAxiCdma_BdClearSts(at);
        to_memory(at);
    }
    advance(InstancePtr, &InstancePtr->PreBdHead, NumBd);
    InstancePtr->PreBdCnt -= NumBd;
    InstancePtr->HwBdCnt += NumBd;
    InstancePtr->Handlers[InstancePtr->SgHandlerTail] =
        (XAxiCdma_IntrHandlerList){CallBack ? CallBack : frees, CallBack ? CallBackRef : InstancePtr, NumBd};
    InstancePtr->SgHandlerTail = next_handler;
    starts_chain(InstancePtr);
    return XST_SUCCESS;
}

u32 XAxiCdma_BdRingFromHw(XAxiCdma *InstancePtr, int BdLimit, XAxiCdma_Bd **BdSetPtr) {
    int count = 0;
    *BdSetPtr = bd(InstancePtr, InstancePtr->HwBdHead);
    for (; count < BdLimit && count < InstancePtr->HwBdCnt; count++) {
        XAxiCdma_Bd *at = bd(InstancePtr, InstancePtr->HwBdHead + count);
        Xil_DCacheInvalidateRange((INTPTR)at, XAXICDMA_BD_HW_NUM_BYTES);
        if (!(XAxiCdma_BdGetSts(at) & XAXICDMA_BD_STS_COMPLETE_MASK))
            break;
    }
    if (!count)
        *BdSetPtr = NULL;
    advance(InstancePtr, &InstancePtr->HwBdHead, count);
    InstancePtr->HwBdCnt -= count;
    InstancePtr->PostBdCnt += count;
    return (u32)count;
}

u32 XAxiCdma_BdRingFree(XAxiCdma *InstancePtr, int NumBd, XAxiCdma_Bd *BdSetPtr) {
    if (NumBd <= 0)
        return NumBd ? XST_INVALID_PARAM : XST_SUCCESS;
    if (InstancePtr->PostBdCnt < NumBd || bd(InstancePtr, InstancePtr->PostBdHead) != BdSetPtr)
        return XST_DMA_SG_LIST_ERROR;
    advance(InstancePtr, &InstancePtr->PostBdHead, NumBd);
    InstancePtr->PostBdCnt -= NumBd;
    InstancePtr->FreeBdCnt += NumBd;
    return XST_SUCCESS;
}

static u32 set_address(XAxiCdma_Bd *at, UINTPTR address, u32 offset) {
    if (!XAxiCdma_BdRead(at, HAS_DRE) && address & (XAxiCdma_BdRead(at, WORD_LENGTH) - 1))
        return XST_INVALID_PARAM;
    XAxiCdma_BdWrite(at, offset, address);
    return XST_SUCCESS;
}

u32 XAxiCdma_BdSetSrcBufAddr(XAxiCdma_Bd *BdPtr, UINTPTR Addr) { return set_address(BdPtr, Addr, XAXICDMA_BD_BUFSRC_OFFSET); }
u32 XAxiCdma_BdSetDstBufAddr(XAxiCdma_Bd *BdPtr, UINTPTR Addr) { return set_address(BdPtr, Addr, XAXICDMA_BD_BUFDST_OFFSET); }

u32 XAxiCdma_BdSetLength(XAxiCdma_Bd *BdPtr, int LenBytes) {
    if (LenBytes < 1 || LenBytes > XAXICDMA_MAX_TRANSFER_LEN)
        return XST_INVALID_PARAM;
    XAxiCdma_BdWrite(BdPtr, XAXICDMA_BD_CTRL_LEN_OFFSET, LenBytes);
    return XST_SUCCESS;
}

/* ---- transfers and interrupts ---- */

u32 XAxiCdma_SimpleTransfer(XAxiCdma *InstancePtr, UINTPTR SrcAddr, UINTPTR DstAddr, int Length,
                            XAxiCdma_CallBackFn SimpleCallBack, void *CallbackRef) {
    if (Length < 1 || Length > XAXICDMA_MAX_TRANSFER_LEN ||
        (!InstancePtr->HasDRE && (SrcAddr | DstAddr) & ((UINTPTR)InstancePtr->WordLength - 1)))
        return XST_INVALID_PARAM;
    if (XAxiCdma_IsBusy(InstancePtr) || InstancePtr->SimpleNotDone || to_mode(InstancePtr, 1) != XST_SUCCESS)
        return XST_FAILURE;
    InstancePtr->SimpleNotDone = SimpleCallBack || XAxiCdma_IntrGetEnabled(InstancePtr) & XAXICDMA_XR_IRQ_SIMPLE_ALL_MASK;
    InstancePtr->SimpleCallBackFn = SimpleCallBack;
    InstancePtr->SimpleCallBackRef = CallbackRef;
    dsb();
    SET(SRCADDR, SrcAddr);
    SET(DSTADDR, DstAddr);
    SET(BTT, Length);
    return XST_SUCCESS;
}

void XAxiCdma_IntrHandler(void *HandlerRef) {
    XAxiCdma *InstancePtr = HandlerRef;
    const u32 status = GET(SR), interrupts = status & XAXICDMA_XR_IRQ_ALL_MASK;
    if (!interrupts)
        return;
    SET(SR, interrupts);
    if (InstancePtr->SimpleNotDone) {
        if (InstancePtr->SimpleCallBackFn)
            InstancePtr->SimpleCallBackFn(InstancePtr->SimpleCallBackRef, interrupts, NULL);
        InstancePtr->SimpleCallBackFn = NULL;
        InstancePtr->SimpleNotDone = 0;
        if (InstancePtr->SGWaiting)
            starts_chain(InstancePtr);
    } else if (InstancePtr->SgHandlerHead != InstancePtr->SgHandlerTail) {
        XAxiCdma_IntrHandlerList *handler = &InstancePtr->Handlers[InstancePtr->SgHandlerHead];
        int left = handler->NumBds;
        handler->CallBackFn(handler->CallBackRef, interrupts, &left);
        handler->NumBds = left;
        if (!left)
            InstancePtr->SgHandlerHead = (InstancePtr->SgHandlerHead + 1) % XAXICDMA_MAXIMUM_MAX_HANDLER;
    }
    if (interrupts & XAXICDMA_XR_IRQ_ERROR_MASK && status & XAXICDMA_SR_ERR_ALL_MASK) {
        XAxiCdma_Reset(InstancePtr);
        InstancePtr->Initialized = XAxiCdma_ResetIsDone(InstancePtr);
    }
}
