// Attributes of memory from the guest's tables, as AArch64 has them. By section of 1 MiB: of a table the first page
// speaks for its section. References: ARMv8-A ARM, D5.3 (descriptors, granule of 4 KiB) and D13.2.118 (SCTLR_EL1).
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>

#include "memory/attributes.hpp"

namespace axl {

struct TablesArmv8 { // registers of EL1
    uint64_t sctlr, ttbr0, tcr, mair;

    // True if data may be cached at all; `moved` is the first address that is not mapped to itself, if there is one.
    bool read(Attributes &attributes, const uint8_t *ram, uint64_t ram_size, std::optional<uint32_t> &moved) const {
        attributes.reset(ram_size);
        attributes.fetch_cached = sctlr & (1u << 12);
        if (!(sctlr & 1u))
            return false;
        for (uint64_t address = 0; address < 1ull << 32; address += 1u << SECTION_SHIFT) {
            uint64_t to = address;
            const uint64_t entry = entry_of(address, ram, ram_size, to);
            const uint32_t kind = mair >> 8 * (entry >> 2 & 7) & 0xFF; // 0x0n is a device, a half of 4 is not cached
            if (entry && to != address && !moved)
                moved = static_cast<uint32_t>(address);
            Attribute &data = attributes.data[address >> SECTION_SHIFT];
            if (entry && sctlr & (1u << 2) && data == Attribute::UNCACHED && kind >> 4 != 0 && kind >> 4 != 4 && (kind & 15) != 4)
                data = Attribute::CACHED;
        }
        return sctlr & (1u << 2);
    }

  private:
    // The block or page that `address` is in, and where that is; 0: it is in none.
    uint64_t entry_of(uint64_t address, const uint8_t *ram, uint64_t ram_size, uint64_t &to) const {
        const uint32_t unused_bits = tcr & 63; // T0SZ
        uint64_t table = ttbr0 & 0xFFFFFFFFF000u;
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
};

} // namespace axl
