/* A descriptor: 16 words, of which the DMA knows the first 13. The last three are the driver's. */
#ifndef XAXIDMA_BD_H
#define XAXIDMA_BD_H

#include <string.h>

#include "xaxidma_hw.h"
#include "xstatus.h"

typedef UINTPTR XAxiDma_Bd[XAXIDMA_BD_NUM_WORDS];

#define XAxiDma_BdRead(BaseAddress, Offset) (*(u32 *)((UINTPTR)(void *)(BaseAddress) + (u32)(Offset)))
#define XAxiDma_BdWrite(BaseAddress, Offset, Data)                                                 \
    (*(u32 *)((UINTPTR)(void *)(BaseAddress) + (u32)(Offset)) = (u32)(Data))
#define XAxiDma_BdClear(BdPtr)                                                                     \
    memset((void *)((UINTPTR)(BdPtr) + XAXIDMA_BD_START_CLEAR), 0, XAXIDMA_BD_BYTES_TO_CLEAR)
#define XAxiDma_BdGetCtrl(BdPtr) (XAxiDma_BdRead(BdPtr, XAXIDMA_BD_CTRL_LEN_OFFSET) & XAXIDMA_BD_CTRL_ALL_MASK)
#define XAxiDma_BdGetSts(BdPtr) (XAxiDma_BdRead(BdPtr, XAXIDMA_BD_STS_OFFSET) & XAXIDMA_BD_STS_ALL_MASK)
#define XAxiDma_BdHwCompleted(BdPtr) (XAxiDma_BdRead(BdPtr, XAXIDMA_BD_STS_OFFSET) & XAXIDMA_BD_STS_COMPLETE_MASK)
#define XAxiDma_BdGetLength(BdPtr, LengthMask) (XAxiDma_BdRead(BdPtr, XAXIDMA_BD_CTRL_LEN_OFFSET) & (LengthMask))
#define XAxiDma_BdGetActualLength(BdPtr, LengthMask) (XAxiDma_BdRead(BdPtr, XAXIDMA_BD_STS_OFFSET) & (LengthMask))
#define XAxiDma_BdSetId(BdPtr, Id) XAxiDma_BdWrite(BdPtr, XAXIDMA_BD_ID_OFFSET, Id)
#define XAxiDma_BdGetId(BdPtr) XAxiDma_BdRead(BdPtr, XAXIDMA_BD_ID_OFFSET)
#define XAxiDma_BdGetBufAddr(BdPtr) XAxiDma_BdRead(BdPtr, XAXIDMA_BD_BUFA_OFFSET)

#ifdef __cplusplus
extern "C" {
#endif
int XAxiDma_BdSetLength(XAxiDma_Bd *BdPtr, u32 LenBytes, u32 LengthMask);
u32 XAxiDma_BdSetBufAddr(XAxiDma_Bd *BdPtr, UINTPTR Addr);
void XAxiDma_BdSetCtrl(XAxiDma_Bd *BdPtr, u32 Data);
int XAxiDma_BdSetAppWord(XAxiDma_Bd *BdPtr, int Offset, u32 Word);
u32 XAxiDma_BdGetAppWord(XAxiDma_Bd *BdPtr, int Offset, int *Valid);
void XAxiDma_DumpBd(XAxiDma_Bd *BdPtr);
#ifdef __cplusplus
}
#endif

#endif
