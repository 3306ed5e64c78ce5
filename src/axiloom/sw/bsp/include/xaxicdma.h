/* The AXI CDMA, memory to memory: by registers (simple), or by a ring of descriptors. AMD PG034. */
#ifndef XAXICDMA_H
#define XAXICDMA_H

#include <string.h>

#include "xaxicdma_hw.h"
#include "xdebug.h"
#include "xil_assert.h"
#include "xil_cache.h"
#include "xstatus.h"

#if !XPAR_XAXICDMA_NUM_INSTANCES
#error "xaxicdma.h: the simulated system has no AXI CDMA: give --ip axi_cdma"
#endif

#define XAXICDMA_COALESCE_NO_CHANGE 0xFFFFFFFFU
#define XAXICDMA_ALL_BDS 0x7FFFFFFF
#define XAXICDMA_SG_MODE 1
#define XAXICDMA_SIMPLE_MODE 2
#define XAXICDMA_MAXIMUM_MAX_HANDLER 20
#define XAXICDMA_KEYHOLE_READ 0
#define XAXICDMA_KEYHOLE_WRITE 1

typedef u32 XAxiCdma_Bd[XAXICDMA_BD_NUM_WORDS];
typedef void (*XAxiCdma_CallBackFn)(void *CallBackRef, u32 IrqMask, int *NumBdPtr);

typedef struct {
    XAxiCdma_CallBackFn CallBackFn;
    void *CallBackRef;
    volatile int NumBds;
} XAxiCdma_IntrHandlerList;

typedef struct {
#ifndef SDT
    u32 DeviceId;
#else
    char *Name;
#endif
    UINTPTR BaseAddress;
    int HasDRE;
    int IsLite;
    int DataWidth;
    int BurstLen;
    int AddrWidth;
#ifdef SDT
    u16 IntrId;
    UINTPTR IntrParent;
#endif
} XAxiCdma_Config;

typedef struct {
    UINTPTR BaseAddr;
    int Initialized;
    int SimpleOnlyBuild;
    int HasDRE;
    int WordLength;
    int BurstLen;
    int SimpleNotDone;
    int SGWaiting;
    /* The ring. Descriptors of each state follow each other: free, allocated, with the hardware, done. */
    UINTPTR FirstBdPhysAddr;
    UINTPTR FirstBdAddr;
    u32 BdSeparation;
    int AllBdCnt, FreeBdCnt, PreBdCnt, HwBdCnt, PostBdCnt;
    int FreeBdHead, PreBdHead, HwBdHead, PostBdHead; /* by number */
    int Restart;
    XAxiCdma_CallBackFn SimpleCallBackFn;
    void *SimpleCallBackRef;
    int SgHandlerHead;
    int SgHandlerTail;
    XAxiCdma_IntrHandlerList Handlers[XAXICDMA_MAXIMUM_MAX_HANDLER];
} XAxiCdma;

#define XAxiCdma_BdRead(BdPtr, Offset) (*(u32 *)((UINTPTR)(BdPtr) + (Offset)))
#define XAxiCdma_BdWrite(BdPtr, Offset, Value) (*(u32 *)((UINTPTR)(BdPtr) + (Offset)) = (u32)(Value))
#define XAxiCdma_BdClear(BdPtr) ((void)memset((char *)(BdPtr) + XAXICDMA_BD_START_CLEAR, 0, XAXICDMA_BD_TO_CLEAR))
#define XAxiCdma_BdGetSts(BdPtr) (XAxiCdma_BdRead(BdPtr, XAXICDMA_BD_STS_OFFSET) & XAXICDMA_BD_STS_ALL_MASK)
#define XAxiCdma_BdClearSts(BdPtr) XAxiCdma_BdWrite(BdPtr, XAXICDMA_BD_STS_OFFSET, 0)
#define XAxiCdma_BdGetSrcBufAddr(BdPtr) XAxiCdma_BdRead(BdPtr, XAXICDMA_BD_BUFSRC_OFFSET)
#define XAxiCdma_BdGetDstBufAddr(BdPtr) XAxiCdma_BdRead(BdPtr, XAXICDMA_BD_BUFDST_OFFSET)
#define XAxiCdma_BdGetLength(BdPtr) (XAxiCdma_BdRead(BdPtr, XAXICDMA_BD_CTRL_LEN_OFFSET) & XAXICDMA_BD_CTRL_LENGTH_MASK)

#ifdef __cplusplus
extern "C" {
#endif
#ifdef SDT
XAxiCdma_Config *XAxiCdma_LookupConfig(UINTPTR BaseAddress);
#else
XAxiCdma_Config *XAxiCdma_LookupConfig(u32 DeviceId);
#endif
u32 XAxiCdma_CfgInitialize(XAxiCdma *InstancePtr, XAxiCdma_Config *CfgPtr, UINTPTR EffectiveAddr);
void XAxiCdma_Reset(XAxiCdma *InstancePtr);
int XAxiCdma_ResetIsDone(XAxiCdma *InstancePtr);
int XAxiCdma_IsBusy(XAxiCdma *InstancePtr);
u32 XAxiCdma_GetError(XAxiCdma *InstancePtr);
int XAxiCdma_SetCoalesce(XAxiCdma *InstancePtr, u32 Counter, u32 Delay);
void XAxiCdma_GetCoalesce(XAxiCdma *InstancePtr, u32 *CounterPtr, u32 *DelayPtr);
void XAxiCdma_IntrEnable(XAxiCdma *InstancePtr, u32 Mask);
u32 XAxiCdma_IntrGetEnabled(XAxiCdma *InstancePtr);
void XAxiCdma_IntrDisable(XAxiCdma *InstancePtr, u32 Mask);
void XAxiCdma_IntrHandler(void *HandlerRef);
u32 XAxiCdma_SimpleTransfer(XAxiCdma *InstancePtr, UINTPTR SrcAddr, UINTPTR DstAddr, int Length,
                            XAxiCdma_CallBackFn SimpleCallBack, void *CallbackRef);
int XAxiCdma_SelectKeyHole(XAxiCdma *InstancePtr, u32 Direction, u32 Select);

u32 XAxiCdma_BdSetSrcBufAddr(XAxiCdma_Bd *BdPtr, UINTPTR Addr);
u32 XAxiCdma_BdSetDstBufAddr(XAxiCdma_Bd *BdPtr, UINTPTR Addr);
u32 XAxiCdma_BdSetLength(XAxiCdma_Bd *BdPtr, int LenBytes);
u32 XAxiCdma_BdRingCntCalc(u32 Alignment, u32 Bytes, UINTPTR BuffAddr);
u32 XAxiCdma_BdRingMemCalc(u32 Alignment, int NumBd);
u32 XAxiCdma_BdRingGetCnt(XAxiCdma *InstancePtr);
u32 XAxiCdma_BdRingGetFreeCnt(XAxiCdma *InstancePtr);
XAxiCdma_Bd *XAxiCdma_BdRingNext(XAxiCdma *InstancePtr, XAxiCdma_Bd *BdPtr);
XAxiCdma_Bd *XAxiCdma_BdRingPrev(XAxiCdma *InstancePtr, XAxiCdma_Bd *BdPtr);
LONG XAxiCdma_BdRingCreate(XAxiCdma *InstancePtr, UINTPTR PhysAddr, UINTPTR VirtAddr, u32 Alignment, int BdCount);
LONG XAxiCdma_BdRingClone(XAxiCdma *InstancePtr, XAxiCdma_Bd *TemplateBdPtr);
LONG XAxiCdma_BdRingAlloc(XAxiCdma *InstancePtr, int NumBd, XAxiCdma_Bd **BdSetPtr);
LONG XAxiCdma_BdRingUnAlloc(XAxiCdma *InstancePtr, int NumBd, XAxiCdma_Bd *BdSetPtr);
LONG XAxiCdma_BdRingToHw(XAxiCdma *InstancePtr, int NumBd, XAxiCdma_Bd *BdSetPtr, XAxiCdma_CallBackFn CallBack,
                         void *CallBackRef);
u32 XAxiCdma_BdRingFromHw(XAxiCdma *InstancePtr, int BdLimit, XAxiCdma_Bd **BdSetPtr);
u32 XAxiCdma_BdRingFree(XAxiCdma *InstancePtr, int NumBd, XAxiCdma_Bd *BdSetPtr);
#ifdef __cplusplus
}
#endif

#endif
