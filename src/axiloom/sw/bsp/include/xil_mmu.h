/* Attributes of memory, in sections of 1 MiB. */
#ifndef XIL_MMU_H
#define XIL_MMU_H

#include "xil_types.h"

#define NORM_NONCACHE 0x11DE2U
#define STRONG_ORDERED 0xC02U
#define DEVICE_MEMORY 0xC06U
#define RESERVED 0x0U
#define NORM_WT_CACHE 0x16DEAU
#define NORM_WB_CACHE 0x15DE6U
#define NORM_SHARED_NONCACHE NORM_NONCACHE

#ifdef __cplusplus
extern "C" {
#endif
extern u32 MMUTable[4096];
void Xil_SetTlbAttributes(INTPTR Addr, u32 attrib);
void *Xil_MemMap(UINTPTR PhysAddr, size_t size, u32 flags);
void Xil_EnableMMU(void);
void Xil_DisableMMU(void);
#ifdef __cplusplus
}
#endif

#endif
