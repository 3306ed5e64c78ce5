/* Tables on this machine, where nothing is a port: host_queue.c runs them. */
#undef AXL_DMA_COHERENT
#define AXL_DMA_COHERENT 1
#include_next "axiloom_table.h"
