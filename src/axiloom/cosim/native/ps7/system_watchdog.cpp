// The system watchdog: 24 bits that count down at CPU_1x (UG585, 8.4 and B.33), or at LPD_LSBUS_CLK (UG1085, chapter 15).
// At 0 it stands until it is restarted.
#include "cpu/cpu.hpp"
#include "ps7/gic.hpp"

namespace axl {

namespace {

class SystemWatchdog : public Peripheral {
  public:
    using Peripheral::Peripheral;

    std::optional<uint32_t> read(uint32_t offset) override {
        switch (offset) {
        case MODE:
            return mode;
        case CONTROL:
            return control;
        case RESTART:
            return 0;
        case STATUS:
            return status;
        default:
            return std::nullopt;
        }
    }

    // Without its key, a write has no effect.
    bool write(uint32_t offset, uint32_t value, uint32_t) override {
        if (offset == MODE && value >> 12 == MODE_KEY) {
            if (value & ~mode & RUNS)
                begins();
            mode = value & 0x1F7;
        } else if (offset == CONTROL && value >> 14 == CONTROL_KEY) {
            control = value & 0x3FFF;
        } else if (offset == RESTART && value == RESTART_KEY) {
            begins();
        } else if (offset > STATUS) {
            return false;
        }
        ps7.look_soon();
        return true;
    }

    uint64_t next() const override { return mode & RUNS && !status ? end : Surroundings::NEVER; }

    void run() override {
        if (next() > ps7.now())
            return;
        status = 1;
        if (mode & INTERRUPTS)
            ps7.gic().pulse(at.line);
        if (mode & RESETS)
            ps7.stop("the system watchdog resets the board: nobody has restarted it in time");
    }

    Clock clock(uint32_t offset) const override { return offset == STATUS && mode & RUNS && !status ? Clock::YES : Clock::NO; }

  private:
    enum : uint32_t { MODE = 0x0, CONTROL = 0x4, RESTART = 0x8, STATUS = 0xC };
    enum : uint32_t { MODE_KEY = 0xABC, CONTROL_KEY = 0x248, RESTART_KEY = 0x1999, RUNS = 1, RESETS = 2, INTERRUPTS = 4 };
    uint32_t mode = 0x1C2, control = 0x3FFC, status = 0;
    uint64_t end = 0;

    void begins() {
        const uint32_t hz = ps7.family.ttc.hz;
        const uint64_t cycles = hz ? std::max<uint64_t>(ps7.cpu.config.cpu_hz / hz, 1) : 6, count = (control >> 2 & 0xFFF) << 12 | 0xFFF;
        end = ps7.now() + (count + 1) * (8ull << 3 * (control & 3)) * cycles;
        status = 0;
    }
};

const RegisterPeripheral<SystemWatchdog> swdt({ZYNQ7000, "system watchdog", 0xF8005000, 0x1000, 41, false});
const RegisterPeripheral<SystemWatchdog> swdt_mp({ZYNQMP, "system watchdog", 0xFD4D0000, 0x1000, 145, false});

} // namespace

} // namespace axl
