/* What old drivers take from their environment. */
#ifndef XENV_H
#define XENV_H

#include <string.h>

#include "xil_cache.h"
#include "xil_types.h"

#define XENV_MEM_COPY(DestPtr, SrcPtr, Bytes) memcpy((void *)(DestPtr), (const void *)(SrcPtr), Bytes)
#define XENV_MEM_FILL(DestPtr, Data, Bytes) memset((void *)(DestPtr), Data, Bytes)

#endif
