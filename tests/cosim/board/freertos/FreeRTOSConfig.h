/* FreeRTOS on a Zynq-7000: its tick is the private timer's. */
#pragma once

#define configCPU_CLOCK_HZ 650000000
#define configTICK_RATE_HZ 1000
#define configUSE_PREEMPTION 1
#define configUSE_TIME_SLICING 1
#define configMAX_PRIORITIES 5
#define configMINIMAL_STACK_SIZE 512
#define configTOTAL_HEAP_SIZE 65536
#define configMAX_TASK_NAME_LEN 8
#define configTICK_TYPE_WIDTH_IN_BITS TICK_TYPE_WIDTH_32_BITS
#define configUSE_IDLE_HOOK 0
#define configUSE_TICK_HOOK 0
#define configUSE_TASK_FPU_SUPPORT 2
#define configUSE_MUTEXES 1
#define INCLUDE_vTaskDelay 1
#define INCLUDE_vTaskSuspend 1

#define configINTERRUPT_CONTROLLER_BASE_ADDRESS 0xF8F01000
#define configINTERRUPT_CONTROLLER_CPU_INTERFACE_OFFSET (-0xF00)
#define configUNIQUE_INTERRUPT_PRIORITIES 32
#define configMAX_API_CALL_INTERRUPT_PRIORITY 18
#ifndef __ASSEMBLER__
void start_ticks(void);
void failed(const char *file, int line);
#endif
#define configSETUP_TICK_INTERRUPT() start_ticks()
#define configCLEAR_TICK_INTERRUPT() (*(volatile unsigned *)0xF8F0060C = 1)
#define configASSERT(x) do { if (!(x)) failed(__FILE__, __LINE__); } while (0)
