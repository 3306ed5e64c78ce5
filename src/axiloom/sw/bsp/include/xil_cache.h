/* Both levels of caches of a Zynq-7000. Flush writes changed lines to memory and empties them; Invalidate empties them.
 * Of a line at the edge of a range, Invalidate saves what is outside: it flushes that line. */
#ifndef XIL_CACHE_H
#define XIL_CACHE_H

#include "xil_types.h"

#ifdef __cplusplus
extern "C" {
#endif
void Xil_DCacheEnable(void);
void Xil_DCacheDisable(void);
void Xil_DCacheInvalidate(void);
void Xil_DCacheInvalidateRange(INTPTR adr, u32 len);
void Xil_DCacheInvalidateLine(u32 adr);
void Xil_DCacheFlush(void);
void Xil_DCacheFlushRange(INTPTR adr, u32 len);
void Xil_DCacheFlushLine(u32 adr);
void Xil_DCacheStoreLine(u32 adr);
void Xil_ICacheEnable(void);
void Xil_ICacheDisable(void);
void Xil_ICacheInvalidate(void);
void Xil_ICacheInvalidateRange(INTPTR adr, u32 len);
void Xil_ICacheInvalidateLine(u32 adr);

/* One level alone. */
void Xil_L1DCacheFlush(void);
void Xil_L1DCacheFlushRange(u32 adr, u32 len);
void Xil_L1DCacheInvalidate(void);
void Xil_L1DCacheInvalidateRange(u32 adr, u32 len);
void Xil_L2CacheEnable(void);
void Xil_L2CacheDisable(void);
void Xil_L2CacheFlush(void);
void Xil_L2CacheFlushRange(u32 adr, u32 len);
void Xil_L2CacheInvalidate(void);
void Xil_L2CacheInvalidateRange(u32 adr, u32 len);
#ifdef __cplusplus
}
#endif

#endif
