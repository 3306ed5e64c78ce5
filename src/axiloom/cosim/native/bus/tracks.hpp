// Intervals of a timeline, in bounded memory.
#pragma once

#include <cstdint>
#include <vector>

#include "axl_profile.h"

namespace axl {

// Intervals of one track follow each other and do not overlap. When there are more than `limit` of all tracks
// together, neighbours are merged until half are left; `resolution` says how long a merged one may be.
class Tracks {
  public:
    uint64_t resolution = 0; // fabric cycles; 0: nothing was merged
    uint32_t limit = 0;      // 0: nothing is recorded
    double cpu_per_fabric = 1;

    void reset() {
        resolution = 0;
        count = 0;
        for (auto &track : tracks)
            track.clear();
    }

    void add(const axl_interval_t &interval) {
        if (!limit || interval.begin >= interval.end)
            return;
        std::vector<axl_interval_t> &track = tracks[interval.track];
        if (resolution && !track.empty() && merge(track.back(), interval))
            return;
        track.push_back(interval);
        if (++count > limit)
            coarsen();
    }

    const std::vector<axl_interval_t> &all() {
        flat.clear();
        for (const auto &track : tracks)
            flat.insert(flat.end(), track.begin(), track.end());
        return flat;
    }

  private:
    uint32_t count = 0;
    std::vector<axl_interval_t> tracks[AXL_TRACKS], flat;

    uint64_t ticks(uint32_t track) const {
        return track == AXL_TRACK_CPU ? static_cast<uint64_t>(static_cast<double>(resolution) * cpu_per_fabric) : resolution;
    }

    // The longer of the two gives the merged one its kind. Gaps are closed only between two of a kind.
    bool merge(axl_interval_t &into, const axl_interval_t &next) const {
        const uint64_t most = ticks(next.track);
        const bool alike = into.kind == next.kind && into.name == next.name;
        if (next.end - into.begin > most || (next.begin > into.end && !alike))
            return false;
        if (next.end - next.begin > into.end - into.begin) {
            into.kind = next.kind;
            into.name = next.name;
            into.address = next.address;
        }
        into.end = next.end;
        into.bytes += next.bytes;
        into.count += next.count;
        return true;
    }

    void coarsen() {
        while (count > limit / 2 && resolution < (1ull << 40)) {
            resolution = resolution ? 2 * resolution : 16;
            count = 0;
            for (auto &track : tracks) {
                std::vector<axl_interval_t> kept;
                for (const axl_interval_t &interval : track)
                    if (kept.empty() || !merge(kept.back(), interval))
                        kept.push_back(interval);
                track.swap(kept);
                count += static_cast<uint32_t>(track.size());
            }
        }
    }
};

} // namespace axl
