// RV32IM instructions by their classes. Encodings: RISC-V Unprivileged ISA, chapter "RV32/64G Instruction Set Listings".
#pragma once

#include "cpu/instruction.hpp"

namespace axl {

// Major opcodes: bits 6:0.
enum Rv32 : uint32_t {
    RV_LOAD = 0x03, RV_FENCE = 0x0F, RV_OP_IMMEDIATE = 0x13, RV_AUIPC = 0x17, RV_STORE = 0x23, RV_OP = 0x33, RV_LUI = 0x37,
    RV_BRANCH = 0x63, RV_JALR = 0x67, RV_JAL = 0x6F, RV_SYSTEM = 0x73
};

// Compressed instructions, atomics, floats and what is reserved have others.
inline bool is_rv32im(uint32_t opcode) {
    static const Rv32 every[] = {RV_LOAD, RV_FENCE, RV_OP_IMMEDIATE, RV_AUIPC, RV_STORE, RV_OP, RV_LUI, RV_BRANCH, RV_JALR,
                                 RV_JAL, RV_SYSTEM};
    for (uint32_t one : every)
        if (one == opcode)
            return true;
    return false;
}

inline Instruction decode_rv32(uint32_t w) {
    const auto simple = [](uint32_t kind) { return Instruction{kind, 0, Branch::NONE, false}; };
    const auto branch = [](Branch kind, bool conditional) { return Instruction{AXL_CLASS_BRANCH, 0, kind, conditional}; };
    // x1 and x5 hold return addresses (Unprivileged ISA, 2.5.1).
    const auto links = [](uint32_t number) { return number == 1 || number == 5; };
    const uint32_t rd = w >> 7 & 31, rs1 = w >> 15 & 31;
    switch (w & 127) {
    case RV_LOAD:
        return simple(AXL_CLASS_LOAD);
    case RV_STORE:
        return simple(AXL_CLASS_STORE);
    case RV_OP:
        return simple(w >> 25 == 1 ? AXL_CLASS_MUL : AXL_CLASS_ALU);
    case RV_BRANCH:
        return branch(Branch::CONDITIONAL, true);
    case RV_JAL:
        return branch(links(rd) ? Branch::CALL : Branch::DIRECT, false);
    case RV_JALR:
        return branch(links(rd) ? Branch::INDIRECT_CALL : links(rs1) ? Branch::RETURN : Branch::INDIRECT, false);
    case RV_FENCE:
    case RV_SYSTEM:
        return simple(AXL_CLASS_SYSTEM);
    default:
        return simple(AXL_CLASS_ALU);
    }
}

} // namespace axl
