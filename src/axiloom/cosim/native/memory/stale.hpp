// Reports of data that caches and memory disagree on. See axl_stale_kind.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "axl_core.h"

namespace axl {

// An instruction, and where the program's own code called the code that it is in (0: it is the program's own).
struct Place {
    uint32_t pc = 0, call = 0;
};

struct StaleReports {
    static constexpr size_t LIMIT = 64;
    std::vector<axl_stale_t> list;

    void reset() { list.clear(); }

    // Bytes [first, last]; `culprit` has done wrong, `other` is what it did wrong to, or what saw it.
    void add(uint32_t kind, uint32_t first, uint32_t last, Place culprit, Place other, Place store, bool by_dma, uint64_t cycle) {
        for (axl_stale_t &report : list)
            if (report.kind == kind && report.pc == culprit.pc && report.call == culprit.call && report.by_dma == by_dma) {
                report.count++;
                report.first = std::min(report.first, first);
                report.last = std::max(report.last, last);
                return;
            }
        if (list.size() < LIMIT)
            list.push_back(
                {kind, first, last, culprit.pc, culprit.call, other.pc, other.call, store.pc, store.call, by_dma, 1, cycle});
    }
};

} // namespace axl
