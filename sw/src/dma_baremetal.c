/* The DMA on bare metal: Xilinx AXI DMA v7.1, direct register ("simple") mode. References are to PG021. */
#include "dma_internal.h"

/* PG021, "Direct Register Mode": both channels have the same registers, at these bases. */
enum { MM2S = 0x00, S2MM = 0x30 };
enum { DMACR = 0x00, DMASR = 0x04, ADDRESS = 0x18, LENGTH = 0x28 };
enum { DMACR_RS = 1u << 0, DMACR_RESET = 1u << 2 };
enum {
    DMASR_HALTED = 1u << 0,
    DMASR_IDLE = 1u << 1,
    DMASR_INTERNAL_ERROR = 1u << 4, /* also: more data than LENGTH asked for */
    DMASR_SLAVE_ERROR = 1u << 5,
    DMASR_DECODE_ERROR = 1u << 6,
    DMASR_ERRORS = DMASR_INTERNAL_ERROR | DMASR_SLAVE_ERROR | DMASR_DECODE_ERROR
};

/* A reset takes a few dozen cycles of the fabric; a DMA that is not there answers with something else for ever. */
#define READY_POLLS 1000u
#define CACHE_LINE 32u

typedef struct {
    uint32_t base;       /* MM2S or S2MM */
    uint32_t words;      /* of the transfer in flight, 0 if none */
    uint32_t offset;
} channel;

dma_window dma_in_window, dma_out_window;
static uintptr_t registers;
static channel send_channel = {.base = MM2S}, recv_channel = {.base = S2MM};

static uint32_t read_register(const channel *ch, uint32_t offset) {
    return *(volatile uint32_t *)(registers + ch->base + offset);
}

static void write_register(const channel *ch, uint32_t offset, uint32_t value) {
    *(volatile uint32_t *)(registers + ch->base + offset) = value;
}

volatile uint32_t *dma_in_buffer(void) { return dma_in_window.words; }
volatile uint32_t *dma_out_buffer(void) { return dma_out_window.words; }

/* PG021, DMACR.Reset: a reset of either channel resets both; the bit reads 1 until it is over. */
static dma_status reset_and_run(void) {
    write_register(&send_channel, DMACR, DMACR_RESET);
    uint32_t polls = 0;
    while (read_register(&send_channel, DMACR) & DMACR_RESET)
        if (++polls == READY_POLLS)
            return DMA_ERR_NOT_READY;
    channel *const both[] = {&send_channel, &recv_channel};
    for (int i = 0; i < 2; i++) {
        write_register(both[i], DMACR, DMACR_RS);
        for (polls = 0; read_register(both[i], DMASR) & DMASR_HALTED;)
            if (++polls == READY_POLLS)
                return DMA_ERR_NOT_READY;
        both[i]->words = 0;
    }
    return DMA_OK;
}

static int aligned(uintptr_t address, uint32_t bytes) {
    uint32_t unit = AXL_DMA_CACHED ? CACHE_LINE : sizeof(uint32_t);
    return address != 0 && address % unit == 0 && bytes % unit == 0 && bytes != 0;
}

dma_status dma_init(uintptr_t dma_addr, uintptr_t in_addr, uint32_t in_bytes, uintptr_t out_addr,
                    uint32_t out_bytes) {
    dma_in_window.words = dma_out_window.words = NULL;
    if (dma_addr == 0 || dma_addr % sizeof(uint32_t) || !aligned(in_addr, in_bytes) || !aligned(out_addr, out_bytes))
        return DMA_ERR_ARGUMENT;
    registers = dma_addr;
    dma_status status = reset_and_run();
    if (status != DMA_OK)
        return status;
    if (!AXL_DMA_CACHED) {
        axl_map_uncached(in_addr, in_bytes);
        axl_map_uncached(out_addr, out_bytes);
    }
    dma_in_window = (dma_window){(uint32_t *)in_addr, in_bytes / (uint32_t)sizeof(uint32_t)};
    dma_out_window = (dma_window){(uint32_t *)out_addr, out_bytes / (uint32_t)sizeof(uint32_t)};
    return DMA_OK;
}

dma_status dma_free(void) {
    if (!dma_in_window.words)
        return DMA_ERR_NOT_READY;
    write_register(&send_channel, DMACR, 0);
    write_register(&recv_channel, DMACR, 0);
    dma_in_window.words = dma_out_window.words = NULL;
    return DMA_OK;
}

static dma_status check_start(const channel *ch, const dma_window *window, uint32_t words, uint32_t offset) {
    dma_status status = dma_check_bounds(window, words, offset);
    if (status != DMA_OK)
        return status;
    /* PG021, LENGTH: a longer value is cut to the register's width, and the transfer hangs or ends early. */
    if (words == 0 || words > ((1u << AXL_LENGTH_BITS) - 1) / sizeof(uint32_t))
        return DMA_ERR_LENGTH;
    return ch->words ? DMA_ERR_BUSY : DMA_OK;
}

/* PG021, "Programming Sequence": address first; the write of LENGTH starts the transfer. */
static void start(channel *ch, const dma_window *window, uint32_t words, uint32_t offset) {
    ch->words = words;
    ch->offset = offset;
    write_register(ch, ADDRESS, (uint32_t)(uintptr_t)(window->words + offset));
    write_register(ch, LENGTH, words * (uint32_t)sizeof(uint32_t));
}

dma_status dma_start_send(uint32_t words, uint32_t offset) {
    dma_status status = check_start(&send_channel, &dma_in_window, words, offset);
    if (status != DMA_OK)
        return status;
    if (AXL_DMA_CACHED)
        axl_cache_clean((uintptr_t)(dma_in_window.words + offset), words * (uint32_t)sizeof(uint32_t));
    else
        axl_memory_barrier();
    start(&send_channel, &dma_in_window, words, offset);
    return DMA_OK;
}

/* Discarded before, so that no dirty line can be written over what the DMA brings ... */
dma_status dma_start_recv(uint32_t words, uint32_t offset) {
    dma_status status = check_start(&recv_channel, &dma_out_window, words, offset);
    if (status != DMA_OK)
        return status;
    if (AXL_DMA_CACHED)
        axl_cache_discard((uintptr_t)(dma_out_window.words + offset), words * (uint32_t)sizeof(uint32_t));
    else
        axl_memory_barrier();
    start(&recv_channel, &dma_out_window, words, offset);
    return DMA_OK;
}

static dma_status check(channel *ch, int *done) {
    *done = 1;
    if (!dma_in_window.words)
        return DMA_ERR_NOT_READY;
    if (!ch->words)
        return DMA_OK;
    uint32_t status = read_register(ch, DMASR);
    if (status & DMASR_ERRORS) {
        ch->words = 0;
        return DMA_ERR_HALTED;
    }
    *done = (status & DMASR_IDLE) != 0;
    return DMA_OK;
}

dma_status dma_check_send(int *done) {
    dma_status status = check(&send_channel, done);
    if (*done)
        send_channel.words = 0;
    return status;
}

/* ... and after, because the CPU may have fetched lines ahead while the DMA wrote. */
dma_status dma_check_recv(int *done) {
    uint32_t words = recv_channel.words;
    dma_status status = check(&recv_channel, done);
    if (status != DMA_OK || !*done || !words)
        return status;
    recv_channel.words = 0;
    if (AXL_DMA_CACHED)
        axl_cache_invalidate((uintptr_t)(dma_out_window.words + recv_channel.offset),
                             words * (uint32_t)sizeof(uint32_t));
    else
        axl_memory_barrier();
    /* PG021, S2MM_LENGTH: after the transfer it reads the number of bytes received. */
    if (read_register(&recv_channel, LENGTH) < words * sizeof(uint32_t))
        return DMA_ERR_SHORT;
    return DMA_OK;
}

static dma_status wait(dma_status (*check_once)(int *)) {
#ifdef AXL_TIMEOUT_US
    const uint64_t limit = axl_timer() + (uint64_t)(AXL_TIMEOUT_US) * (AXL_CPU_HZ / 2000000u);
#endif
    for (;;) {
        int done;
        dma_status status = check_once(&done);
        if (done || status != DMA_OK)
            return status;
#ifdef AXL_TIMEOUT_US
        if (axl_timer() > limit)
            return DMA_ERR_TIMEOUT;
#endif
    }
}

dma_status dma_wait_send(void) { return wait(dma_check_send); }
dma_status dma_wait_recv(void) { return wait(dma_check_recv); }
