// Which memory the guest's caches may hold, by section of 1 MiB. The host knows where they come from: a table that the
// guest has made (so that a wrong attribute in start-up code has the effect it has on the chip), or the chip itself.
#pragma once

#include <cstdint>
#include <vector>

namespace axl {

// WATCHED: as `watched` says, and each access is looked at.
enum class Attribute : uint8_t { DEVICE, UNCACHED, CACHED, WATCHED };

constexpr uint32_t SECTION_SHIFT = 20, SECTIONS = 1u << (32 - SECTION_SHIFT);

struct Attributes {
    Attribute data[SECTIONS];
    bool fetch_cached = false;
    // What each section is beside being watched; WATCHED: nobody watches it.
    std::vector<Attribute> beside = std::vector<Attribute>(SECTIONS, Attribute::WATCHED);

    // From now on, the sections of [address, address + bytes).
    void watch(uint32_t address, uint32_t bytes) {
        for (uint32_t section = address >> SECTION_SHIFT; section <= (address + bytes - 1) >> SECTION_SHIFT; section++)
            beside[section] = under(section << SECTION_SHIFT);
        cover();
    }

    // None is watched; `data` is written anew, or was before.
    void unwatch() {
        for (uint32_t section = 0; section < SECTIONS; section++)
            data[section] = under(section << SECTION_SHIFT);
        beside.assign(SECTIONS, Attribute::WATCHED);
    }

    // Again, after `data` was written anew.
    void cover() {
        for (uint32_t section = 0; section < SECTIONS; section++)
            if (beside[section] != Attribute::WATCHED && data[section] != Attribute::WATCHED) {
                beside[section] = data[section];
                data[section] = Attribute::WATCHED;
            }
    }

    Attribute under(uint32_t address) const {
        const Attribute attribute = data[address >> SECTION_SHIFT];
        return attribute == Attribute::WATCHED ? beside[address >> SECTION_SHIFT] : attribute;
    }

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
        cover();
    }
};

} // namespace axl
