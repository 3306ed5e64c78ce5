/* The platform of a driver that runs on a PC while its DMA is behind a line (AXL_REMOTE).
 *
 * What the DMA reads and writes is memory of the board, and the driver's windows are copies of it, as a cache that
 * nobody keeps coherent would be: cleaning takes what the driver wrote to the board, invalidating fetches what the
 * DMA wrote there. So the runtime in sw/src does the rest without knowing. */
#define _DEFAULT_SOURCE
#include <sys/mman.h>
#include <time.h>

#include "../src/dma_internal.h"
#include "remote.h"

#define WORD (uint32_t)sizeof(uint32_t)

static axl_remote line;
static int failed = 1;

uintptr_t axl_bus_offset;

void axl_remote_attach(const axl_remote *with) {
    line = *with;
    failed = 0;
}

static void put(uint32_t address, const uint32_t *words, uint32_t count) {
    if (!failed)
        failed = line.write(address, words, count);
}

static void get(uint32_t address, uint32_t *words, uint32_t count) {
    if (!failed)
        failed = line.read(address, words, count);
}

/* With a line that failed it reads what no DMA has, so that every wait ends with an error. */
uint32_t axl_read_register(uintptr_t address) {
    uint32_t value = ~0u;
    get((uint32_t)address, &value, 1);
    return value;
}

void axl_write_register(uintptr_t address, uint32_t value) { put((uint32_t)address, &value, 1); }

/* One mapping for both windows, as far apart as on the board: axl_bus knows one distance. Its pages take memory
 * where they are used. */
dma_status axl_open_dma(uintptr_t *registers, uintptr_t *in, uint32_t in_bytes, uintptr_t *out, uint32_t out_bytes) {
    static unsigned char *mapped;
    static uintptr_t first, last;
    (void)registers;
    if (failed)
        return DMA_ERR_NOT_READY;
    const uintptr_t in_end = *in + in_bytes, out_end = *out + out_bytes;
    if (mapped)
        munmap(mapped, last - first);
    first = *in < *out ? *in : *out;
    last = in_end > out_end ? in_end : out_end;
    mapped = mmap(NULL, last - first, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) {
        mapped = NULL;
        return DMA_ERR_NOT_READY;
    }
    axl_bus_offset = first - (uintptr_t)mapped;
    *in -= axl_bus_offset;
    *out -= axl_bus_offset;
    return DMA_OK;
}

dma_status axl_wait_failed(const dma_channel *channel, dma_status status) {
    (void)channel;
    return status;
}

/* The words that the region touches. */
static uint32_t words_of(uintptr_t *address, uint32_t bytes) {
    const uintptr_t end = *address + bytes;
    *address &= ~(uintptr_t)(WORD - 1);
    return (uint32_t)((end - *address + WORD - 1) / WORD);
}

void axl_cache_clean(uintptr_t address, uint32_t bytes) {
    const uint32_t count = words_of(&address, bytes);
    put(axl_bus((const void *)address), (const uint32_t *)address, count);
}

void axl_cache_discard(uintptr_t address, uint32_t bytes) { (void)address, (void)bytes; }

void axl_cache_invalidate(uintptr_t address, uint32_t bytes) {
    const uint32_t count = words_of(&address, bytes);
    get(axl_bus((const void *)address), (uint32_t *)address, count);
}

void axl_cache_clean_rows(uintptr_t address, uint32_t row_bytes, uint32_t rows, uint32_t stride) {
    for (uint32_t r = 0; r < rows; r++)
        axl_cache_clean(address + (uintptr_t)r * stride, row_bytes);
}

void axl_cache_discard_rows(uintptr_t address, uint32_t row_bytes, uint32_t rows, uint32_t stride) {
    (void)address, (void)row_bytes, (void)rows, (void)stride;
}

void axl_cache_invalidate_rows(uintptr_t address, uint32_t row_bytes, uint32_t rows, uint32_t stride) {
    for (uint32_t r = 0; r < rows; r++)
        axl_cache_invalidate(address + (uintptr_t)r * stride, row_bytes);
}

#include "../src/by_line.h"

void axl_map_uncached(uintptr_t address, uint32_t bytes) { (void)address, (void)bytes; }

void axl_memory_barrier(void) {}

/* Half of AXL_CPU_HZ a second, as the runtime takes it. */
uint64_t axl_timer(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * (AXL_CPU_HZ / 2u) + (uint64_t)now.tv_nsec * (AXL_CPU_HZ / 2) / 1000000000u;
}
