// Attributes of memory from the guest's first-level table, as ARMv7 has them. Sections only: of a second-level table the
// first page speaks for its section. The S bit is not looked at (Xilinx's own tables set it, with SMP mode on).
// References: ARMv7-A ARM, B3.5.1 (descriptors) and B4.1.130 (SCTLR).
#pragma once

#include <cstdint>
#include <cstring>

#include "memory/attributes.hpp"

namespace axl {

class TablesArmv7 {
  public:
    static void read(Attributes &attributes, uint32_t sctlr, uint32_t ttbr0, const uint8_t *ram, uint64_t ram_size) {
        attributes.reset(ram_size);
        attributes.fetch_cached = sctlr & (1u << 12);
        bool mmu = sctlr & 1u, cache = sctlr & (1u << 2);
        uint64_t table = ttbr0 & 0xFFFFC000u;
        if (!mmu || !cache || table + sizeof(uint32_t) * SECTIONS > ram_size)
            return;
        for (uint32_t section = 0; section < SECTIONS; section++) {
            uint32_t entry = load(ram + table + 4 * section);
            Attribute &data = attributes.data[section];
            if (data == Attribute::UNCACHED && cacheable(entry, ram, ram_size))
                data = Attribute::CACHED;
        }
    }

  private:
    static uint32_t load(const uint8_t *from) {
        uint32_t value;
        memcpy(&value, from, sizeof value);
        return value;
    }

    static bool cacheable(uint32_t entry, const uint8_t *ram, uint64_t ram_size) {
        if ((entry & 3) == 2)
            return cacheable_bits((entry >> 12) & 7, (entry >> 2) & 3);
        uint64_t pages = entry & 0xFFFFFC00u;
        if ((entry & 3) != 1 || pages + 4 > ram_size)
            return false;
        uint32_t page = load(ram + pages);
        uint32_t tex = (page & 3) == 1 ? (page >> 12) & 7 : (page >> 6) & 7;
        return (page & 3) != 0 && cacheable_bits(tex, (page >> 2) & 3);
    }

    // ARMv7-A ARM, table B3-10: C is bit 1 of `cb`, B bit 0. TEX = 1BB: the inner policy is in C and B.
    static bool cacheable_bits(uint32_t tex, uint32_t cb) {
        if (tex & 4)
            return cb != 0;
        return (tex == 0 && cb >= 2) || (tex == 1 && cb == 3);
    }
};

} // namespace axl
