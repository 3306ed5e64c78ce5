#error "xttcps.h: the simulated system has no driver for the triple timers: take xscutimer.h or xtime_l.h"
