/* Packets through a FIFO by the DMA in simple mode, in turns polled and by interrupts. */
#include "xaxidma.h"
#include "xil_exception.h"
#include "xil_util.h"
#include "xparameters.h"
#include "xscugic.h"

enum { WORDS = 40, ROUNDS = 4 };

static XAxiDma dma;
static XScuGic gic;
static u32 sent[WORDS] __attribute__((aligned(32))), received[WORDS] __attribute__((aligned(32)));
static volatile u32 done;

static void on_receive(void *data) {
    const u32 pending = XAxiDma_IntrGetIrq((XAxiDma *)data, XAXIDMA_DEVICE_TO_DMA);
    XAxiDma_IntrAckIrq((XAxiDma *)data, pending, XAXIDMA_DEVICE_TO_DMA);
    if (pending & XAXIDMA_IRQ_IOC_MASK)
        done = 1;
}

static int set_up(void) {
    XAxiDma_Config *config = XAxiDma_LookupConfig(XPAR_AXIDMA_0_DEVICE_ID);
    if (!config || XAxiDma_CfgInitialize(&dma, config) != XST_SUCCESS || XAxiDma_HasSg(&dma))
        return XST_FAILURE;
    XScuGic_Config *controller = XScuGic_LookupConfig(XPAR_SCUGIC_SINGLE_DEVICE_ID);
    if (XScuGic_CfgInitialize(&gic, controller, controller->CpuBaseAddress) != XST_SUCCESS)
        return XST_FAILURE;
    XScuGic_SetPriorityTriggerType(&gic, XPAR_FABRIC_AXIDMA_0_S2MM_INTROUT_VEC_ID, 0xA0, 3);
    XScuGic_Connect(&gic, XPAR_FABRIC_AXIDMA_0_S2MM_INTROUT_VEC_ID, on_receive, &dma);
    XScuGic_Enable(&gic, XPAR_FABRIC_AXIDMA_0_S2MM_INTROUT_VEC_ID);
    Xil_ExceptionRegisterHandler(XIL_EXCEPTION_ID_INT, (Xil_ExceptionHandler)XScuGic_InterruptHandler, &gic);
    Xil_ExceptionEnable();
    return XST_SUCCESS;
}

static int round_trip(int round) {
    const u32 bytes = sizeof sent - 4 * (u32)round;
    for (u32 i = 0; i < WORDS; i++)
        sent[i] = (u32)round << 16 | i;
#if !NO_FLUSH
    Xil_DCacheFlushRange((UINTPTR)sent, sizeof sent);
#endif
    done = 0;
    if (round % 2)
        XAxiDma_IntrEnable(&dma, XAXIDMA_IRQ_ALL_MASK, XAXIDMA_DEVICE_TO_DMA);
    else
        XAxiDma_IntrDisable(&dma, XAXIDMA_IRQ_ALL_MASK, XAXIDMA_DEVICE_TO_DMA);
    if (XAxiDma_SimpleTransfer(&dma, (UINTPTR)received, bytes, XAXIDMA_DEVICE_TO_DMA) != XST_SUCCESS ||
        XAxiDma_SimpleTransfer(&dma, (UINTPTR)sent, bytes, XAXIDMA_DMA_TO_DEVICE) != XST_SUCCESS)
        return XST_FAILURE;
    if (round % 2 && Xil_WaitForEventSet(1000, 1, &done) != XST_SUCCESS)
        return XST_FAILURE;
    while (XAxiDma_Busy(&dma, XAXIDMA_DEVICE_TO_DMA) || XAxiDma_Busy(&dma, XAXIDMA_DMA_TO_DEVICE))
        continue;
#if !NO_INVALIDATE
    Xil_DCacheInvalidateRange((UINTPTR)received, sizeof received);
#endif
    for (u32 i = 0; i < bytes / 4; i++)
        if (received[i] != sent[i])
            return XST_FAILURE;
    return XST_SUCCESS;
}

int main(void) {
    if (set_up() != XST_SUCCESS)
        return XST_FAILURE;
    for (int round = 0; round < ROUNDS; round++)
        if (round_trip(round) != XST_SUCCESS) {
            xil_printf("round %d is wrong\r\n", round);
            return XST_FAILURE;
        }
    xil_printf("%d rounds\r\n", ROUNDS);
    return XST_SUCCESS;
}
