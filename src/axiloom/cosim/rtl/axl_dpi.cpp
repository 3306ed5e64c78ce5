// DPI functions of axiloom_tb.v under Verilator. All but the timed step of the CPU are the core's own.
#include "axl_glue.h"
