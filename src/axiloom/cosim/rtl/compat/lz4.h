// LZ4's block compressor, as far as Verilator's FST writer uses it, so that traces need no library.
// Format: github.com/lz4/lz4, doc/lz4_Block_format.md. Greedy, one hash table, no dictionary.
#ifndef AXL_COMPAT_LZ4_H
#define AXL_COMPAT_LZ4_H

#include <cstdint>
#include <cstring>
#include <vector>

inline int LZ4_compressBound(int size) { return size + size / 255 + 16; }

namespace axl_lz4 {

constexpr int kMinMatch = 4;
constexpr int kLastLiterals = 5;    // the format ends a block with at least these
constexpr int kMatchFindLimit = 12; // and no match begins in the last 12 bytes
constexpr int kWindow = 65535;
constexpr int kHashBits = 14;

inline uint32_t word(const uint8_t *p) {
    uint32_t v;
    std::memcpy(&v, p, 4);
    return v;
}

inline uint8_t *put_length(uint8_t *out, int length) {
    for (; length >= 255; length -= 255) *out++ = 255;
    *out++ = static_cast<uint8_t>(length);
    return out;
}

// Literals [from, to), then a match of `length` bytes `distance` back; length 0: the end of the block.
inline uint8_t *put_sequence(uint8_t *out, const uint8_t *from, const uint8_t *to, int distance, int length) {
    const int literals = static_cast<int>(to - from);
    const int extra = length ? length - kMinMatch : 0;
    *out++ = static_cast<uint8_t>((literals < 15 ? literals : 15) << 4 | (extra < 15 ? extra : 15));
    if (literals >= 15) out = put_length(out, literals - 15);
    if (literals) std::memcpy(out, from, literals);
    out += literals;
    if (!length) return out;
    *out++ = static_cast<uint8_t>(distance);
    *out++ = static_cast<uint8_t>(distance >> 8);
    return extra >= 15 ? put_length(out, extra - 15) : out;
}

}  // namespace axl_lz4

// `capacity` must be LZ4_compressBound(size), which always suffices. Returns the compressed size.
inline int LZ4_compress_default(const char *source, char *target, int size, int capacity) {
    using namespace axl_lz4;
    if (capacity < LZ4_compressBound(size)) return 0;
    const auto *const begin = reinterpret_cast<const uint8_t *>(source);
    const uint8_t *const end = begin + size;
    const uint8_t *literals = begin;
    auto *out = reinterpret_cast<uint8_t *>(target);
    std::vector<int> table(size_t{1} << kHashBits, -1);
    for (const uint8_t *at = begin; size > kMatchFindLimit && at < end - kMatchFindLimit;) {
        int &slot = table[word(at) * 2654435761u >> (32 - kHashBits)];
        const int candidate = slot, here = static_cast<int>(at - begin);
        slot = here;
        if (candidate < 0 || here - candidate > kWindow || word(begin + candidate) != word(at)) {
            ++at;
            continue;
        }
        int length = kMinMatch;
        while (at + length < end - kLastLiterals && at[length] == begin[candidate + length]) ++length;
        out = put_sequence(out, literals, at, here - candidate, length);
        at += length;
        literals = at;
    }
    out = put_sequence(out, literals, end, 0, 0);
    return static_cast<int>(out - reinterpret_cast<uint8_t *>(target));
}

#endif
