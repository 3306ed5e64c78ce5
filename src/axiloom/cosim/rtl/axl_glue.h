// Between the RTL and the core, the same for both simulators: how much of a run is the CPU's.
#ifndef AXL_GLUE_H
#define AXL_GLUE_H

#include <chrono>
#include <cstdint>

#include "axl_core.h"

// A clock that costs little beside a step of the CPU (half a microsecond). Its unit does not matter:
// the session takes shares of one run.
static inline uint64_t axl_ticks() {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t t;
    asm volatile("mrs %0, cntvct_el0" : "=r"(t));
    return t;
#else
    return std::chrono::steady_clock::now().time_since_epoch().count();
#endif
}

static uint64_t axl_cpu_ticks_sum;

extern "C" {
// For Python: ticks now, and ticks spent inside the CPU so far.
uint64_t axl_glue_ticks() { return axl_ticks(); }
uint64_t axl_glue_cpu_ticks() { return axl_cpu_ticks_sum; }

int axl_glue_cpu_step(int rdata, int resp, int irq, long long now, int *addr, int *wdata, int *delay) {
    const uint64_t begin = axl_ticks();
    const int op = axl_cpu_step(rdata, resp, irq, now, addr, wdata, delay);
    axl_cpu_ticks_sum += axl_ticks() - begin;
    return op;
}
}
#endif
