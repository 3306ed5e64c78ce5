/* Packets by an AXI4-Stream FIFO through a loop-back, by registers, bytes and interrupts; then its errors. */
#include <stdio.h>

#include "xllfifo.h"
#include "xparameters.h"
#include "xscugic.h"

static XScuGic gic;
static XLlFifo fifo;
static volatile u32 came;

static void on_packet(void *data) {
    came |= XLlFifo_IntPending((XLlFifo *)data);
    XLlFifo_IntClear((XLlFifo *)data, came);
}

static void packet(u32 words, u32 seed) {
    for (u32 i = 0; i < words; i++)
        XLlFifo_TxPutWord(&fifo, seed + i);
    XLlFifo_iTxSetLen(&fifo, 4 * words);
}

static u32 takes(u32 seed) {
    const u32 words = XLlFifo_iRxGetLen(&fifo) / 4;
    for (u32 i = 0; i < words; i++)
        if (XLlFifo_RxGetWord(&fifo) != seed + i)
            return 0;
    return words;
}

static u32 errors(void) {
    const u32 seen = XLlFifo_Status(&fifo) & XLLF_INT_ERROR_MASK;
    XLlFifo_IntClear(&fifo, XLLF_INT_ALL_MASK);
    return seen;
}

int main(void) {
    char text[] = "not a whole word", back[sizeof text] = "";
    printf("reset %lx\n", (unsigned long)XLlFifo_ReadReg(XPAR_AXI_FIFO_0_BASEADDR, XLLF_ISR_OFFSET));
    XScuGic_CfgInitialize(&gic, XScuGic_LookupConfig(0), XPAR_SCUGIC_CPU_BASEADDR);
    Xil_ExceptionRegisterHandler(XIL_EXCEPTION_ID_INT, (Xil_ExceptionHandler)XScuGic_InterruptHandler, &gic);
    XScuGic_SetPriorityTriggerType(&gic, XPAR_FABRIC_LLFIFO_0_VEC_ID, 0xA0, 1);
    XScuGic_Connect(&gic, XPAR_FABRIC_LLFIFO_0_VEC_ID, on_packet, &fifo);
    for (int round = 0; round < 2; round++) {
        XLlFifo_CfgInitialize(&fifo, XLlFfio_LookupConfig(0), XPAR_AXI_FIFO_0_BASEADDR);
        XLlFifo_IntClear(&fifo, XLLF_INT_ALL_MASK);
        printf("room %lu", (unsigned long)XLlFifo_iTxVacancy(&fifo));
        packet(3, 10);
        packet(40, 100);
        while (!XLlFifo_IsRxDone(&fifo) || XLlFifo_iRxOccupancy(&fifo) < 43)
            ;
        const u32 first = takes(10), second = takes(100);
        printf(", packets of %lu and %lu, %lu left\n", (unsigned long)first, (unsigned long)second,
               (unsigned long)XLlFifo_iRxOccupancy(&fifo));
    }
    errors();
    XScuGic_Enable(&gic, XPAR_FABRIC_LLFIFO_0_VEC_ID);
    Xil_ExceptionEnable();
    XLlFifo_IntEnable(&fifo, XLLF_INT_RC_MASK);
    XLlFifo_Write(&fifo, text, sizeof text);
    XLlFifo_TxSetLen(&fifo, sizeof text);
    while (!came)
        ;
    const u32 bytes = XLlFifo_RxGetLen(&fifo);
    XLlFifo_Read(&fifo, back, sizeof back);
    printf("interrupt %lx, %lu bytes: %s\n", (unsigned long)came, (unsigned long)bytes, back);
    errors();
    XLlFifo_RxGetWord(&fifo);
    printf("errors %lx", (unsigned long)errors());
    XLlFifo_iRxGetLen(&fifo);
    printf(" %lx", (unsigned long)errors());
    packet(1, 7);
    while (XLlFifo_IsRxEmpty(&fifo))
        ;
    XLlFifo_RxGetWord(&fifo);
    printf(" %lx", (unsigned long)errors());
    XLlFifo_TxPutWord(&fifo, 1);
    XLlFifo_iTxSetLen(&fifo, 8);
    printf(" %lx", (unsigned long)errors());
    for (int i = 0; i < 509; i++)
        XLlFifo_TxPutWord(&fifo, 1);
    printf(" %lx, room %lu", (unsigned long)errors(), (unsigned long)XLlFifo_iTxVacancy(&fifo));
    XLlFifo_TxReset(&fifo);
    printf(" and %lu\n", (unsigned long)XLlFifo_iTxVacancy(&fifo));
    return 0;
}
