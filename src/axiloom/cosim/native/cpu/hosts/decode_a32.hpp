// ARM and Thumb instructions by their classes. Encodings: ARM Architecture Reference Manual ARMv7-A, A5 (ARM) and A6 (Thumb).
#pragma once

#include <cstdint>
#include <cstring>

#include "cpu/instruction.hpp"

namespace axl {

class DecoderA32 {
  public:
    DecoderA32(const uint8_t *ram, bool thumb) : ram(ram), thumb(thumb) {}

    // The instruction at pc, and the bytes that it takes.
    Instruction operator()(uint32_t pc, uint32_t &bytes) const { return thumb ? decode_thumb(pc, bytes) : decode_arm(word(pc)); }

  private:
    const uint8_t *ram;
    bool thumb;

    uint32_t word(uint32_t address) const {
        uint32_t value;
        memcpy(&value, ram + address, sizeof value);
        return value;
    }

    uint16_t half(uint32_t address) const {
        uint16_t value;
        memcpy(&value, ram + address, sizeof value);
        return value;
    }

    static Instruction simple(uint32_t kind) { return {kind, 0, Branch::NONE, false}; }
    static Instruction neon(uint32_t passes) { return {AXL_CLASS_NEON, passes - 1, Branch::NONE, false}; }
    static Instruction multiple(uint32_t words) { return {AXL_CLASS_MULTIPLE, words, Branch::NONE, false}; }
    static Instruction branch(Branch kind, bool conditional) { return {AXL_CLASS_BRANCH, 0, kind, conditional}; }
    static uint32_t count(uint32_t bits) { return static_cast<uint32_t>(__builtin_popcount(bits)); }

    static Instruction decode_arm(uint32_t w) {
        bool conditional = w >> 28 < 14;
        if (w >> 28 == 15)
            return decode_unconditional(w);
        switch ((w >> 25) & 7) {
        case 0:
        case 1:
            return decode_data(w, conditional);
        case 2:
            return decode_transfer(w, conditional);
        case 3:
            if (w & 0x10) // media: signed multiplies in 0111 0xxx, the rest is like ALU
                return simple((w & 0x0F800000) == 0x07000000 ? AXL_CLASS_MUL : AXL_CLASS_ALU);
            return decode_transfer(w, conditional);
        case 4: {
            Instruction in = multiple(count(w & 0xFFFF));
            if ((w & 0x00108000) == 0x00108000) {
                in.branch = ((w >> 16) & 15) == 13 ? Branch::RETURN : Branch::INDIRECT;
                in.conditional = conditional;
            }
            return in;
        }
        case 5:
            return branch(w & 0x01000000 ? Branch::CALL : conditional ? Branch::CONDITIONAL : Branch::DIRECT, conditional);
        default:
            return decode_coprocessor(w);
        }
    }

    static Instruction decode_data(uint32_t w, bool conditional) {
        uint32_t rd = (w >> 12) & 15;
        if ((w & 0x0FFFFFF0) == 0x012FFF30)
            return branch(Branch::INDIRECT_CALL, conditional);
        if ((w & 0x0FFFFFD0) == 0x012FFF10)
            return branch((w & 15) == 14 ? Branch::RETURN : Branch::INDIRECT, conditional);
        if ((w & 0x0F0000F0) == 0x00000090 || (w & 0x0F900090) == 0x01000080)
            return simple(AXL_CLASS_MUL);
        if ((w & 0x0E000090) == 0x00000090) { // halfwords, doublewords, exclusives
            bool load = (w & 0x00100000) || (w & 0xF0) == 0xD0;
            return simple(load ? AXL_CLASS_LOAD : AXL_CLASS_STORE);
        }
        if ((w & 0x0F9000F0) == 0x01000000) // MRS, MSR
            return simple(AXL_CLASS_SYSTEM);
        bool compares = (w & 0x01800000) == 0x01000000; // TST.. CMN have no destination
        if (rd == 15 && !compares)
            return branch((w & 0x0FFFFFFF) == 0x01A0F00E ? Branch::RETURN : Branch::INDIRECT, conditional);
        return simple(AXL_CLASS_ALU);
    }

    static Instruction decode_transfer(uint32_t w, bool conditional) {
        if (!(w & 0x00100000))
            return simple(AXL_CLASS_STORE);
        Instruction in = simple(AXL_CLASS_LOAD);
        if (((w >> 12) & 15) == 15 && !(w & 0x00400000)) {
            in.branch = (w & 0x0FFF0000) == 0x049D0000 ? Branch::RETURN : Branch::INDIRECT; // pop {pc}
            in.conditional = conditional;
        }
        return in;
    }

    static Instruction decode_coprocessor(uint32_t w) {
        bool vfp = (w & 0x0E00) == 0x0A00;
        if ((w & 0x0F000000) == 0x0F000000 || !vfp)
            return simple(AXL_CLASS_SYSTEM);
        if ((w & 0x0E000000) == 0x0E000000 || (w & 0x0FE00000) == 0x0C400000)
            return simple(AXL_CLASS_VFP);
        if ((w & 0x01200000) == 0x01000000) // VLDR, VSTR
            return simple(w & 0x00100000 ? AXL_CLASS_LOAD : AXL_CLASS_STORE);
        return multiple(w & 0xFF);
    }

    static Instruction decode_unconditional(uint32_t w) {
        if ((w & 0xFE000000) == 0xFA000000)
            return branch(Branch::CALL, false);
        if ((w & 0xFE000000) == 0xF2000000)
            return neon(passes(w));
        if ((w & 0xFF100000) == 0xF4000000)
            return decode_element_transfer(w);
        if ((w & 0xFC700000) == 0xF4500000 || (w & 0xFC700000) == 0xF4100000) // PLD, PLI
            return simple(AXL_CLASS_ALU);
        return simple(AXL_CLASS_SYSTEM);
    }

    // Cycles in which a NEON instruction occupies the A9's pipeline. Integer arithmetic takes a Q register in one;
    // multiplier, shifter and floating point take 64 bits at a time, the multiplier 32-bit elements in two steps
    // (Cortex-A9 NEON MPE TRM, 3.4; LLVM's ARMScheduleA9.td has the same). Encodings: ARMv7-A ARM, A7.4.
    static uint32_t passes(uint32_t w) {
        uint32_t operation = (w >> 8) & 15, step = ((w >> 20) & 3) == 2 ? 2 : 1, quad = w & 0x40 ? 2 : 1;
        if (!(w & 0x00800000)) { // three registers of one length
            if (operation == 9 || (operation == 11 && !(w & 0x10)))
                return step * quad; // VMLA, VMLS, VMUL, VQDMULH
            bool slow = operation == 4 || operation == 5 || (operation == 7 && w & 0x10) || operation >= 13;
            return slow ? quad : 1; // VSHL by register, VABA, floating point
        }
        if ((w & 0x00300000) == 0x00300000 || w & 0x10)
            return 1; // VEXT, VTBL, two registers, immediates and shifts by one
        if (!(w & 0x40)) // long: Qd, Dn, Dm
            return operation >= 8 && operation != 15 ? step : 1;
        bool longs = (operation & 3) >= 2 && operation < 12, single = operation < 12 && (operation & 3) == 1;
        uint32_t both = w & 0x01000000 && !longs && operation != 11 ? 2 : 1;
        return single ? both : step * both; // by scalar: Q is bit 24 where the result is not long
    }

    // VLD1..4, VST1..4: all registers of a list, or one lane of each.
    static Instruction decode_element_transfer(uint32_t w) {
        if (w & 0x00800000)
            return multiple(1 + ((w >> 8) & 3));
        static const uint8_t registers[16] = {4, 4, 4, 2, 3, 3, 3, 1, 2, 2, 2, 0, 0, 0, 0, 0};
        return multiple(2u * registers[(w >> 8) & 15]);
    }

    // Coarser than ARM: the programs we build are ARM; a user's Thumb code gets its counts right, its costs nearly.
    Instruction decode_thumb(uint32_t pc, uint32_t &bytes) const {
        uint32_t w = half(pc);
        bytes = (w >> 11) >= 0x1D ? 4 : 2;
        if (bytes == 4)
            return decode_thumb_wide(w, half(pc + 2));
        if ((w & 0xF000) == 0xD000)
            return (w & 0x0F00) >= 0x0E00 ? simple(AXL_CLASS_SYSTEM) : branch(Branch::CONDITIONAL, true);
        if ((w & 0xF800) == 0xE000)
            return branch(Branch::DIRECT, false);
        if ((w & 0xF500) == 0xB100) // CBZ, CBNZ
            return branch(Branch::CONDITIONAL, true);
        if ((w & 0xFF80) == 0x4780)
            return branch(Branch::INDIRECT_CALL, false);
        if ((w & 0xFF80) == 0x4700)
            return branch((w & 0x78) == 0x70 ? Branch::RETURN : Branch::INDIRECT, false);
        if ((w & 0xF600) == 0xB400 || (w & 0xF000) == 0xC000) {
            Instruction in = multiple(count(w & 0xFF) + ((w & 0xF500) == 0xB500));
            in.branch = (w & 0xFF00) == 0xBD00 ? Branch::RETURN : Branch::NONE;
            return in;
        }
        if ((w & 0xF800) == 0x4800)
            return simple(AXL_CLASS_LOAD);
        if ((w & 0xF000) == 0x5000)
            return simple((w & 0x0E00) >= 0x0600 ? AXL_CLASS_LOAD : AXL_CLASS_STORE);
        if ((w & 0xE000) == 0x6000 || (w & 0xE000) == 0x8000)
            return simple(w & 0x0800 ? AXL_CLASS_LOAD : AXL_CLASS_STORE);
        return simple((w & 0xFFC0) == 0x4340 ? AXL_CLASS_MUL : AXL_CLASS_ALU);
    }

    static Instruction decode_thumb_wide(uint32_t first, uint32_t second) {
        if ((first & 0xF800) == 0xF000 && (second & 0x8000)) {
            if ((second & 0xD000) == 0x8000)
                return (first & 0x0380) == 0x0380 ? simple(AXL_CLASS_SYSTEM) : branch(Branch::CONDITIONAL, true);
            return branch(second & 0x4000 ? Branch::CALL : Branch::DIRECT, false);
        }
        if ((first & 0xFE40) == 0xE800) {
            Instruction in = multiple(count(second));
            if ((first & 0x10) && (second & 0x8000))
                in.branch = (first & 15) == 13 ? Branch::RETURN : Branch::INDIRECT;
            return in;
        }
        if ((first & 0xFE40) == 0xE840 || (first & 0xFE00) == 0xF800)
            return simple(first & 0x10 ? AXL_CLASS_LOAD : AXL_CLASS_STORE);
        if ((first & 0xEF00) == 0xEF00) // NEON arithmetic: ARM's encoding, with U elsewhere
            return neon(passes((first & 0x1000) << 12 | (first & 0xFF) << 16 | second));
        if ((first & 0xEC00) == 0xEC00) // the coprocessor space is the same as in ARM
            return decode_coprocessor((first << 16 | second) & 0x0FFFFFFF);
        return simple((first & 0xFF00) == 0xFB00 ? AXL_CLASS_MUL : AXL_CLASS_ALU);
    }
};

} // namespace axl
