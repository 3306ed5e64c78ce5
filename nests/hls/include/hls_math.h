// A stand-in for AMD's hls_math.h: what generated code uses of it.
#ifndef AXILOOM_HLS_MATH_H
#define AXILOOM_HLS_MATH_H

#include <cmath>

namespace hls {
static inline float sqrt(float x) { return std::sqrt(x); }
static inline float abs(float x) { return std::fabs(x); }
static inline float exp(float x) { return (float)std::exp((double)x); }
} // namespace hls

#endif
