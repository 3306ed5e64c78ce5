// Blocks of a Zynq UltraScale+ that programs set up, and in which nothing has an effect here: the values are kept. UG1087.
#include <unordered_map>

#include "cpu/cpu.hpp"
#include "zynqmp/generic_timer.hpp"

namespace axl {

namespace {

class Plain : public Peripheral {
  public:
    using Peripheral::Peripheral;
    std::optional<uint32_t> read(uint32_t offset) override { return values[offset]; }
    bool write(uint32_t offset, uint32_t value, uint32_t mask) override {
        values[offset] = (values[offset] & ~mask) | value;
        return true;
    }

  private:
    std::unordered_map<uint32_t, uint32_t> values;
};

// IOU_SCNTR and, 64 KB above it, IOU_SCNTRS: each shows what the CPU's timers compare with.
class SystemCounter : public Plain {
  public:
    using Plain::Plain;
    std::optional<uint32_t> read(uint32_t offset) override {
        const Clock half = clock(offset);
        const uint64_t now = GenericTimer::count(ps7.cpu);
        return half == Clock::NO ? Plain::read(offset) : static_cast<uint32_t>(half == Clock::UPPER ? now >> 32 : now);
    }
    Clock clock(uint32_t offset) const override {
        return offset == 0 || offset == 0x10008 ? Clock::YES : offset == 4 || offset == 0x1000C ? Clock::UPPER : Clock::NO;
    }
};

const RegisterPeripheral<Plain> apu({ZYNQMP, "APU", 0xFD5C0000, 0x1000, 0, false});
const RegisterPeripheral<SystemCounter> counter({ZYNQMP, "system counter", 0xFF250000, 0x20000, 0, false});

} // namespace

} // namespace axl
