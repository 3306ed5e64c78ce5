// Which memory the guest's caches may hold, by section of 1 MiB.
//
// Read from the guest's own first-level table whenever it changes SCTLR, TTBR0 or the TLB, so that a wrong
// attribute in start-up code has the effect it has on the chip. Sections only: of a second-level table the first
// page speaks for its section. The S bit is not looked at (Xilinx's own tables set it, with SMP mode on).
#pragma once

#include <cstdint>
#include <cstring>

namespace axl {

enum class Attribute : uint8_t { DEVICE, UNCACHED, CACHED };

struct Attributes {
    Attribute data[4096];
    bool fetch_cached = false; // SCTLR.I

    // RAM is [0, ram_size). As out of reset: no MMU, no caches.
    void reset(uint64_t ram_size) {
        for (uint32_t section = 0; section < 4096; section++)
            data[section] = (static_cast<uint64_t>(section) << 20) < ram_size ? Attribute::UNCACHED : Attribute::DEVICE;
        fetch_cached = false;
    }

    // ARMv7-A ARM, B3.5.1 (descriptors) and B4.1.130 (SCTLR).
    void read(uint32_t sctlr, uint32_t ttbr0, const uint8_t *ram, uint64_t ram_size) {
        reset(ram_size);
        fetch_cached = sctlr & (1u << 12);
        bool mmu = sctlr & 1u, cache = sctlr & (1u << 2);
        uint64_t table = ttbr0 & 0xFFFFC000u;
        if (!mmu || !cache || table + sizeof(uint32_t) * 4096 > ram_size)
            return;
        for (uint32_t section = 0; section < 4096; section++) {
            uint32_t entry = load(ram + table + 4 * section);
            if (data[section] == Attribute::UNCACHED && cacheable(entry, ram, ram_size))
                data[section] = Attribute::CACHED;
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
