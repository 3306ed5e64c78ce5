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
    uint32_t watched_first = 1, watched_last = 0; // sections; none
    std::vector<Attribute> watched;               // theirs

    // From now on, of [address, address + bytes).
    void watch(uint32_t address, uint32_t bytes) {
        watched_first = address >> SECTION_SHIFT;
        watched_last = (address + bytes - 1) >> SECTION_SHIFT;
        watched.assign(watched_last - watched_first + 1, Attribute::UNCACHED);
        cover();
    }

    void unwatch() {
        watched_first = 1;
        watched_last = 0;
    }

    // Again, after `data` was written anew.
    void cover() {
        for (uint32_t section = watched_first; section <= watched_last; section++)
            if (data[section] != Attribute::WATCHED) {
                watched[section - watched_first] = data[section];
                data[section] = Attribute::WATCHED;
            }
    }

    Attribute under(uint32_t address) const {
        const Attribute found = data[address >> SECTION_SHIFT];
        return found == Attribute::WATCHED ? watched[(address >> SECTION_SHIFT) - watched_first] : found;
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
