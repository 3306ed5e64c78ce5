// Which memory the guest's caches may hold, by section of 1 MiB.
//
// Read from the guest's own first-level table whenever it changes SCTLR, TTBR0 or the TLB, so that a wrong
// attribute in start-up code has the effect it has on the chip. Sections only: of a second-level table (in AArch64
// of any) the first page speaks for its section. The S bit is not looked at (Xilinx's own tables set it, with SMP mode on).
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>

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

    struct Wide { // registers of EL1
        uint64_t sctlr, ttbr0, tcr, mair;
    };

    // ARMv8-A ARM, D5.3 (descriptors, granule of 4 KiB) and D13.2.118 (SCTLR_EL1). True if data may be cached at all;
    // `moved` is the first address that is not mapped to itself, if there is one.
    bool read(const Wide &from, const uint8_t *ram, uint64_t ram_size, std::optional<uint32_t> &moved) {
        reset(ram_size);
        fetch_cached = from.sctlr & (1u << 12);
        if (!(from.sctlr & 1u))
            return false;
        for (uint64_t address = 0; address < 1ull << 32; address += 1u << 20) {
            uint64_t to = address;
            const uint64_t entry = entry_of(from, address, ram, ram_size, to);
            const uint32_t kind = from.mair >> 8 * (entry >> 2 & 7) & 0xFF; // 0x0n is a device, a half of 4 is not cached
            if (entry && to != address && !moved)
                moved = static_cast<uint32_t>(address);
            if (entry && from.sctlr & (1u << 2) && data[address >> 20] == Attribute::UNCACHED && kind >> 4 != 0 &&
                kind >> 4 != 4 && (kind & 15) != 4)
                data[address >> 20] = Attribute::CACHED;
        }
        return from.sctlr & (1u << 2);
    }

  private:
    // The block or page that `address` is in, and where that is; 0: it is in none.
    static uint64_t entry_of(const Wide &from, uint64_t address, const uint8_t *ram, uint64_t ram_size, uint64_t &to) {
        const uint32_t unused_bits = from.tcr & 63; // T0SZ
        uint64_t table = from.ttbr0 & 0xFFFFFFFFF000u;
        for (uint32_t level = unused_bits >= 34 ? 2 : unused_bits >= 25 ? 1 : 0; level <= 3; level++) {
            const uint32_t shift = 39 - 9 * level;
            const uint64_t place = table + 8 * (address >> shift & 511), within = (1ull << shift) - 1;
            if (place + 8 > ram_size)
                return 0;
            uint64_t entry;
            memcpy(&entry, ram + place, sizeof entry);
            if (!(entry & 1))
                return 0;
            table = entry & 0xFFFFFFFFF000u;
            if (level == 3 || !(entry & 2)) {
                to = (table & ~within) | (address & within);
                return entry;
            }
        }
        return 0;
    }

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
