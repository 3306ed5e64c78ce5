/* Under FreeRTOS: a queue between two tasks, two tasks that share the CPU without a word, an interrupt that wakes a task. */
#include "FreeRTOS.h"
#include "task.h"
#include "queue.h"
#include "semphr.h"

#include "../board.h"

enum { TICKS = 29, TRIPLE = 42 };
static QueueHandle_t numbers;
static SemaphoreHandle_t woken;
static volatile uint32_t spins[2];
static volatile float sums[2];
static TaskHandle_t spinning[2];
void _exit(int status);

void failed(const char *file, int line) {
    text(file);
    say(": a false assertion in line", (uint32_t)line);
    _exit(1);
}
void *memset(void *to, int value, size_t size) {
    for (volatile char *byte = to; size--; byte++)
        *byte = (char)value;
    return to;
}
void *memcpy(void *to, const void *from, size_t size) {
    const char *source = from;
    for (volatile char *byte = to; size--; byte++)
        *byte = *source++;
    return to;
}

void start_ticks(void) {
    enable(TICKS, 30 << 3);
    AT(DISTRIBUTOR) = 1;
    AT(CPU_INTERFACE) = 7;
    AT(PRIVATE_TIMER) = configCPU_CLOCK_HZ / 2 / configTICK_RATE_HZ - 1;
    AT(PRIVATE_TIMER + 8) = 7;
}

void FreeRTOS_Tick_Handler(void);
void vApplicationFPUSafeIRQHandler(uint32_t acknowledged) {
    BaseType_t higher = pdFALSE;
    __asm__ volatile("cpsie i" ::: "memory"); /* they nest */
    if ((acknowledged & 0x3FF) == TICKS) {
        FreeRTOS_Tick_Handler();
    } else if (AT(TTC0 + 0x54)) {
        xSemaphoreGiveFromISR(woken, &higher);
        portYIELD_FROM_ISR(higher);
    }
}

static void produce(void *unused) {
    (void)unused;
    for (uint32_t i = 1; i <= 4; i++) {
        vTaskDelay(2);
        say("sends", i);
        xQueueSend(numbers, &i, portMAX_DELAY);
    }
    vTaskSuspend(NULL);
}

/* With a float of its own, which a switch must keep. */
static void spin(void *number) {
    const uint32_t self = (uint32_t)number;
    for (float sum = 0;; sum += (float)(self + 1)) {
        if (sum != (float)(self + 1) * (float)spins[self])
            failed("float", (int)self);
        sums[self] = sum;
        if (++spins[self] == 1 << 22)
            vTaskSuspend(NULL);
    }
}

static void consume(void *unused) {
    (void)unused;
    for (uint32_t i = 0; i < 4;) {
        xQueueReceive(numbers, &i, portMAX_DELAY);
        say("takes", i);
    }
    say("ticks", xTaskGetTickCount() >= 8);

    xTaskCreate(spin, "spin0", 512, (void *)0, 1, &spinning[0]);
    xTaskCreate(spin, "spin1", 512, (void *)1, 1, &spinning[1]);
    vTaskDelay(20);
    vTaskSuspend(spinning[0]);
    vTaskSuspend(spinning[1]);
    say("both run", spins[0] > 100 && spins[1] > 100);

    enable(TRIPLE, 20 << 3);
    AT(TTC0 + 0x24) = 999;
    AT(TTC0 + 0x60) = 1;
    AT(TTC0 + 0x0C) = 2 | 16;
    for (uint32_t i = 1; i <= 3; i++) {
        xSemaphoreTake(woken, portMAX_DELAY);
        say("woken", i);
    }
    AT(TTC0 + 0x0C) = 1;
    _exit(3);
}

int main(void) {
    text("FreeRTOS\n");
    numbers = xQueueCreate(2, sizeof(uint32_t));
    woken = xSemaphoreCreateBinary();
    xTaskCreate(produce, "produce", 512, NULL, 2, NULL);
    xTaskCreate(consume, "consume", 512, NULL, 3, NULL);
    vTaskStartScheduler();
    return 1;
}
