#error "xllfifo.h: the simulated system has no AXI4-Stream FIFO (axi_fifo_mm_s)"
