// A timer of the CPU's own that compares with the system counter. ARMv8-A ARM, D6.
#pragma once

#include "cpu/cpu.hpp"
#include "ps7/gic.hpp"
#include "ps7/ps7.hpp"

namespace axl {

class GenericTimer : public Peripheral {
  public:
    static constexpr uint64_t COUNTER_HZ = 100000000; // of a Zynq UltraScale+ (UG1085, 5.4)
    GenericTimer(Ps7 &ps7, uint32_t line) : Peripheral(ps7, {ps7.family.name, "timer", 0, 0, line, false}) {}

    static uint64_t count(const Cpu &cpu) {
        return static_cast<uint64_t>(static_cast<unsigned __int128>(cpu.cycles()) * COUNTER_HZ / cpu.config.cpu_hz);
    }

    // TVAL, CTL and CVAL, as op2 has them.
    uint64_t get(uint32_t op2) const {
        const uint64_t now = count(ps7.cpu);
        return op2 == 0 ? static_cast<uint32_t>(compare - now) : op2 == 2 ? compare : control | (has_come() ? 4u : 0u);
    }
    void set(uint32_t op2, uint64_t value) {
        if (op2 == 1)
            control = value & 3;
        else
            compare = op2 == 2 ? value : count(ps7.cpu) + static_cast<uint64_t>(static_cast<int32_t>(value));
        run();
        ps7.look_soon();
    }

    std::optional<uint32_t> read(uint32_t) override { return std::nullopt; }
    bool write(uint32_t, uint32_t, uint32_t) override { return false; }
    void run() override { ps7.gic().line(at.line, has_come() && !(control & MASKED)); }
    uint64_t next() const override {
        if ((control & (ENABLED | MASKED)) != ENABLED || has_come())
            return Surroundings::NEVER;
        const unsigned __int128 due = (static_cast<unsigned __int128>(compare) * ps7.cpu.config.cpu_hz + COUNTER_HZ - 1) / COUNTER_HZ;
        return due < Surroundings::NEVER ? static_cast<uint64_t>(due) : Surroundings::NEVER;
    }

  private:
    enum : uint32_t { ENABLED = 1, MASKED = 2 };
    uint64_t compare = 0;
    uint32_t control = 0;

    bool has_come() const { return control & ENABLED && count(ps7.cpu) >= compare; }
};

} // namespace axl
