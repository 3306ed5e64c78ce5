#include "xil_cache.h"
#include "xil_io.h"
#include "xil_types.h"
