/* Caches and time of a Linux process, and what it says when a wait fails.
 *
 * A port that does not look into the caches needs them maintained. On AArch64 a process may do so itself (SCTLR_EL1.UCI
 * is set by Linux); on ARMv7 it may not, and asks the kernel through the files of u-dma-buf, or has its memory mapped
 * uncached (AXL_DMA_CACHED=0), which is faster for the small pieces that a driver hands over. */
#define _GNU_SOURCE
#include "devices.h"

#include <time.h>
#include <unistd.h>

typedef struct {
    uintptr_t address;
    uint32_t row_bytes, rows, stride;
} region;

#ifdef __aarch64__

#include "../src/arm64_lines.h"

void axl_memory_barrier(void) { __asm__ volatile("dsb sy" ::: "memory"); }

static void clean(region all) { axl_clean_lines(all.address, all.row_bytes, all.rows, all.stride); }
static void invalidate(region all) { axl_invalidate_lines(all.address, all.row_bytes, all.rows, all.stride); }

#else

void axl_memory_barrier(void) { __asm__ volatile("dsb" ::: "memory"); }

/* u-dma-buf's README, "Manage cache manually": one 64-bit number in hexadecimal. Bits 63:32 are the offset, 31:4 the
 * size (of whole 16 bytes), 3:2 the direction (0 both ways), and bit 0 says go. */
static void sync_file(int file, uintptr_t address, uint32_t bytes) {
    char text[18] = "0x";
    const uintptr_t within = AXL_CACHE_LINE - 1, first = address & ~within, end = (address + bytes + within) & ~within;
    uint64_t value = (uint64_t)(first - AXL_REGION) << 32 | (uint32_t)(end - first) | 1;
    for (int digit = 17; digit >= 2; digit--, value >>= 4)
        text[digit] = "0123456789ABCDEF"[value & 15];
    if (file < 0)
        return; /* nothing of the region is cached then */
    if (pwrite(file, text, sizeof text, 0) != (ssize_t)sizeof text)
        axl_say("udmabuf refuses %s for its caches", text);
}

/* Row by row: between the rows lies what others write. */
static void sync_rows(int file, region all) {
    axl_memory_barrier();
    if (all.stride == all.row_bytes || all.rows == 1)
        sync_file(file, all.address, all.rows * all.row_bytes);
    else
        for (uint32_t r = 0; r < all.rows; r++)
            sync_file(file, all.address + r * all.stride, all.row_bytes);
}

static void clean(region all) { sync_rows(axl_memory.sync_device, all); }
static void invalidate(region all) { sync_rows(axl_memory.sync_cpu, all); }

#endif

void axl_cache_clean_rows(uintptr_t address, uint32_t row_bytes, uint32_t rows, uint32_t stride) {
    clean((region){address, row_bytes, rows, stride});
}

void axl_cache_discard_rows(uintptr_t address, uint32_t row_bytes, uint32_t rows, uint32_t stride) {
    clean((region){address, row_bytes, rows, stride}); /* nothing dirty is left; what lies beside is not lost */
}

void axl_cache_invalidate_rows(uintptr_t address, uint32_t row_bytes, uint32_t rows, uint32_t stride) {
    invalidate((region){address, row_bytes, rows, stride});
}

void axl_cache_clean(uintptr_t address, uint32_t bytes) { axl_cache_clean_rows(address, bytes, 1, 0); }
void axl_cache_discard(uintptr_t address, uint32_t bytes) { axl_cache_discard_rows(address, bytes, 1, 0); }
void axl_cache_invalidate(uintptr_t address, uint32_t bytes) { axl_cache_invalidate_rows(address, bytes, 1, 0); }

#include "../src/by_line.h"

/* The queues' slots are not in on-chip memory here, and windows are mapped as they are to be. */
void axl_ocm_invalidate(uintptr_t address, uint32_t bytes) { (void)address, (void)bytes; }
void axl_map_uncached(uintptr_t address, uint32_t bytes) { (void)address, (void)bytes; }

#if AXL_DMA_IRQ
#error "AXL_DMA_IRQ: under Linux the runtime polls"
#endif
void axl_wait_for_interrupt(void) {}

uint64_t axl_timer(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * (AXL_CPU_HZ / 2) + (uint64_t)now.tv_nsec * (AXL_CPU_HZ / 2) / 1000000000u;
}

/* --- what is said of a wait that failed -------------------------------------------------------------------------- */

/* PG021, DMASR. */
static void say_channel(const char *name, uint32_t base) {
    static const struct {
        uint32_t bit;
        const char *text;
    } bits[] = {{DMASR_HALTED, " halted"},
                {DMASR_IDLE, " idle"},
                {DMASR_DMAINTERR, " internal-error"},
                {DMASR_DMASLVERR, " slave-error"},
                {DMASR_DMADECERR, " decode-error"},
                {DMASR_SGINTERR, " descriptor-internal-error"},
                {DMASR_SGSLVERR, " descriptor-slave-error"},
                {DMASR_SGDECERR, " descriptor-decode-error"}};
    const uint32_t control = dma_read_register(base + DMACR), status = dma_read_register(base + DMASR);
    const uint32_t place = dma_read_register(base + (AXL_DMA_SG ? CURDESC : ADDRESS));
    const uint32_t last = dma_read_register(base + (AXL_DMA_SG ? TAILDESC : LENGTH));
    char text[160], *to = text;
    for (uint32_t i = 0; i < sizeof bits / sizeof *bits; i++)
        for (const char *from = bits[i].text; status & bits[i].bit && *from;)
            *to++ = *from++;
    *to = 0;
    axl_say("%s: DMACR %x (%s), DMASR %x:%s; %s %x, %s %x", name, (uint64_t)control, control & DMACR_RS ? "run" : "stopped",
            (uint64_t)status, to == text ? " transfer under way" : text, AXL_DMA_SG ? "current descriptor" : "address",
            (uint64_t)place, AXL_DMA_SG ? "last one" : "bytes", (uint64_t)last);
}

dma_status axl_wait_failed(const dma_channel *channel, dma_status status) {
    axl_say("%s: %s", channel->base == MM2S ? "sending" : "receiving", dma_status_text(status));
    say_channel("MM2S (to the accelerator)", MM2S);
    say_channel("S2MM (from it)", S2MM);
    if (status == DMA_ERR_TIMEOUT)
        axl_say("%s", channel->base == MM2S
                          ? "the accelerator does not take its words: is it in reset, or does it wait to send a result that nobody receives?"
                          : "no more words come: were all operands sent, in the form that the specification says, and does TLAST end a result?");
    return status;
}
