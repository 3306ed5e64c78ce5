// Memory that the host has given to an accelerator which reads and writes it itself: the accelerator's pointer registers
// say where, the specification how much. What it accesses beside is kept. See axl_pointers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "axl_core.h"

namespace axl {

struct Pointed {
    static constexpr size_t LIMIT = 64;
    struct Given {
        axl_pointer_t pointer;
        uint32_t address = 0;
        bool known = false;
    };
    std::vector<Given> given;
    std::vector<axl_strayed_t> list;

    void reset() {
        list.clear();
        for (Given &one : given)
            one.known = false;
    }

    // The CPU writes a register of a device.
    void write(uint32_t address, uint32_t value) {
        for (Given &one : given)
            if (one.pointer.at == address) {
                one.address = value;
                one.known = true;
            }
    }

    // The accelerator accesses a word.
    void look(bool writes, uint32_t address, uint64_t cycle) {
        const Given *nearest = nullptr;
        uint32_t distance = ~0u;
        for (const Given &one : given) {
            if (!one.known || (one.pointer.writes != 0) != writes)
                continue;
            const uint32_t away = from(one, address);
            if (away == 0)
                return;
            if (away < distance) {
                distance = away;
                nearest = &one;
            }
        }
        keep(writes, address, nearest, cycle);
    }

    // Is this word in an operand that the accelerator is to write?
    bool written(uint32_t address) const {
        for (const Given &one : given)
            if (one.known && one.pointer.writes && from(one, address) == 0)
                return true;
        return false;
    }

  private:
    static uint32_t from(const Given &one, uint32_t address) {
        if (address < one.address)
            return one.address - address;
        const uint32_t behind = address - one.address;
        return behind < one.pointer.bytes ? 0 : behind - one.pointer.bytes + 1;
    }

    void keep(bool writes, uint32_t address, const Given *nearest, uint64_t cycle) {
        const uint32_t number = nearest ? static_cast<uint32_t>(nearest - given.data()) : static_cast<uint32_t>(given.size());
        const int64_t offset = static_cast<int64_t>(address) - (nearest ? nearest->address : 0);
        for (axl_strayed_t &one : list)
            if (one.pointer == number && (one.writes != 0) == writes) {
                one.count++;
                one.first = std::min(one.first, offset);
                one.last = std::max(one.last, offset + 3);
                return;
            }
        if (list.size() < LIMIT)
            list.push_back({number, writes, offset, offset + 3, nearest ? nearest->address : 0, 0, 1, cycle});
    }
};

} // namespace axl
