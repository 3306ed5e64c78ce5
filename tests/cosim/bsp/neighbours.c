/* AXI GPIO, Timer and CDMA by the vendor's API, each twice: by polling, and by interrupts. */
#include <stdio.h>
#include <string.h>

#include "xaxicdma.h"
#include "xgpio.h"
#include "xil_cache.h"
#include "xinterrupt_wrap.h"
#include "xparameters.h"
#include "xscugic.h"
#include "xtmrctr.h"

enum { WORDS = 600, PIECES = 6 };

static XScuGic gic;
static XGpio gpio;
static XTmrCtr timer;
static XAxiCdma cdma;
static volatile int edges, ticks, done;
static u32 from[WORDS] __attribute__((aligned(64))), to[WORDS] __attribute__((aligned(64)));
static XAxiCdma_Bd ring[8] __attribute__((aligned(64)));

static void on_edge(void *data) {
    XGpio_InterruptClear(data, XGPIO_IR_CH1_MASK);
    edges++;
}

static void on_tick(void *data, u8 number) {
    (void)data;
    ticks += number == XTC_TIMER_0;
}

static void on_end(void *data, u32 interrupts, int *left) {
    XAxiCdma_Bd *first;
    if (left) {
        const u32 count = XAxiCdma_BdRingFromHw(data, *left, &first);
        XAxiCdma_BdRingFree(data, (int)count, first);
        *left -= (int)count;
        done += (int)count;
    } else {
        done += !!(interrupts & XAXICDMA_XR_IRQ_IOC_MASK);
    }
}

static void connect(u32 id, Xil_InterruptHandler handler, void *data) {
    XScuGic_SetPriorityTriggerType(&gic, id, 0xA0, 3);
    XScuGic_Connect(&gic, id, handler, data);
    XScuGic_Enable(&gic, id);
}

static int same(const char *what, int count) {
    Xil_DCacheInvalidateRange((INTPTR)to, sizeof to);
    const int good = !memcmp(from, to, (size_t)count * 4) && !to[count];
    printf("%s %s\n", what, good ? "right" : "wrong");
    memset(to, 0, sizeof to);
    Xil_DCacheFlushRange((INTPTR)to, sizeof to);
    return good;
}

static void fill(u32 seed) {
    for (u32 i = 0; i < WORDS; i++)
        from[i] = seed + i * 0x01010101u;
#ifndef NO_FLUSH
    Xil_DCacheFlushRange((INTPTR)from, sizeof from);
#endif
}

static void moves(int round) {
    XAxiCdma_Bd *first, *at;
    XAxiCdma_CfgInitialize(&cdma, XAxiCdma_LookupConfig(0), XPAR_XAXICDMA_0_BASEADDR);
    fill((u32)round);
    XAxiCdma_SimpleTransfer(&cdma, (UINTPTR)from, (UINTPTR)to, 400, NULL, NULL);
    while (XAxiCdma_IsBusy(&cdma))
        ;
    same("polled", 100);
    XAxiCdma_IntrEnable(&cdma, XAXICDMA_XR_IRQ_ALL_MASK);
    done = 0;
    XAxiCdma_SimpleTransfer(&cdma, (UINTPTR)from, (UINTPTR)to, 800, on_end, &cdma);
    while (!done)
        ;
    same("interrupt", 200);
    XAxiCdma_SetCoalesce(&cdma, PIECES, 0);
    XAxiCdma_BdRingCreate(&cdma, (UINTPTR)ring, (UINTPTR)ring, XAXICDMA_BD_MINIMUM_ALIGNMENT, 8);
    for (int turn = 0; turn < 2; turn++) { /* the second wraps around the ring */
        XAxiCdma_BdRingAlloc(&cdma, PIECES, &first);
        at = first;
        for (u32 i = 0; i < PIECES; i++, at = XAxiCdma_BdRingNext(&cdma, at)) {
            XAxiCdma_BdSetSrcBufAddr(at, (UINTPTR)&from[80 * i]);
            XAxiCdma_BdSetDstBufAddr(at, (UINTPTR)&to[80 * i]);
            XAxiCdma_BdSetLength(at, 320);
        }
        done = 0;
        XAxiCdma_BdRingToHw(&cdma, PIECES, first, on_end, &cdma);
        while (done < PIECES)
            ;
        same("ring", 80 * PIECES);
    }
    XAxiCdma_SelectKeyHole(&cdma, XAXICDMA_KEYHOLE_WRITE, 1);
    XAxiCdma_IntrDisable(&cdma, XAXICDMA_XR_IRQ_ALL_MASK);
    XAxiCdma_SimpleTransfer(&cdma, (UINTPTR)from, (UINTPTR)to, 40, NULL, NULL);
    while (XAxiCdma_IsBusy(&cdma))
        ;
    Xil_DCacheInvalidateRange((INTPTR)to, sizeof to);
    printf("keyhole %s\n", to[0] == from[9] && !to[1] ? "right" : "wrong");
    memset(to, 0, sizeof to);
    Xil_DCacheFlushRange((INTPTR)to, sizeof to);
    XAxiCdma_SimpleTransfer(&cdma, (UINTPTR)from, 0x80000000u, 40, NULL, NULL);
    while (XAxiCdma_IsBusy(&cdma))
        ;
    printf("error %lx", (unsigned long)XAxiCdma_GetError(&cdma));
    XAxiCdma_Reset(&cdma);
    printf(" %lx\n", (unsigned long)XAxiCdma_GetError(&cdma));
}

static void counts(int round) {
    XTmrCtr_SetResetValue(&timer, XTC_TIMER_0, 998);
    XTmrCtr_SetOptions(&timer, XTC_TIMER_0, XTC_INT_MODE_OPTION | XTC_AUTO_RELOAD_OPTION | XTC_DOWN_COUNT_OPTION);
    XTmrCtr_SetOptions(&timer, XTC_TIMER_1, 0);
    XTmrCtr_SetResetValue(&timer, XTC_TIMER_1, 0);
    XTmrCtr_Start(&timer, XTC_TIMER_1); /* a stop watch */
    ticks = 0;
    XTmrCtr_Start(&timer, XTC_TIMER_0);
    while (ticks < 5)
        ;
    const u32 cycles = XTmrCtr_GetValue(&timer, XTC_TIMER_1);
    XTmrCtr_Stop(&timer, XTC_TIMER_0);
    XTmrCtr_Stop(&timer, XTC_TIMER_1);
    printf("round %d: 5 ticks of 1000 in %lu thousand cycles, self test %d\n", round, (unsigned long)cycles / 1000,
           XTmrCtr_SelfTest(&timer, XTC_TIMER_1));
}

int main(void) {
    XScuGic_CfgInitialize(&gic, XScuGic_LookupConfig(0), XPAR_SCUGIC_CPU_BASEADDR);
    Xil_ExceptionRegisterHandler(XIL_EXCEPTION_ID_INT, (Xil_ExceptionHandler)XScuGic_InterruptHandler, &gic);
    connect(XPAR_FABRIC_BUTTONS_IP2INTC_IRPT_INTR, on_edge, &gpio);
    connect(XPAR_FABRIC_TMRCTR_0_VEC_ID, XTmrCtr_InterruptHandler, &timer);
    connect(XPAR_FABRIC_AXICDMA_0_VEC_ID, XAxiCdma_IntrHandler, &cdma);
    Xil_ExceptionEnable();
    XGpio_Initialize(&gpio, 0);
    XTmrCtr_Initialize(&timer, 0);
    XTmrCtr_SetHandler(&timer, on_tick, &timer);
    XGpio_SetDataDirection(&gpio, 2, 0);
    XGpio_DiscreteWrite(&gpio, 2, 0x5A);
    XGpio_DiscreteSet(&gpio, 2, 0x05);
    printf("pins %lx %lx, %lx\n", (unsigned long)XGpio_DiscreteRead(&gpio, 2), (unsigned long)XGpio_GetDataDirection(&gpio, 2),
           (unsigned long)XGpio_GetDataDirection(&gpio, 1));
    XGpio_InterruptEnable(&gpio, XGPIO_IR_CH1_MASK);
    XGpio_InterruptGlobalEnable(&gpio);
    while (edges < 2)
        ;
    printf("edges %d, level %lx\n", edges, (unsigned long)XGpio_DiscreteRead(&gpio, 1));
    for (int round = 0; round < 2; round++) {
        counts(round);
        moves(round);
    }
    return 0;
}
