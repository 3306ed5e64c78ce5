// The address that a load or store of ARMv7 begins at, computed again from its instruction: of ARM code (A5.3 to A5.7 of the
// ARM), and of Thumb code (A6.2, A6.3). `general`: a register by its number, without what the PC is ahead.
#pragma once

#include <cstdint>

namespace axl {

template <typename General> class TransferArmv7 {
  public:
    TransferArmv7(uint32_t pc, General general) : pc(pc), general(general) {}

    uint32_t arm(uint32_t w) const {
        const bool before = w >> 24 & 1, up = w >> 23 & 1;
        const uint32_t kind = w >> 25 & 7, first = base(w >> 16, 8), count = words(w);
        switch (kind) {
        case 2:
            return moved(first, w & 0xFFF, before, up);
        case 3:
            return moved(first, general(w & 15) << (w >> 7 & 31), before, up);
        case 0:
            if ((w & 0x60) == 0) // exclusive, or a swap
                return first;
            return moved(first, w & 0x00400000 ? (w >> 4 & 0xF0) | (w & 15) : general(w & 15), before, up);
        case 4:
            return up ? first + (before ? 4 : 0) : first - 4 * count + (before ? 0 : 4);
        case 6:
            return coprocessor(w, first);
        default:
            return first;
        }
    }

    // `w`: both halfwords, the first of them above; of a short instruction it alone counts.
    uint32_t thumb(uint32_t w) const {
        const uint32_t h = w >> 16;
        return h >> 11 >= 0x1D ? wide(w, h) : narrow(h);
    }

  private:
    const uint32_t pc;
    const General general;

    uint32_t base(uint32_t field, uint32_t ahead) const { return (field & 15) == 15 ? (pc + ahead) & ~3u : general(field & 15); }
    static uint32_t words(uint32_t w) { return static_cast<uint32_t>(__builtin_popcount(w & 0xFFFF)); }
    static uint32_t moved(uint32_t base, uint32_t offset, bool before, bool up) {
        return !before ? base : up ? base + offset : base - offset;
    }

    // VLDR has an offset; several registers begin at the base, or end there.
    static uint32_t coprocessor(uint32_t w, uint32_t first) {
        const bool before = w >> 24 & 1, up = w >> 23 & 1, several = !before || w >> 21 & 1;
        return moved(first, (w & 0xFF) << 2, true, up) - (several && up ? (w & 0xFF) << 2 : 0);
    }

    uint32_t narrow(uint32_t h) const {
        const uint32_t first = general(h >> 3 & 7), amount = h >> 6 & 31, far = (h & 0xFF) << 2;
        switch (h >> 12) {
        case 4:
            return ((pc + 4) & ~3u) + far;
        case 5:
            return first + general(h >> 6 & 7);
        case 6:
            return first + (amount << 2);
        case 7:
            return first + amount;
        case 8:
            return first + (amount << 1);
        case 9:
            return general(13) + far;
        case 11:
            return general(13) - (h & 0x800 ? 0 : 4 * words(h & 0x1FF));
        default:
            return general(h >> 8 & 7);
        }
    }

    uint32_t wide(uint32_t w, uint32_t h) const {
        const uint32_t first = base(h, 4);
        const bool before = h >> 8 & 1, up = h >> 7 & 1, writes_back = h >> 5 & 1;
        if ((h & 0xEE00) == 0xEC00)
            return coprocessor(w, first);
        if ((h & 0xFE40) == 0xE840) {
            if (before || writes_back)
                return moved(first, (w & 0xFF) << 2, before, up);
            if (!up)
                return first + ((w & 0xFF) << 2); // LDREX
            return (w >> 5 & 7) ? first : first + (general(w & 15) << (w >> 4 & 1)); // a table of branches
        }
        if ((h & 0xFE00) == 0xE800)
            return before ? first - 4 * words(w) : first;
        if ((h & 0xFF00) == 0xF900 && !(h & 0x10))
            return first; // VST1 and the like
        if (h & 0x80 || (h & 15) == 15)
            return moved(first, w & 0xFFF, true, up);
        if (w & 0x800)
            return moved(first, w & 0xFF, w >> 10 & 1, w >> 9 & 1);
        return first + (general(w & 15) << (w >> 4 & 3));
    }
};

} // namespace axl
