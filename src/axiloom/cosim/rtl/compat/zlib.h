// zlib's interface, as far as Verilator's FST writer uses it, without compressing: the writer stores
// raw whatever did not become smaller. What matters for size goes through LZ4 (lz4.h beside this).
#ifndef AXL_COMPAT_ZLIB_H
#define AXL_COMPAT_ZLIB_H

using Bytef = unsigned char;
using uLong = unsigned long;
using uLongf = unsigned long;

constexpr int Z_OK = 0;

inline uLong compressBound(uLong size) { return size; }
inline int compress2(Bytef *, uLongf *target_size, const Bytef *, uLong source_size, int) {
    *target_size = source_size;  // no smaller than the source, so never read
    return Z_OK;
}

#endif
