/* See linux_dma.h. Compiled at -O3 like the library that it stands for. */
#include "linux_dma.h"
#include "../src/dma_registers.h"

#include <string.h>

/* RUN: all interrupts too, as published. */
enum { RUN = DMACR_RS | 0xF000, RESET = DMACR_RESET, IOC = DMASR_IOC_IRQ, IDLE = DMASR_IDLE };

#define SECTION (1u << 20)
#define SECTION_UNCACHED 0x1C02u /* normal, not cacheable, as O_SYNC makes of DDR; cf. sw/arm/start.S */

extern uint32_t axl_section_table[4096];

static uintptr_t base;
static uint32_t *in_buffer, *out_buffer;
static uint32_t in_size, out_size;

/* Linux on ARM, EABI: the number in r7. The process has all of its addresses equal to the physical ones. */
static inline long msync_registers(void) {
    register long number __asm__("r7") = 144; /* msync(address, length, MS_SYNC) */
    register long address __asm__("r0") = (long)base;
    register long length __asm__("r1") = 4096;
    register long flags __asm__("r2") = 4;
    __asm__ volatile("svc 0" : "+r"(address) : "r"(number), "r"(length), "r"(flags) : "memory");
    return address;
}

static void set(uint32_t offset, uint32_t value) { *(volatile uint32_t *)(base + offset) = value; }
static uint32_t get(uint32_t offset) { return *(volatile uint32_t *)(base + offset); }

/* mmap. Nothing of the buffers is in the caches yet. */
static void map_uncached(uint32_t address, uint32_t words) {
    uint32_t last = (address + 4 * words - 1) / SECTION;
    for (uint32_t i = address / SECTION; i <= last; i++) {
        axl_section_table[i] = i * SECTION | SECTION_UNCACHED;
        __asm__ volatile("mcr p15, 0, %0, c7, c10, 1\n\tdsb" ::"r"(&axl_section_table[i]) : "memory");
    }
    __asm__ volatile("mcr p15, 0, %0, c8, c7, 0\n\tdsb\n\tisb" ::"r"(0) : "memory"); /* TLBIALL */
}

void linux_dma_init(uint32_t registers, uint32_t in_address, uint32_t in_words, uint32_t out_address,
                    uint32_t out_words) {
    base = registers;
    map_uncached(in_address, in_words);
    map_uncached(out_address, out_words);
    in_buffer = (uint32_t *)(uintptr_t)in_address;
    out_buffer = (uint32_t *)(uintptr_t)out_address;
    in_size = in_words;
    out_size = out_words;
    set(MM2S + DMACR, RESET);
    while (get(MM2S + DMACR) & RESET)
        ;
    set(S2MM + DMACR, RUN);
    set(MM2S + DMACR, RUN);
}

uint32_t *linux_dma_in(void) { return in_buffer; }
uint32_t *linux_dma_out(void) { return out_buffer; }

static void wait(uint32_t status) {
    uint32_t value;
    do {
        msync_registers();
        value = get(status);
    } while (!(value & IOC) || !(value & IDLE));
}

int linux_dma_start_send(uint32_t words, uint32_t offset) {
    if (offset + words > in_size)
        return -1;
    set(MM2S + ADDRESS, (uint32_t)(uintptr_t)(in_buffer + offset));
    msync_registers();
    set(MM2S + LENGTH, 4 * words);
    return 0;
}

int linux_dma_start_recv(uint32_t words, uint32_t offset) {
    if (offset + words > out_size)
        return -1;
    set(S2MM + ADDRESS, (uint32_t)(uintptr_t)(out_buffer + offset));
    msync_registers();
    set(S2MM + LENGTH, 4 * words);
    return 0;
}

void linux_dma_wait_send(void) { wait(MM2S + DMASR); }
void linux_dma_wait_recv(void) { wait(S2MM + DMASR); }

/* Ranked from unranked: the library takes matrices of any rank, and finds out here that it is two. */
typedef struct {
    int64_t rank;
    int32_t *data;
    int64_t offset;
    const int64_t *sizes, *strides;
} view;

static view look(int64_t rank, const void *descriptor) {
    const memref2 *matrix = descriptor;
    return (view){rank, matrix->aligned, rank ? matrix->offset : 0, matrix->sizes, matrix->strides};
}

/* Row strides of the dense tile in the buffer, by rank: what the last dimensions multiply to. */
static int dense(const view *v, int64_t *strides) {
    for (int64_t i = 0; i < v->rank; i++)
        if (v->sizes[i] == 0)
            return 0;
    for (int64_t i = 0; i < v->rank; i++) {
        strides[i] = 1;
        for (int64_t j = i + 1; j < v->rank; j++)
            strides[i] *= v->sizes[j];
    }
    return 1;
}

int linux_copy_to(int64_t rank, const void *descriptor, uint32_t offset) {
    view v = look(rank, descriptor);
    int64_t strides[2];
    const int32_t *src = v.data + v.offset;
    int32_t *dst = (int32_t *)in_buffer + offset;
    if (rank == 0) {
        *dst = *src;
        return 0;
    }
    if (!dense(&v, strides))
        return 0;
    for (int64_t row = 0; row < v.sizes[0]; row++, src += v.strides[0], dst += strides[0])
        memcpy(dst, src, (uint32_t)v.sizes[1] * sizeof *dst);
    return 0;
}

int linux_copy_from(int64_t rank, const void *descriptor, uint32_t offset) {
    view v = look(rank, descriptor);
    int64_t strides[2];
    const int32_t *src = (const int32_t *)out_buffer + offset;
    int32_t *dst = v.data + v.offset;
    if (rank == 0) {
        *dst = *src;
        return 0;
    }
    if (!dense(&v, strides))
        return 0;
    for (int64_t row = 0; row < v.sizes[0]; row++, dst += v.strides[0], src += strides[0])
        memcpy(dst, src, (uint32_t)v.sizes[1] * sizeof *dst);
    return 0;
}
