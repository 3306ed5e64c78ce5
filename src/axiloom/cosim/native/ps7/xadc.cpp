// The XADC behind the processing system's serial interface. UG585, chapter 30 and B.16; registers of the converter are of
// UG480, chapter 3. What it measures are constants: 40 degrees, and each supply at its nominal voltage. No alarm comes.
#include <algorithm>
#include <deque>

#include "ps7/ps7.hpp"

namespace axl {

namespace {

class Xadc : public Peripheral {
  public:
    Xadc(Ps7 &ps7, const PeripheralAt &at) : Peripheral(ps7, at) { resets(); }

    std::optional<uint32_t> read(uint32_t offset) override {
        switch (offset) {
        case CONFIGURATION:
            return configuration;
        case STATUS:
            return status;
        case MASK:
            return mask;
        case STATE: // commands are done at once
            return static_cast<uint32_t>(answers.size()) << 12 | NO_COMMANDS | (answers.size() >= DEPTH ? +FULL : 0) | (answers.empty() ? +EMPTY : 0);
        case ANSWER: {
            const uint32_t first = answers.empty() ? 0 : answers.front();
            if (!answers.empty())
                answers.pop_front();
            return first;
        }
        case COMMAND:
            return 0;
        case CONTROL:
            return control;
        default:
            return std::nullopt;
        }
    }

    bool write(uint32_t offset, uint32_t value, uint32_t) override {
        switch (offset) {
        case CONFIGURATION:
            configuration = value;
            return true;
        case STATUS:
            status &= ~value;
            return true;
        case MASK:
            mask = value & 0x3FF;
            return true;
        case COMMAND:
            command(value >> 26 & 15, value >> 16 & 0x3FF, value & 0xFFFF);
            return true;
        case CONTROL:
            control = value & 0x11;
            if (control & RESETS)
                resets();
            if (control & FLUSHES)
                answers.clear();
            return true;
        default:
            return offset == STATE || offset == ANSWER || offset == UNLOCK;
        }
    }

  private:
    enum : uint32_t { CONFIGURATION = 0x00, STATUS = 0x04, MASK = 0x08, STATE = 0x0C, COMMAND = 0x10, ANSWER = 0x14, CONTROL = 0x18, UNLOCK = 0x34 };
    enum : uint32_t { FULL = 1 << 9, EMPTY = 1 << 8, NO_COMMANDS = 1 << 10, FLUSHES = 1, RESETS = 1 << 4, DEPTH = 15, READS = 1, WRITES = 2 };
    uint32_t configuration = 0x1114, status = 0, mask = 0x3FF, control = RESETS, shifted = 0;
    std::deque<uint32_t> answers;
    uint16_t registers[128] = {};

    static constexpr uint16_t volts(double value) { return static_cast<uint16_t>(value / 3 * 65536); }
    static constexpr uint16_t celsius(double value) { return static_cast<uint16_t>((value + 273.15) * 65536 / 503.975); }

    void resets() {
        answers.clear();
        shifted = 0;
        std::fill(std::begin(registers), std::end(registers), 0);
        // The register itself, the most that it was, and the least.
        const struct { uint32_t now, most, least; uint16_t value; } measured[] = {
            {0x0, 0x20, 0x24, celsius(40)}, {0x1, 0x21, 0x25, volts(1)}, {0x2, 0x22, 0x26, volts(1.8)}, {0x6, 0x23, 0x27, volts(1)},
            {0xD, 0x28, 0x2C, volts(1)}, {0xE, 0x29, 0x2D, volts(1.8)}, {0xF, 0x2A, 0x2E, volts(1.5)}};
        for (const auto &each : measured)
            registers[each.now] = registers[each.most] = registers[each.least] = each.value;
    }

    // The answer to a command comes with the next one: that is how the serial link shifts.
    void command(uint32_t what, uint32_t where, uint32_t value) {
        if (answers.size() < DEPTH)
            answers.push_back(shifted);
        shifted = what == READS && where < 128 ? registers[where] : 0;
        if (what == WRITES && where >= 0x40 && where < 128)
            registers[where] = static_cast<uint16_t>(value);
    }
};

const RegisterPeripheral<Xadc> xadc({ZYNQ7000, "XADC", 0xF8007100, 0x40, 39, false});

} // namespace

} // namespace axl
