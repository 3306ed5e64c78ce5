#include "xil_cache.h"
