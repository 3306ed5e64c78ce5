/* What the files of the Linux platform share. Not for drivers. */
#ifndef AXL_LINUX_DEVICES_H
#define AXL_LINUX_DEVICES_H

#include "../src/dma_internal.h"

/* The reserved region, as the process has it. */
#define AXL_REGION 0x15C00000u

/* The reserved region: where it begins as a DMA sees it, its bytes, and what it was opened by. */
typedef struct {
    uint64_t physical, size;
    int from_mem;      /* /dev/mem, and no udmabuf: then nothing is cached */
    int sync_device, sync_cpu; /* the files of udmabuf that maintain caches; -1: there are none */
} axl_region;
extern axl_region axl_memory;

/* One line on standard error: "axiloom: ", then as printf with %s, %u and %x (0x and eight digits or more). */
void axl_say(const char *format, ...);

#endif
