// Accesses beside the arrays that the program was given. The linker has left guards around them, in which nothing lies:
// who reads or writes there has left its array. See axl_watch.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "axl_core.h"

namespace axl {

struct Watch {
    static constexpr size_t LIMIT = 64;
    uint32_t low = 0, high = 0;      // arrays and guards are in [low, high)
    std::vector<axl_range_t> arrays; // by address
    std::vector<axl_outside_t> list;

    void reset() {
        low = high = 0;
        arrays.clear();
        list.clear();
    }

    bool is_near(uint32_t address) const { return address >= low && address < high && !arrays.empty(); }

    void look(uint32_t kind, uint32_t address, uint32_t bytes, uint32_t pc, uint32_t call, uint64_t cycle) {
        if (!is_near(address))
            return;
        const size_t array = nearest(address);
        const axl_range_t &of = arrays[array];
        if (address >= of.begin && address + bytes <= of.end)
            return;
        for (axl_outside_t &one : list)
            if (one.kind == kind && one.pc == pc && one.call == call && one.array == array) {
                one.count++;
                one.first = std::min(one.first, address);
                one.end = std::max(one.end, address + bytes);
                return;
            }
        if (list.size() < LIMIT)
            list.push_back({kind, static_cast<uint32_t>(array), address, address + bytes, pc, call, 1, cycle});
    }

  private:
    // The array that the address is in, or the one whose border is nearest.
    size_t nearest(uint32_t address) const {
        const auto behind = std::upper_bound(arrays.begin(), arrays.end(), address,
                                             [](uint32_t value, const axl_range_t &one) { return value < one.begin; });
        const size_t next = static_cast<size_t>(behind - arrays.begin());
        if (next == 0)
            return 0;
        const uint32_t end = arrays[next - 1].end;
        const bool is_next = next < arrays.size() && address >= end && arrays[next].begin - address < address - end;
        return is_next ? next : next - 1;
    }
};

} // namespace axl
