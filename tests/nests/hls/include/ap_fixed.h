// A stand-in for AMD's ap_fixed.h, to run generated HLS C++ with a host compiler: ap_fixed<W, I> and ap_ufixed<W, I>
// of at most 64 bits. Sums, differences and products are exact, and are rounded and wrapped, or stopped at the
// range's ends, where they are assigned (UG1399, "Arbitrary Precision Fixed-Point Data Types"; only what generated
// code uses).
#ifndef AXILOOM_AP_FIXED_H
#define AXILOOM_AP_FIXED_H

#include <cmath>
#include <cstdint>

enum ap_q_mode { AP_TRN, AP_RND };   // towards minus infinity; to the nearest, halves up
enum ap_o_mode { AP_WRAP, AP_SAT };

// units * 2^-fraction, wide enough for a product.
struct ap_exact {
    __int128 units;
    int fraction;
};

static inline ap_exact ap_at(ap_exact x, int fraction) { return {x.units * ((__int128)1 << (fraction - x.fraction)), fraction}; }
static inline int ap_finer(ap_exact x, ap_exact y) { return x.fraction > y.fraction ? x.fraction : y.fraction; }
static inline ap_exact operator+(ap_exact x, ap_exact y) { int f = ap_finer(x, y); return {ap_at(x, f).units + ap_at(y, f).units, f}; }
static inline ap_exact operator-(ap_exact x, ap_exact y) { int f = ap_finer(x, y); return {ap_at(x, f).units - ap_at(y, f).units, f}; }
static inline ap_exact operator*(ap_exact x, ap_exact y) { return {x.units * y.units, x.fraction + y.fraction}; }
static inline ap_exact operator-(ap_exact x) { return {-x.units, x.fraction}; }
#define AP_COMPARE(op) static inline bool operator op(ap_exact x, ap_exact y) { int f = ap_finer(x, y); return ap_at(x, f).units op ap_at(y, f).units; }
AP_COMPARE(<) AP_COMPARE(<=) AP_COMPARE(>) AP_COMPARE(>=) AP_COMPARE(==) AP_COMPARE(!=)
#undef AP_COMPARE

template <int W, bool S> static inline __int128 ap_fit(__int128 units, bool stop) {
    const __int128 low = S ? -((__int128)1 << (W - 1)) : 0, high = ((__int128)1 << (W - S)) - 1;
    if (stop) return units < low ? low : units > high ? high : units;
    const unsigned __int128 bits = (unsigned __int128)units << (128 - W);
    return S ? (__int128)bits >> (128 - W) : (__int128)(bits >> (128 - W));
}

template <int W, int I, ap_q_mode Q, ap_o_mode O, bool S> struct ap_point {
    static constexpr int fraction = W - I;
    __int128 raw;
    ap_point() : raw(0) {}
    ap_point(ap_exact x) {
        const int shift = x.fraction - fraction;
        if (shift <= 0) x.units *= (__int128)1 << -shift;
        else x.units = (x.units + (Q == AP_RND ? (__int128)1 << (shift - 1) : 0)) >> shift;
        raw = ap_fit<W, S>(x.units, O == AP_SAT);
    }
    ap_point(int x) : ap_point(ap_exact{x, 0}) {}
    ap_point(long x) : ap_point(ap_exact{x, 0}) {}
    ap_point(unsigned x) : ap_point(ap_exact{x, 0}) {}
    ap_point(unsigned long x) : ap_point(ap_exact{(__int128)x, 0}) {}
    ap_point(double x) {
        double units = std::ldexp(x, fraction);
        units = Q == AP_RND && std::fabs(units) < 0x1p50 ? std::floor(units + 0.5) : std::floor(units);
        units = units > 0x1p100 ? 0x1p100 : units < -0x1p100 ? -0x1p100 : units;
        raw = ap_fit<W, S>((__int128)units, O == AP_SAT);
    }
    operator ap_exact() const { return {raw, fraction}; }
    double to_double() const { return std::ldexp((double)raw, -fraction); }
    float to_float() const { return (float)raw * std::ldexp(1.0f, -fraction); }
    int64_t to_int64() const { return (int64_t)(raw >> fraction); }
};

template <int W, int I, ap_q_mode Q = AP_TRN, ap_o_mode O = AP_WRAP> struct ap_fixed : ap_point<W, I, Q, O, true> {
    using ap_point<W, I, Q, O, true>::ap_point;
};
template <int W, int I, ap_q_mode Q = AP_TRN, ap_o_mode O = AP_WRAP> struct ap_ufixed : ap_point<W, I, Q, O, false> {
    using ap_point<W, I, Q, O, false>::ap_point;
};

#endif
