// The interrupt controller of the Cortex-A9 MPCore: distributor and the interface of CPU 0. GIC architecture 1.0; the
// MPCore's TRM, chapter 3. Interrupts 0 to 15 are of software, 27 to 31 the CPU's own, 32 to 95 of the chip.
#pragma once

#include "ps7/ps7.hpp"

namespace axl {

class Gic {
  public:
    explicit Gic(Ps7 &ps7);

    static constexpr uint32_t SPURIOUS = 1023;
    void line(uint32_t id, bool high); // an input
    void pulse(uint32_t id) {
        line(id, true);
        line(id, false);
    }
    bool signals() const { return best() != SPURIOUS; }

    std::optional<uint32_t> read_cpu(uint32_t offset);
    bool write_cpu(uint32_t offset, uint32_t value);
    std::optional<uint32_t> read_distributor(uint32_t offset);
    bool write_distributor(uint32_t offset, uint32_t value, uint32_t mask);

  private:
    struct Interrupt {
        bool enabled = false, latched = false, high = false, active = false, edge = false, second_group = false;
        uint8_t priority = 0, targets = 0;
        bool pending() const { return latched || (high && !edge); }
    };
    Ps7 &ps7;
    const uint32_t count;
    std::vector<Interrupt> all;
    std::vector<uint32_t> served; // acknowledged and not ended, the last one runs
    uint32_t distributor_control = 0, cpu_control = 0, mask = 0, binary_point = 2;

    uint32_t best() const; // that the CPU would be given
    // Of the interrupt that runs, the part of its priority that goes before others'.
    uint32_t running() const { return served.empty() ? 0xFF : all[served.back()].priority & 0xFFu << (binary_point + 1); }
    uint32_t acknowledge();
    void end(uint32_t id);
    void software(uint32_t value);
    template <typename Of> uint32_t bits(uint32_t first, Of of) const;
    template <typename Do> void where_set(uint32_t first, uint32_t value, Do action);
};

} // namespace axl
