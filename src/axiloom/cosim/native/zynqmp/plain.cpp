// Blocks of a Zynq UltraScale+ that programs set up, and in which nothing has an effect here: the values are kept. UG1087.
#include <unordered_map>

#include "cpu/cpu.hpp"
#include "ps7/ps7.hpp"

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

const RegisterPeripheral<Plain> apu({ZYNQMP, "APU", 0xFD5C0000, 0x1000, 0, false});
const RegisterPeripheral<Plain> counter({ZYNQMP, "system counter", 0xFF250000, 0x20000, 0, false});

} // namespace

} // namespace axl
