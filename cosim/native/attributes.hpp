// Which memory the guest's caches may hold, by section of 1 MiB. The host knows where they come from: a table that the
// guest has made (so that a wrong attribute in start-up code has the effect it has on the chip), or the chip itself.
#pragma once

#include <cstdint>

namespace axl {

enum class Attribute : uint8_t { DEVICE, UNCACHED, CACHED };

constexpr uint32_t SECTION_SHIFT = 20, SECTIONS = 1u << (32 - SECTION_SHIFT);

struct Attributes {
    Attribute data[SECTIONS];
    bool fetch_cached = false;

    // RAM is [0, ram_size). Without caches.
    void reset(uint64_t ram_size) {
        for (uint32_t section = 0; section < SECTIONS; section++)
            data[section] = (static_cast<uint64_t>(section) << SECTION_SHIFT) < ram_size ? Attribute::UNCACHED : Attribute::DEVICE;
        fetch_cached = false;
    }

    // The sections that [address, address + bytes) touches.
    void set(uint32_t address, uint32_t bytes, Attribute attribute) {
        for (uint32_t section = address >> SECTION_SHIFT; bytes && section <= (address + bytes - 1) >> SECTION_SHIFT; section++)
            data[section] = attribute;
    }
};

} // namespace axl
