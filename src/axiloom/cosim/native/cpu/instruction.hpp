// What a decoder says of one instruction.
#pragma once

#include <cstdint>

#include "axl_core.h"
#include "cpu/predictor.hpp"

namespace axl {

struct Instruction {
    uint32_t kind = AXL_CLASS_ALU;
    uint32_t words = 0; // AXL_CLASS_MULTIPLE: words; AXL_CLASS_NEON: passes after the first
    Branch branch = Branch::NONE;
    bool conditional = false;
};

} // namespace axl
