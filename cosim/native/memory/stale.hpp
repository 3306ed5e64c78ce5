// Reports of data that caches and memory disagree on. See axl_stale_kind.
#pragma once

#include <cstddef>
#include <vector>

#include "axl_core.h"

namespace axl {

struct StaleReports {
    static constexpr size_t LIMIT = 64;
    std::vector<axl_stale_t> list;

    void reset() { list.clear(); }

    void add(uint32_t kind, uint32_t address, uint32_t pc, uint64_t cycle) {
        for (axl_stale_t &report : list)
            if (report.kind == kind && report.pc == pc) {
                report.count++;
                if (address < report.line)
                    report.line = address;
                if (address > report.last)
                    report.last = address;
                return;
            }
        if (list.size() < LIMIT)
            list.push_back({kind, address, address, pc, 1, cycle});
    }
};

} // namespace axl
