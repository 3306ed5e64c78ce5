#error "xaxicdma.h: the simulated system has no AXI CDMA"
