// A64 instructions by their classes. Encodings: ARM Architecture Reference Manual ARMv8-A, C4.1.
// Coarser than A32: a Cortex-A53's profile is not calibrated.
#pragma once

#include "cpu/instruction.hpp"

namespace axl {

inline Instruction decode_a64(uint32_t w) {
    const auto simple = [](uint32_t kind) { return Instruction{kind, 0, Branch::NONE, false}; };
    const auto branch = [](Branch kind, bool conditional) { return Instruction{AXL_CLASS_BRANCH, 0, kind, conditional}; };
    if ((w & 0x1C000000) == 0x14000000) { // branches, exceptions, system
        if ((w & 0x7C000000) == 0x14000000)
            return branch(w & 0x80000000 ? Branch::CALL : Branch::DIRECT, false);
        if ((w & 0xFE000000) == 0xD6000000) {
            const uint32_t kind = w >> 21 & 15;
            return branch(kind == 1 ? Branch::INDIRECT_CALL : kind == 2 ? Branch::RETURN : Branch::INDIRECT, false);
        }
        if ((w & 0xFE000000) == 0xD4000000)
            return (w & 0xFF000000) == 0xD5000000 && (w & 0xFFFFF01F) != 0xD503201F ? simple(AXL_CLASS_SYSTEM) : simple(AXL_CLASS_ALU);
        return branch(Branch::CONDITIONAL, true); // B.cond, CBZ, TBZ
    }
    if ((w & 0x1C000000) == 0x10000000) // immediates
        return simple(AXL_CLASS_ALU);
    if ((w & 0x0A000000) == 0x08000000) { // loads and stores
        const bool vector = w & 0x04000000;
        if ((w & 0x3A000000) == 0x28000000) { // pairs
            const uint32_t words = vector ? 2u << (w >> 30 & 3) : w & 0x80000000 ? 4 : 2;
            return {AXL_CLASS_MULTIPLE, words, Branch::NONE, false};
        }
        if ((w & 0xBE000000) == 0x0C000000) { // LD1 to LD4, ST1 to ST4
            static const uint8_t registers[16] = {4, 4, 4, 4, 3, 3, 3, 1, 2, 2, 2, 2, 1, 1, 1, 1};
            const uint32_t n = w & 0x01000000 ? 1 : registers[w >> 12 & 15];
            return {AXL_CLASS_MULTIPLE, n * (w & 0x40000000 ? 4u : 2u), Branch::NONE, false};
        }
        if ((w & 0x3B000000) == 0x18000000) // literals
            return simple(AXL_CLASS_LOAD);
        if ((w & 0x3B000000) == 0x08000000) // exclusives
            return simple(w & 0x00400000 ? AXL_CLASS_LOAD : AXL_CLASS_STORE);
        const uint32_t opc = w >> 22 & 3;
        if (vector && opc & 2) // a Q register
            return {AXL_CLASS_MULTIPLE, 4, Branch::NONE, false};
        if (!vector && (w & 0xC0000000) == 0xC0000000 && opc == 2) // PRFM
            return simple(AXL_CLASS_ALU);
        return simple(opc ? AXL_CLASS_LOAD : AXL_CLASS_STORE);
    }
    if ((w & 0x0E000000) == 0x0A000000) { // registers
        if ((w & 0x1F000000) == 0x1B000000 || (w & 0x5FE0F800) == 0x1AC00800)
            return simple(AXL_CLASS_MUL); // three sources; divisions
        return simple(AXL_CLASS_ALU);
    }
    if ((w & 0x0E000000) == 0x0E000000) { // floating point and SIMD
        if ((w & 0x5F000000) == 0x1E000000 || (w & 0x5F000000) == 0x1F000000)
            return simple(AXL_CLASS_VFP);
        return {AXL_CLASS_NEON, w & 0x40000000 ? 1u : 0u, Branch::NONE, false}; // 128 bits: two passes
    }
    return simple(AXL_CLASS_SYSTEM);
}

} // namespace axl
