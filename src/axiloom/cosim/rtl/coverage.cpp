// Which lines of the design were executed: Verilator's counts, in a file of its own format. Only in designs that count.
#include <verilated.h>

#include <verilated_cov.cpp>

extern "C" void axl_coverage(const char *file) { Verilated::threadContextp()->coveragep()->write(file); }
