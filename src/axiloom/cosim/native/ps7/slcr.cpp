// System-level control registers, eFuses. UG585, chapter 4 and B.28. Clocks are what the board's profile says, whatever a
// program writes; the fabric's reset is not passed on.
#include <unordered_map>

#include "cpu/cpu.hpp"
#include "ps7/ps7.hpp"
#include "text.hpp"

namespace axl {

namespace {

class Slcr : public Peripheral {
  public:
    Slcr(Ps7 &ps7, const PeripheralAt &at) : Peripheral(ps7, at) {
        // As a boot loader leaves them, with an ARM PLL of twice the CPU's clock, from 50 MHz, and FCLK0 of 100 MHz.
        values = {{0x100, 0x1A000}, {0x104, 0x15000}, {0x108, 0x14000}, {0x10C, 0x3F}, {0x120, 0x1F000200}, {0x124, 0x18400003},
                  {0x12C, 0x01FFCCCD}, {0x154, 0x00000A03}, {0x168, 0x00000501}, {0x170, 0x00200500}, {0x1C4, 1}, {0x530, 0x23727093},
                  {0x258, 0x00400000}, {0x910, 0x18}, {0x900, 0xF}};
    }

    std::optional<uint32_t> read(uint32_t offset) override {
        if (offset == LOCKED)
            return locked;
        const auto value = values.find(offset);
        return value == values.end() ? 0 : value->second;
    }

    bool write(uint32_t offset, uint32_t value, uint32_t mask) override {
        if (offset == LOCK || offset == UNLOCK) {
            if (offset == LOCK && value == 0x767B)
                locked = 1;
            if (offset == UNLOCK && value == 0xDF0D)
                locked = 0;
            return true;
        }
        if (locked) {
            ps7.note(format("stores 0x%08X to 0x%08X: the SLCR is locked, nothing happens", value, at.base + offset));
            return true;
        }
        if (offset == SYSTEM_RESET && value & 1) {
            ps7.stop("the program resets the system (PSS_RST_CTRL)");
            return true;
        }
        if (offset == FABRIC_RESET && value)
            ps7.note("resets the fabric (FPGA_RST_CTRL): this is not passed on to the accelerator");
        if (offset == PLL_STATUS || offset == ID_CODE)
            return true;
        uint32_t &stored = values[offset];
        stored = (stored & ~mask) | (value & mask);
        return true;
    }

  private:
    enum : uint32_t { LOCK = 0x004, UNLOCK = 0x008, LOCKED = 0x00C, PLL_STATUS = 0x10C, SYSTEM_RESET = 0x200, FABRIC_RESET = 0x240,
                      ID_CODE = 0x530 };
    std::unordered_map<uint32_t, uint32_t> values;
    uint32_t locked = 1;
};

class Efuse : public Peripheral {
  public:
    using Peripheral::Peripheral;
    // Bit 7 of the status is 0: there are two CPUs.
    std::optional<uint32_t> read(uint32_t offset) override { return offset == STATUS ? std::optional<uint32_t>(0) : std::nullopt; }
    bool write(uint32_t, uint32_t, uint32_t) override { return false; }

  private:
    enum : uint32_t { STATUS = 0x10 };
};

const RegisterPeripheral<Slcr> slcr({ZYNQ7000, "SLCR", 0xF8000000, 0xC00, 0, false});
const RegisterPeripheral<Efuse> efuse({ZYNQ7000, "eFuses", 0xF800D000, 0x1000, 0, false});

} // namespace

} // namespace axl
