#error "xgpio.h: the simulated system has no AXI GPIO"
