/* Packets of two descriptors each through a FIFO, by rings; with -DCYCLIC=1 the rings go round by themselves. */
#include "xaxidma.h"
#include "xparameters.h"

#ifndef CYCLIC
#define CYCLIC 0
#endif

enum { PACKETS = 4, PIECES = 2, BYTES = 64, BDS = PACKETS * PIECES, TURNS = CYCLIC ? 3 : 1 };

static XAxiDma dma;
static u8 bds[2][BDS * 64] __attribute__((aligned(64)));
static u8 sent[BDS * BYTES] __attribute__((aligned(32))), received[BDS * BYTES] __attribute__((aligned(32)));

static int fill(XAxiDma_BdRing *ring, UINTPTR buffer, int sends) {
    XAxiDma_Bd blank, *set;
    const UINTPTR at = (UINTPTR)bds[sends];
    if (XAxiDma_BdRingCreate(ring, at, at, XAXIDMA_BD_MINIMUM_ALIGNMENT, BDS) != XST_SUCCESS)
        return XST_FAILURE;
    XAxiDma_BdClear(&blank);
    if (XAxiDma_BdRingClone(ring, &blank) != XST_SUCCESS || XAxiDma_BdRingAlloc(ring, BDS, &set) != XST_SUCCESS)
        return XST_FAILURE;
    XAxiDma_Bd *bd = set;
    for (int i = 0; i < BDS; i++, bd = (XAxiDma_Bd *)XAxiDma_BdRingNext(ring, bd)) {
        if (XAxiDma_BdSetBufAddr(bd, buffer + (UINTPTR)(i * BYTES)) != XST_SUCCESS ||
            XAxiDma_BdSetLength(bd, BYTES, ring->MaxTransferLen) != XST_SUCCESS)
            return XST_FAILURE;
        XAxiDma_BdSetCtrl(bd, !sends ? 0
                              : i % PIECES == 0          ? XAXIDMA_BD_CTRL_TXSOF_MASK
                              : i % PIECES == PIECES - 1 ? XAXIDMA_BD_CTRL_TXEOF_MASK
                                                         : 0);
        XAxiDma_BdSetId(bd, i);
    }
    if (CYCLIC) {
        XAxiDma_BdRingEnableCyclicDMA(ring);
        XAxiDma_SelectCyclicMode(&dma, sends ? XAXIDMA_DMA_TO_DEVICE : XAXIDMA_DEVICE_TO_DMA, 1);
    }
    XAxiDma_BdRingSetCoalesce(ring, PACKETS, 0);
    if (XAxiDma_BdRingToHw(ring, BDS, set) != XST_SUCCESS)
        return XST_FAILURE;
    return XAxiDma_BdRingStart(ring);
}

int main(void) {
    XAxiDma_Config *config = XAxiDma_LookupConfig(XPAR_AXIDMA_0_DEVICE_ID);
    if (!config || XAxiDma_CfgInitialize(&dma, config) != XST_SUCCESS || !XAxiDma_HasSg(&dma))
        return XST_FAILURE;
    XAxiDma_BdRing *sends = XAxiDma_GetTxRing(&dma), *receives = XAxiDma_GetRxRing(&dma);
    for (u32 i = 0; i < sizeof sent; i++)
        sent[i] = (u8)(3 * i + 1);
#if !NO_FLUSH
    Xil_DCacheFlushRange((UINTPTR)sent, sizeof sent);
#endif
    Xil_DCacheFlushRange((UINTPTR)received, sizeof received);
    if (fill(receives, (UINTPTR)received, 0) != XST_SUCCESS || fill(sends, (UINTPTR)sent, 1) != XST_SUCCESS)
        return XST_FAILURE;

    for (int turn = 0; turn < TURNS; turn++) { /* an interrupt is pending after each turn of all packets */
        while (!(XAxiDma_BdRingGetIrq(receives) & XAXIDMA_IRQ_IOC_MASK))
            continue;
        XAxiDma_BdRingAckIrq(receives, XAXIDMA_IRQ_IOC_MASK);
    }
    XAxiDma_Bd *set;
    const int count = XAxiDma_BdRingFromHw(receives, XAXIDMA_ALL_BDS, &set);
    if (!CYCLIC) {
        for (int i = 0; i < count; i++, set = (XAxiDma_Bd *)XAxiDma_BdRingNext(receives, set))
            if (XAxiDma_BdGetActualLength(set, receives->MaxTransferLen) != BYTES || XAxiDma_BdGetId(set) != (u32)i)
                return XST_FAILURE;
        if (XAxiDma_BdRingFromHw(sends, XAXIDMA_ALL_BDS, &set) != BDS || XAxiDma_BdRingFree(sends, BDS, set) != XST_SUCCESS ||
            XAxiDma_BdRingCheck(sends) != XST_SUCCESS || XAxiDma_BdRingGetFreeCnt(sends) != BDS)
            return XST_FAILURE;
    } else {
        XAxiDma_Reset(&dma);
        while (!XAxiDma_ResetIsDone(&dma))
            continue;
    }
    Xil_DCacheInvalidateRange((UINTPTR)received, sizeof received);
    for (u32 i = 0; i < sizeof sent; i++)
        if (received[i] != sent[i])
            return XST_FAILURE;
    xil_printf("%d descriptors, %d turns\r\n", count, TURNS);
    return XST_SUCCESS;
}
