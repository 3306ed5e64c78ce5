// GPIO of the processing system: banks of pins, at MIO, and of EMIO into the fabric. UG585, chapter 14 and B.19; UG1085,
// chapter 27. A pin that is an output shows what it is given; nobody drives the others, and nothing comes from the fabric.
#include "ps7/gic.hpp"
#include "ps7/ps7.hpp"

namespace axl {

namespace {

class Gpio : public Peripheral {
  public:
    Gpio(Ps7 &ps7, const PeripheralAt &at) : Peripheral(ps7, at) {
        const bool mpsoc = at.family == std::string(ZYNQMP);
        if (mpsoc)
            banks = {{0x3FFFFFF, true}, {0x3FFFFFF, true}, {0x3FFFFFF, true}, {~0u, false}, {~0u, false}, {~0u, false}};
        else
            banks = {{~0u, true}, {0x3FFFFF, true}, {~0u, false}, {~0u, false}};
    }

    std::optional<uint32_t> read(uint32_t offset) override {
        Bank *bank = nullptr;
        switch (place(offset, bank)) {
        case HALF:
            return bank->data >> 16 * (offset >> 2 & 1) & 0xFFFF;
        case DATA:
            return bank->data;
        case PADS:
            return bank->pads();
        case DIRECTION:
            return bank->direction;
        case OUTPUTS:
            return bank->outputs;
        case MASK:
            return bank->mask;
        case ENABLE:
        case DISABLE:
            return 0;
        case STATUS:
            return bank->status;
        case TYPE:
            return bank->edges;
        case POLARITY:
            return bank->polarity;
        case ANY:
            return bank->any;
        default:
            return std::nullopt;
        }
    }

    bool write(uint32_t offset, uint32_t value, uint32_t) override {
        Bank *bank = nullptr;
        const Register which = place(offset, bank);
        if (!bank)
            return false;
        const uint32_t before = bank->pads(), shift = 16 * (offset >> 2 & 1), kept = ~(~(value >> 16) << 16 >> 16 << shift);
        const uint32_t written = value & bank->pins;
        switch (which) {
        case HALF: // bits whose mask is 1 stay as they are
            bank->data = ((bank->data & kept) | (value << shift & ~kept)) & bank->pins;
            break;
        case DATA:
            bank->data = written;
            break;
        case DIRECTION:
            bank->direction = written;
            break;
        case OUTPUTS:
            bank->outputs = written;
            break;
        case ENABLE:
            bank->mask &= ~written;
            break;
        case DISABLE:
            bank->mask |= written;
            break;
        case STATUS:
            bank->status &= ~written;
            break;
        case TYPE:
            bank->edges = written;
            break;
        case POLARITY:
            bank->polarity = written;
            break;
        case ANY:
            bank->any = written;
            break;
        default: // read only
            break;
        }
        bank->sees(before);
        bool high = false;
        for (const Bank &each : banks)
            high |= (each.status & ~each.mask) != 0;
        ps7.gic().line(at.line, high);
        ps7.look_soon();
        return true;
    }

  private:
    enum Register : uint32_t { DIRECTION, OUTPUTS, MASK, ENABLE, DISABLE, STATUS, TYPE, POLARITY, ANY, HALF, DATA, PADS, NONE };
    struct Bank {
        uint32_t pins;
        bool at_mio;
        uint32_t data = 0, direction = 0, outputs = 0, mask = 0, status = 0, edges, polarity = 0, any = 0;
        Bank(uint32_t pins, bool at_mio) : pins(pins), at_mio(at_mio), edges(pins) {}
        uint32_t pads() const { return at_mio ? data & direction & outputs : 0; }
        void sees(uint32_t before) {
            const uint32_t now = pads(), rises = now & ~before, falls = before & ~now;
            const uint32_t edge = (any & (rises | falls)) | (~any & polarity & rises) | (~any & ~polarity & falls);
            const uint32_t level = (polarity & now) | (~polarity & ~now);
            status |= ((edges & edge) | (~edges & level)) & pins;
        }
    };
    std::vector<Bank> banks;

    Register place(uint32_t offset, Bank *&bank) {
        constexpr uint32_t DATA_AT = 0x40, PADS_AT = 0x60, CONTROL_AT = 0x204, CONTROL_BYTES = 0x40;
        uint32_t number = offset / 8;
        Register which = HALF;
        if (offset >= CONTROL_AT) {
            number = (offset - CONTROL_AT) / CONTROL_BYTES;
            which = static_cast<Register>((offset - CONTROL_AT) % CONTROL_BYTES / 4);
        } else if (offset >= DATA_AT) {
            number = (offset - (offset >= PADS_AT ? PADS_AT : DATA_AT)) / 4;
            which = offset >= PADS_AT ? PADS : DATA;
        }
        if (number >= banks.size() || (offset >= CONTROL_AT && which > ANY))
            return NONE;
        bank = &banks[number];
        return which;
    }
};

const RegisterPeripheral<Gpio> gpio({ZYNQ7000, "GPIO", 0xE000A000, 0x1000, 52, false});
const RegisterPeripheral<Gpio> gpio_mp({ZYNQMP, "GPIO", 0xFF0A0000, 0x1000, 48, false});

} // namespace

} // namespace axl
