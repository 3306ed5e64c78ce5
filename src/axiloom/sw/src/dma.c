/* The DMA: Xilinx AXI DMA v7.1, its windows and one transfer a channel. References are to PG021.
 * How a transfer is put to the DMA is in dma_simple.c and dma_sg.c. */
#include "dma_look.h"

/* A reset takes a few dozen cycles of the fabric; a DMA that is not there answers with something else for ever. */
#define READY_POLLS 1000u
#define MAINTAINED (AXL_DMA_CACHED && !AXL_DMA_COHERENT)

#if AXL_DMA_IRQ && defined(AXL_TIMEOUT_US)
#error "AXL_DMA_IRQ: a CPU that sleeps until the interrupt cannot time out; leave AXL_TIMEOUT_US out or poll"
#endif

dma_window DMA_EACH(dma_in_window), DMA_EACH(dma_out_window);
uintptr_t DMA_EACH(dma_registers);
#if AXL_DMA_SG && TABLES
dma_table *DMA_EACH(dma_table_now), *DMA_EACH(dma_table_next);
#endif
#if AXL_AS_LINUX && !AXL_LINUX
uintptr_t axl_bus_offset;
__attribute__((weak)) dma_status axl_wait_failed(const dma_channel *channel, dma_status status) { /* not to be inlined */
    (void)channel;
    return status;
}
#endif
#if AXL_DMAS > 1
uint32_t dma_now;
dma_channel DMA_EACH(dma_send_channel) = {[0 ... AXL_DMAS - 1] = {.base = MM2S}};
dma_channel DMA_EACH(dma_recv_channel) = {[0 ... AXL_DMAS - 1] = {.base = S2MM}};
#else
dma_channel dma_send_channel = {.base = MM2S}, dma_recv_channel = {.base = S2MM};
#endif

dma_status dma_select(uint32_t number) {
    if (number >= AXL_DMAS)
        return DMA_ERR_ARGUMENT;
#if AXL_DMAS > 1
    dma_now = number;
#endif
    return DMA_OK;
}

volatile uint32_t *dma_in_buffer(void) { return dma_in_window.words; }
volatile uint32_t *dma_out_buffer(void) { return dma_out_window.words; }

/* PG021, DMACR.Reset: a reset of either channel resets both; the bit reads 1 until it is over. */
static dma_status reset_and_run(void) {
    dma_write_register(MM2S + DMACR, DMACR_RESET);
    uint32_t polls = 0;
    while (dma_read_register(MM2S + DMACR) & DMACR_RESET)
        if (++polls == READY_POLLS)
            return DMA_ERR_NOT_READY;
    const uint32_t irqs = AXL_DMA_IRQ ? DMACR_IOC_IRQEN | DMACR_ERR_IRQEN | DMACR_THRESHOLD_ONE : 0;
    dma_channel *const both[] = {&dma_send_channel, &dma_recv_channel};
    for (int i = 0; i < 2; i++) {
        dma_channel_prepare(both[i]);
        dma_write_register(both[i]->base + DMACR, DMACR_RS | irqs);
        for (polls = 0; dma_read_register(both[i]->base + DMASR) & DMASR_HALTED;)
            if (++polls == READY_POLLS)
                return DMA_ERR_NOT_READY;
        both[i]->words = 0;
    }
    return DMA_OK;
}

dma_status dma_restart(void) {
#if AXL_DMA_SG && TABLES
    dma_table_now = dma_table_next;
    dma_table_next = NULL;
#endif
    return reset_and_run();
}

static int aligned(uintptr_t address, uint32_t bytes) {
    uint32_t unit = AXL_DMA_CACHED ? AXL_CACHE_LINE : sizeof(uint32_t);
    return address != 0 && address % unit == 0 && bytes % unit == 0 && bytes != 0;
}

dma_status dma_init(uintptr_t dma_addr, uintptr_t in_addr, uint32_t in_bytes, uintptr_t out_addr,
                    uint32_t out_bytes) {
    dma_in_window.words = dma_out_window.words = NULL;
    if (dma_addr == 0 || dma_addr % sizeof(uint32_t) || !aligned(in_addr, in_bytes) || !aligned(out_addr, out_bytes))
        return DMA_ERR_ARGUMENT;
    dma_status status = axl_open_dma(&dma_addr, &in_addr, in_bytes, &out_addr, out_bytes);
    if (status != DMA_OK)
        return status;
    dma_registers = dma_addr;
    status = dma_restart();
    if (status != DMA_OK)
        return status;
    if (!AXL_DMA_CACHED) {
        axl_map_uncached(in_addr, in_bytes);
        axl_map_uncached(out_addr, out_bytes);
    }
    dma_in_window = (dma_window){(uint32_t *)in_addr, in_bytes / (uint32_t)sizeof(uint32_t)};
    dma_out_window = (dma_window){(uint32_t *)out_addr, out_bytes / (uint32_t)sizeof(uint32_t)};
#if AXL_DMA_SG && TABLES
    dma_table_now ? dma_queue_lend() : dma_queue_prepare();
#elif AXL_DMA_SG
    dma_queue_prepare();
#endif
    return DMA_OK;
}

dma_status dma_free(void) {
    if (!dma_in_window.words)
        return DMA_ERR_NOT_READY;
    dma_write_register(MM2S + DMACR, 0);
    dma_write_register(S2MM + DMACR, 0);
    dma_in_window.words = dma_out_window.words = NULL;
#if AXL_DMA_SG && TABLES
    dma_table_now = NULL;
#endif
    return DMA_OK;
}

static dma_status check_start(const dma_channel *ch, const dma_window *window, uint32_t words, uint32_t offset) {
    dma_status status = dma_check_bounds(window, words, offset);
    if (status != DMA_OK)
        return status;
    /* PG021, LENGTH: a longer value is cut to the register's width, and the transfer hangs or ends early. */
    if (words == 0 || words > ((1u << AXL_LENGTH_BITS) - 1) / sizeof(uint32_t))
        return DMA_ERR_LENGTH;
    return ch->words ? DMA_ERR_BUSY : DMA_OK;
}

static void start(dma_channel *ch, const dma_window *window, uint32_t words, uint32_t offset) {
#if AXL_DMA_SG && TABLES
    if (dma_table_now) /* the DMA is at its descriptors */
        dma_restart();
#endif
    ch->words = words;
    ch->offset = offset;
    dma_channel_start(ch, (uintptr_t)(window->words + offset), words * (uint32_t)sizeof(uint32_t));
}

dma_status dma_start_send(uint32_t words, uint32_t offset) {
    dma_status status = check_start(&dma_send_channel, &dma_in_window, words, offset);
    if (status != DMA_OK)
        return status;
    if (MAINTAINED)
        axl_cache_clean((uintptr_t)(dma_in_window.words + offset), words * (uint32_t)sizeof(uint32_t));
    else
        axl_memory_barrier();
    start(&dma_send_channel, &dma_in_window, words, offset);
    return DMA_OK;
}

/* Discarded before, so that no dirty line can be written over what the DMA brings ... */
dma_status dma_start_recv(uint32_t words, uint32_t offset) {
    dma_status status = check_start(&dma_recv_channel, &dma_out_window, words, offset);
    if (status != DMA_OK)
        return status;
    if (MAINTAINED)
        axl_cache_discard((uintptr_t)(dma_out_window.words + offset), words * (uint32_t)sizeof(uint32_t));
    else
        axl_memory_barrier();
    start(&dma_recv_channel, &dma_out_window, words, offset);
    return DMA_OK;
}

/* Inlined, so that a loop that waits holds little but the read of the register. */
static inline dma_status check(dma_channel *ch, int *done, uint32_t *bytes) {
    *done = 1;
    if (!dma_in_window.words)
        return DMA_ERR_NOT_READY;
    if (!ch->words)
        return DMA_OK;
    dma_status status = dma_channel_look(ch, done, bytes);
    if (status == DMA_ERR_HALTED) {
        ch->words = 0;
        *done = 1;
    }
    return status;
}

static inline dma_status check_send(int *done) {
    uint32_t bytes;
    dma_status status = check(&dma_send_channel, done, &bytes);
    if (*done)
        dma_send_channel.words = 0;
    return status;
}

/* ... and after, because the CPU may have fetched lines ahead while the DMA wrote. */
static inline dma_status check_recv(int *done) {
    uint32_t words = dma_recv_channel.words, bytes = 0;
    dma_status status = check(&dma_recv_channel, done, &bytes);
    if (status != DMA_OK || !*done || !words)
        return status;
    dma_recv_channel.words = 0;
    if (MAINTAINED)
        axl_cache_invalidate((uintptr_t)(dma_out_window.words + dma_recv_channel.offset),
                             words * (uint32_t)sizeof(uint32_t));
    else
        axl_memory_barrier();
    return bytes < words * sizeof(uint32_t) ? DMA_ERR_SHORT : DMA_OK;
}

dma_status dma_check_send(int *done) { return check_send(done); }
dma_status dma_check_recv(int *done) { return check_recv(done); }
dma_status dma_wait_send(void) { return dma_wait_until(&dma_send_channel, check_send); }
dma_status dma_wait_recv(void) { return dma_wait_until(&dma_recv_channel, check_recv); }

dma_status dma_device_write(uint32_t at, uint32_t value) {
    if (!dma_in_window.words)
        return DMA_ERR_NOT_READY;
    if (at % sizeof(uint32_t))
        return DMA_ERR_ARGUMENT;
    dma_write_register(at, value);
    return DMA_OK;
}

dma_status dma_device_wait(uint32_t at, uint32_t mask) {
    if (!dma_in_window.words)
        return DMA_ERR_NOT_READY;
    if (at % sizeof(uint32_t) || mask == 0)
        return DMA_ERR_ARGUMENT;
    while (!(dma_read_register(at) & mask)) {
    }
    return DMA_OK;
}

dma_status dma_device_elements(uint32_t at, uint32_t count, uint32_t bits, uint32_t offset) {
    if (at % sizeof(uint32_t) || (bits != 8 && bits != 16 && bits != 32))
        return DMA_ERR_ARGUMENT;
    dma_status status = dma_check_bounds(&dma_in_window, (count * bits + 31) / 32, offset);
    for (uint32_t i = 0; status == DMA_OK && i < count; i++) {
        const uint32_t word = dma_in_window.words[offset + i * bits / 32];
        const int32_t top = (int32_t)(word << (32 - bits - i * bits % 32));
        dma_write_register(at + i * (uint32_t)sizeof(uint32_t), (uint32_t)(top >> (32 - bits)));
    }
    return status;
}

static void point(uint32_t at, const volatile void *memory) {
    const uint64_t address = axl_bus((const void *)memory);
    dma_write_register(at, (uint32_t)address);
    dma_write_register(at + (uint32_t)sizeof(uint32_t), (uint32_t)(address >> 32));
}

static uint32_t bytes_of(uint32_t words) { return words * (uint32_t)sizeof(uint32_t); }

dma_status dma_device_reads(uint32_t at, uint32_t words, uint32_t offset) {
    dma_status status = at % sizeof(uint32_t) ? DMA_ERR_ARGUMENT : dma_check_bounds(&dma_in_window, words, offset);
    if (status != DMA_OK)
        return status;
    if (MAINTAINED)
        axl_cache_clean((uintptr_t)(dma_in_window.words + offset), bytes_of(words));
    axl_memory_barrier();
    point(at, dma_in_window.words + offset);
    return DMA_OK;
}

/* As dma_start_recv and check_recv: no dirty line may be written over what the device brings, no old one be read. */
dma_status dma_device_writes(uint32_t at, uint32_t words, uint32_t offset) {
    dma_status status = at % sizeof(uint32_t) ? DMA_ERR_ARGUMENT : dma_check_bounds(&dma_out_window, words, offset);
    if (status != DMA_OK)
        return status;
    if (MAINTAINED)
        axl_cache_discard((uintptr_t)(dma_out_window.words + offset), bytes_of(words));
    axl_memory_barrier();
    point(at, dma_out_window.words + offset);
    return DMA_OK;
}

dma_status dma_device_wrote(uint32_t words, uint32_t offset) {
    dma_status status = dma_check_bounds(&dma_out_window, words, offset);
    if (status == DMA_OK && MAINTAINED)
        axl_cache_invalidate((uintptr_t)(dma_out_window.words + offset), bytes_of(words));
    axl_memory_barrier();
    return status;
}

/* In place nothing else may share a line: what the CPU has written beside would be lost. */
static dma_status check_in_place(uint32_t at, const void *memory, uint32_t words) {
    if (!dma_in_window.words)
        return DMA_ERR_NOT_READY;
    const int whole = (uintptr_t)memory % AXL_CACHE_LINE == 0 && bytes_of(words) % AXL_CACHE_LINE == 0;
    return whole && at % sizeof(uint32_t) == 0 ? DMA_OK : DMA_ERR_ARGUMENT;
}

dma_status dma_device_reads_at(uint32_t at, const void *memory, uint32_t words) {
    dma_status status = check_in_place(at, memory, words);
    if (status != DMA_OK)
        return status;
    if (!AXL_DMA_COHERENT)
        axl_cache_clean((uintptr_t)memory, bytes_of(words));
    axl_memory_barrier();
    point(at, memory);
    return DMA_OK;
}

dma_status dma_device_writes_at(uint32_t at, void *memory, uint32_t words) {
    dma_status status = check_in_place(at, memory, words);
    if (status != DMA_OK)
        return status;
    if (!AXL_DMA_COHERENT)
        axl_cache_discard((uintptr_t)memory, bytes_of(words));
    axl_memory_barrier();
    point(at, memory);
    return DMA_OK;
}

dma_status dma_device_wrote_at(const void *memory, uint32_t words) {
    dma_status status = check_in_place(0, memory, words);
    if (status == DMA_OK && !AXL_DMA_COHERENT)
        axl_cache_invalidate((uintptr_t)memory, bytes_of(words));
    axl_memory_barrier();
    return status;
}
