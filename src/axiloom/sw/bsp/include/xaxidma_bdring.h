/* The descriptors of a channel, in a ring. In the order of the ring they are: free, allocated, with the hardware, and done.
 * Alloc, ToHw, FromHw and Free move them from the one to the next. */
#ifndef XAXIDMA_BDRING_H
#define XAXIDMA_BDRING_H

#include "xaxidma_bd.h"

#define AXIDMA_CHANNEL_NOT_HALTED 1
#define AXIDMA_CHANNEL_HALTED 2
#define XAXIDMA_NO_CHANGE 0xFFFFFFFFU
#define XAXIDMA_ALL_BDS 0x7FFFFFFF

typedef struct {
    UINTPTR ChanBase;
    int IsRxChannel;
    volatile int RunState;
    int HasStsCntrlStrm;
    int HasDRE;
    int DataWidth;
    int Addr_ext;
    u32 MaxTransferLen;

    UINTPTR FirstBdPhysAddr;
    UINTPTR FirstBdAddr;
    UINTPTR LastBdAddr;
    u32 Length;
    UINTPTR Separation;
    XAxiDma_Bd *FreeHead;
    XAxiDma_Bd *PreHead;
    XAxiDma_Bd *HwHead;
    XAxiDma_Bd *HwTail;
    XAxiDma_Bd *PostHead;
    XAxiDma_Bd *BdaRestart;
    int FreeCnt;
    int PreCnt;
    int HwCnt;
    int PostCnt;
    int AllCnt;
    int RingIndex;
    int Cyclic;
} XAxiDma_BdRing;

#define XAxiDma_BdRingCntCalc(Alignment, Bytes)                                                    \
    (u32)((Bytes) / ((sizeof(XAxiDma_Bd) + ((Alignment) - 1)) & ~((Alignment) - 1)))
#define XAxiDma_BdRingMemCalc(Alignment, NumBd)                                                    \
    (int)((sizeof(XAxiDma_Bd) + ((Alignment) - 1) & ~((Alignment) - 1)) * (NumBd))
#define XAxiDma_BdRingGetCnt(RingPtr) ((RingPtr)->AllCnt)
#define XAxiDma_BdRingGetFreeCnt(RingPtr) ((RingPtr)->FreeCnt)
#define XAxiDma_BdRingNext(RingPtr, BdPtr)                                                         \
    ((UINTPTR)(BdPtr) >= (RingPtr)->LastBdAddr ? (XAxiDma_Bd *)(RingPtr)->FirstBdAddr              \
                                               : (XAxiDma_Bd *)((UINTPTR)(BdPtr) + (RingPtr)->Separation))
#define XAxiDma_BdRingPrev(RingPtr, BdPtr)                                                         \
    ((UINTPTR)(BdPtr) <= (RingPtr)->FirstBdAddr ? (XAxiDma_Bd *)(RingPtr)->LastBdAddr              \
                                                : (XAxiDma_Bd *)((UINTPTR)(BdPtr) - (RingPtr)->Separation))
#define XAxiDma_BdRingGetCurrBd(RingPtr) (XAxiDma_Bd *)XAxiDma_ReadReg((RingPtr)->ChanBase, XAXIDMA_CDESC_OFFSET)
#define XAxiDma_BdRingGetSr(RingPtr) XAxiDma_ReadReg((RingPtr)->ChanBase, XAXIDMA_SR_OFFSET)
#define XAxiDma_BdRingGetError(RingPtr) (XAxiDma_BdRingGetSr(RingPtr) & XAXIDMA_ERR_ALL_MASK)
#define XAxiDma_BdRingHwIsStarted(RingPtr) (!(XAxiDma_BdRingGetSr(RingPtr) & XAXIDMA_HALTED_MASK))
#define XAxiDma_BdRingBusy(RingPtr)                                                                \
    (XAxiDma_BdRingHwIsStarted(RingPtr) && (RingPtr)->RunState == AXIDMA_CHANNEL_NOT_HALTED)
#define XAxiDma_BdRingIntEnable(RingPtr, Mask)                                                     \
    XAxiDma_WriteReg((RingPtr)->ChanBase, XAXIDMA_CR_OFFSET,                                       \
                     XAxiDma_ReadReg((RingPtr)->ChanBase, XAXIDMA_CR_OFFSET) | ((Mask) & XAXIDMA_IRQ_ALL_MASK))
#define XAxiDma_BdRingIntDisable(RingPtr, Mask)                                                    \
    XAxiDma_WriteReg((RingPtr)->ChanBase, XAXIDMA_CR_OFFSET,                                       \
                     XAxiDma_ReadReg((RingPtr)->ChanBase, XAXIDMA_CR_OFFSET) & ~((Mask) & XAXIDMA_IRQ_ALL_MASK))
#define XAxiDma_BdRingIntGetEnabled(RingPtr)                                                       \
    (XAxiDma_ReadReg((RingPtr)->ChanBase, XAXIDMA_CR_OFFSET) & XAXIDMA_IRQ_ALL_MASK)
#define XAxiDma_BdRingGetIrq(RingPtr) (XAxiDma_BdRingGetSr(RingPtr) & XAXIDMA_IRQ_ALL_MASK)
#define XAxiDma_BdRingAckIrq(RingPtr, Mask)                                                        \
    XAxiDma_WriteReg((RingPtr)->ChanBase, XAXIDMA_SR_OFFSET, (Mask) & XAXIDMA_IRQ_ALL_MASK)
#define XAxiDma_BdRingEnableCyclicDMA(RingPtr) ((RingPtr)->Cyclic = 1)

#ifdef __cplusplus
extern "C" {
#endif
u32 XAxiDma_BdRingCreate(XAxiDma_BdRing *RingPtr, UINTPTR PhysAddr, UINTPTR VirtAddr, u32 Alignment, int BdCount);
int XAxiDma_BdRingClone(XAxiDma_BdRing *RingPtr, XAxiDma_Bd *SrcBdPtr);
int XAxiDma_BdRingAlloc(XAxiDma_BdRing *RingPtr, int NumBd, XAxiDma_Bd **BdSetPtr);
int XAxiDma_BdRingUnAlloc(XAxiDma_BdRing *RingPtr, int NumBd, XAxiDma_Bd *BdSetPtr);
int XAxiDma_BdRingToHw(XAxiDma_BdRing *RingPtr, int NumBd, XAxiDma_Bd *BdSetPtr);
int XAxiDma_BdRingFromHw(XAxiDma_BdRing *RingPtr, int BdLimit, XAxiDma_Bd **BdSetPtr);
int XAxiDma_BdRingFree(XAxiDma_BdRing *RingPtr, int NumBd, XAxiDma_Bd *BdSetPtr);
int XAxiDma_BdRingStart(XAxiDma_BdRing *RingPtr);
int XAxiDma_UpdateBdRingCDesc(XAxiDma_BdRing *RingPtr);
int XAxiDma_StartBdRingHw(XAxiDma_BdRing *RingPtr);
int XAxiDma_BdRingSetCoalesce(XAxiDma_BdRing *RingPtr, u32 Counter, u32 Timer);
void XAxiDma_BdRingGetCoalesce(XAxiDma_BdRing *RingPtr, u32 *CounterPtr, u32 *TimerPtr);
int XAxiDma_BdRingCheck(XAxiDma_BdRing *RingPtr);
void XAxiDma_BdRingDumpRegs(XAxiDma_BdRing *RingPtr);
#ifdef __cplusplus
}
#endif

#endif
