#error "xtmrctr.h: the simulated system has no AXI Timer"
