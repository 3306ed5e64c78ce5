// Static properties of a translated block: instructions, base cost, the branch at its end.
#pragma once

#include <cstdint>

#include "axl_core.h"
#include "cpu/instruction.hpp"
#include "cpu/predictor.hpp"

namespace axl {

struct Block {
    uint32_t address = 0xFFFFFFFF, size = 0;
    uint32_t instructions = 0;
    uint32_t cost = 0; // 1/64 cycle
    uint64_t runs = 0;
    uint32_t function = 0; // for Timeline; whoever decodes sets it
    uint16_t classes[AXL_CLASSES] = {}; // instructions of each; words, passes of those that have several
    uint32_t branch_pc = 0;
    Branch branch = Branch::NONE;
    bool conditional = false;
    bool multiple = false; // has a load or store of several registers

    uint32_t end() const { return address + size; }

    // `decode(pc, bytes)` gives the instruction at pc and sets the bytes that it takes; `price` is axl_config.cost.
    template <typename Decode> void fill(uint32_t address_, uint32_t size_, const uint32_t *price, Decode decode) {
        *this = Block();
        address = address_;
        size = size_;
        for (uint32_t pc = address; pc < address + size;) {
            uint32_t bytes = 4;
            const Instruction in = decode(pc, bytes);
            instructions++;
            multiple |= in.kind == AXL_CLASS_MULTIPLE;
            const uint32_t further = in.kind == AXL_CLASS_NEON ? AXL_CLASS_NEON : AXL_CLASS_WORD;
            classes[in.kind]++;
            classes[further] = static_cast<uint16_t>(classes[further] + in.words);
            cost += price[in.kind] + in.words * price[further];
            branch = in.branch; // the last instruction decides: a branch ends its block
            conditional = in.conditional;
            branch_pc = pc;
            pc += bytes;
        }
    }
};

} // namespace axl
