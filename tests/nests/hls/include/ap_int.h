// A stand-in for AMD's ap_int.h, to run generated HLS C++ with a host compiler: widths of 1 to 64 bits.
// Operators compute in the host's 64-bit integers, and a result wraps where it is assigned (UG1399, "Arbitrary
// Precision Integer Library"; of the library's methods only what generated code uses).
#ifndef AXILOOM_AP_INT_H
#define AXILOOM_AP_INT_H

#include <cstdint>

template <int W> struct ap_int {
    int64_t raw;
    ap_int() : raw(0) {}
    ap_int(int64_t value) : raw((int64_t)((uint64_t)value << (64 - W)) >> (64 - W)) {}
    operator int64_t() const { return raw; }
};

template <int W> struct ap_uint {
    uint64_t raw;
    ap_uint() : raw(0) {}
    ap_uint(uint64_t value) : raw(value << (64 - W) >> (64 - W)) {}
    operator uint64_t() const { return raw; }
};

#endif
