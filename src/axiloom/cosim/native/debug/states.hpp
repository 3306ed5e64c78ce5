// Registers and memories of the RTL by name, as the simulator itself knows them: by VPI (IEEE 1800, clause 38), whose
// functions are in the simulator's program. Verilator shows what a build was told to keep (build/inspection.py).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace axl {

class States {
  public:
    struct Element {
        std::string name; // below axiloom_soc
        uint32_t *handle;
        uint32_t bits;
        uint32_t words; // of a memory; 0: a register
    };
    // In order of their names; looked up at the first call.
    const std::vector<Element> &all();
    // `name` is a whole one, or the end of a single one behind a point. nullptr with `error`.
    const Element *find(const std::string &name, std::string &error);
    // Words as 32-bit parts, lowest first. Bits that are unknown (Icarus) are 0.
    static std::string read(const Element &element, uint64_t first, uint64_t count);
    static uint64_t low(const Element &element, uint64_t word); // 64 bits of one

  private:
    std::vector<Element> elements;
    bool has_looked = false;

    void look(uint32_t *module);
};

} // namespace axl
