// What gdb is told of a CPU: its registers, by the features of gdb's manual ("Standard Target Features"). Each host has its
// own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace axl {

struct Target {
    struct Register {
        std::string name;
        int id; // the engine's
        uint32_t bits;
        std::string type; // of gdb; empty: an integer
    };
    struct Feature {
        std::string name;
        std::vector<Register> registers; // in gdb's order
    };
    std::string architecture;
    std::vector<Feature> features;

    // The engine's numbers of `names` follow each other.
    static void add(Feature &feature, const std::string &letter, uint32_t first, uint32_t n, int id, uint32_t bits,
                    const std::string &type = "") {
        for (uint32_t i = 0; i < n; i++)
            feature.registers.push_back({letter + std::to_string(first + i), id + static_cast<int>(i), bits, type});
    }

    std::string xml() const;
};

} // namespace axl
