#error "xintc.h: the simulated system has no AXI interrupt controller: interrupts of the fabric come to xscugic.h"
