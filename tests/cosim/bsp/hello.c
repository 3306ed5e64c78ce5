/* What a program finds without an accelerator: both kinds of text, memory, time, timers, interrupts that nest. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform.h"
#include "sleep.h"
#include "xil_exception.h"
#include "xil_mmu.h"
#include "xil_printf.h"
#include "xparameters.h"
#include "xscugic.h"
#include "xscutimer.h"
#include "xstatus.h"
#include "xtime_l.h"
#include "xuartps.h"

enum { TICKS = 5, SOFTWARE = 3 };

static XScuGic gic;
static XScuTimer timer;
static volatile int ticks, nested;

static void on_tick(void *data) {
    XScuTimer_ClearInterruptStatus((XScuTimer *)data);
    ticks++;
    if (ticks == 2) {
        const int before = nested;
        XScuGic_SoftwareIntr(&gic, SOFTWARE, XSCUGIC_SPI_CPU0_MASK);
        Xil_EnableNestedInterrupts();
        while (nested == before)
            continue;
        Xil_DisableNestedInterrupts();
        printf("nested in tick %d\n", ticks);
    }
}

static void on_software(void *data) {
    (void)data;
    nested++;
}

static void on_service(void *data) { printf("%s served\n", (const char *)data); }

static int set_up(void) {
    XScuGic_Config *config = XScuGic_LookupConfig(XPAR_SCUGIC_SINGLE_DEVICE_ID);
    if (!config || XScuGic_CfgInitialize(&gic, config, config->CpuBaseAddress) != XST_SUCCESS)
        return XST_FAILURE;
    XScuTimer_Config *clock = XScuTimer_LookupConfig(XPAR_XSCUTIMER_0_DEVICE_ID);
    if (XScuTimer_CfgInitialize(&timer, clock, clock->BaseAddr) != XST_SUCCESS)
        return XST_FAILURE;
    XScuGic_SetPriorityTriggerType(&gic, SOFTWARE, 0x40, 3);
    XScuGic_Connect(&gic, XPAR_SCUTIMER_INTR, on_tick, &timer);
    XScuGic_Connect(&gic, SOFTWARE, on_software, NULL);
    XScuGic_Enable(&gic, XPAR_SCUTIMER_INTR);
    XScuGic_Enable(&gic, SOFTWARE);
    Xil_ExceptionInit();
    Xil_ExceptionRegisterHandler(XIL_EXCEPTION_ID_INT, (Xil_ExceptionHandler)XScuGic_InterruptHandler, &gic);
    Xil_ExceptionEnable();
    XScuTimer_EnableAutoReload(&timer);
    XScuTimer_EnableInterrupt(&timer);
    XScuTimer_LoadTimer(&timer, COUNTS_PER_SECOND / 1000);
    XScuTimer_Start(&timer);
    return XST_SUCCESS;
}

int main(void) {
    init_platform();
    print("Hello World\r\n");
    xil_printf("%d %05d %x %08X %c %s|%6s|%-4d|%%\r\n", -42, 42, 0xBEEF, 0xC0FFEE, 'x', "text", "right", 7);
    printf("%.3f %g %lld\n", 4 * atan(1.0), 1e-3, -1LL * (1LL << 40));

    char *large = malloc(1 << 20), *small = strdup("kept");
    memset(large, 7, 1 << 20);
    free(large);
    for (int i = 0; i < 100; i++) /* more than the heap has, if nothing were given back */
        free(malloc(1 << 20));
    printf("%s\n", small);

    Xil_ExceptionRegisterHandler(XIL_EXCEPTION_ID_SWI_INT, on_service, "svc #5");
    __asm__ volatile("svc #5" ::: "memory");

    XTime begin, end;
    XTime_GetTime(&begin);
    usleep(2000);
    XTime_GetTime(&end);
    printf("waited %d us\n", (int)((end - begin) / (COUNTS_PER_SECOND / 1000000)) / 100 * 100);

    if (set_up() != XST_SUCCESS)
        return XST_FAILURE;
    float sum = 0; /* registers of the FPU survive interrupts */
    int i = 0;
    for (; ticks < TICKS; i++)
        sum += 0.5f;
    XScuTimer_Stop(&timer);
    printf("ticks %d, nested %d, %s\n", ticks, nested, sum == 0.5f * i ? "sum right" : "sum WRONG");

    int number = 0;
    printf("number? ");
    fflush(stdout);
    if (scanf("%d", &number) == 1)
        printf("%d squared is %d\n", number, number * number);

    XUartPs uart;
    XUartPs_Config *config = XUartPs_LookupConfig(XPAR_XUARTPS_0_DEVICE_ID);
    if (XUartPs_CfgInitialize(&uart, config, config->BaseAddress) != XST_SUCCESS || XUartPs_SelfTest(&uart) != XST_SUCCESS)
        return XST_FAILURE;
    XUartPs_Send(&uart, (u8 *)"uart\n", 5);

#if CRASH
    return *(volatile int *)0x30000000; /* the load */
#endif
    cleanup_platform();
    return 3;
}
