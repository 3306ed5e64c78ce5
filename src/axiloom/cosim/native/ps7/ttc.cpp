// A triple timer counter: three counters, at CPU_1x and of 16 bits (UG585, 8.5 and B.32), or at LPD_LSBUS_CLK and of 32
// (UG1085, chapter 14).
#include "cpu/cpu.hpp"
#include "ps7/gic.hpp"

namespace axl {

namespace {

class TripleTimer : public Peripheral {
  public:
    TripleTimer(Ps7 &ps7, const PeripheralAt &at) : Peripheral(ps7, at) {
        const Family::Ttc &ttc = ps7.family.ttc;
        for (Counter &counter : counters) {
            counter.cycles = ttc.hz ? std::max<uint64_t>(ps7.cpu.config.cpu_hz / ttc.hz, 1) : 6;
            counter.most = ttc.most;
        }
    }

    std::optional<uint32_t> read(uint32_t offset) override {
        Counter &counter = counters[offset / 4 % 3];
        switch (offset / 12) {
        case CLOCK:
            return counter.clock;
        case CONTROL:
            return counter.control;
        case VALUE:
            return counter.value(ps7.now());
        case INTERVAL:
            return counter.interval;
        case MATCH_1:
        case MATCH_2:
        case MATCH_3:
            return counter.match[offset / 12 - MATCH_1];
        case STATUS: {
            const uint32_t value = counter.status; // reading clears it
            counter.status = 0;
            signal();
            return value;
        }
        case ENABLES:
            return counter.enables;
        case EVENT_CONTROL:
        case EVENT:
            return 0; // there is no input
        default:
            return std::nullopt;
        }
    }

    bool write(uint32_t offset, uint32_t value, uint32_t) override {
        Counter &counter = counters[offset / 4 % 3];
        const uint64_t now = ps7.now();
        switch (offset / 12) {
        case CLOCK:
            counter.stand(now);
            counter.clock = value & 0x7F;
            break;
        case CONTROL:
            counter.stand(now);
            if (value & RESTARTS || (counter.control ^ value) & DOWN)
                counter.position = 0;
            counter.control = value & 0x6F;
            break;
        case INTERVAL:
            counter.stand(now);
            counter.interval = value & counter.most;
            break;
        case MATCH_1:
        case MATCH_2:
        case MATCH_3:
            counter.match[offset / 12 - MATCH_1] = value & counter.most;
            break;
        case ENABLES:
            counter.enables = value & 0x3F;
            break;
        case STATUS:
        case EVENT_CONTROL:
            break;
        default:
            return false;
        }
        signal();
        ps7.look_soon();
        return true;
    }

    uint64_t next() const override {
        uint64_t first = Surroundings::NEVER;
        for (const Counter &counter : counters)
            first = std::min(first, counter.next());
        return first;
    }

    void run() override {
        for (Counter &counter : counters)
            counter.run(ps7.now());
        signal();
    }

    Clock clock(uint32_t offset) const override { return offset / 12 == VALUE ? Clock::YES : Clock::NO; }

  private:
    enum : uint32_t { CLOCK, CONTROL, VALUE, INTERVAL, MATCH_1, MATCH_2, MATCH_3, STATUS, ENABLES, EVENT_CONTROL, EVENT };
    enum : uint32_t { DISABLED = 1, INTERVALS = 2, DOWN = 4, MATCHES = 8, RESTARTS = 16 };
    enum : uint32_t { PRESCALES = 1, INTERVAL_ENDED = 1, MATCHED = 2, OVERFLOWED = 16 };

    struct Counter {
        uint32_t clock = 0, control = 0x21, interval = 0, match[3] = {}, status = 0, enables = 0;
        uint32_t most = 0;   // it counts to that
        uint64_t cycles = 0; // of the CPU, between two counts
        uint64_t begin = 0, position = 0; // ticks into its period, at a cycle

        uint64_t tick() const { return clock & PRESCALES ? cycles << ((clock >> 1 & 15) + 1) : cycles; }
        uint64_t period() const { return 1ull + (control & INTERVALS ? interval : most); }
        uint64_t ticks(uint64_t now) const { return control & DISABLED ? 0 : (now - begin) / tick(); }
        uint32_t value(uint64_t now) const {
            const uint64_t at = (position + ticks(now)) % period();
            return static_cast<uint32_t>(control & DOWN ? (period() - at) % period() : at);
        }
        // Where it counts to `what`, in ticks into its period.
        uint64_t place(uint32_t what) const { return control & DOWN ? (period() - what) % period() : what; }
        uint32_t ended() const { return control & INTERVALS ? INTERVAL_ENDED : OVERFLOWED; }
        void stand(uint64_t now) {
            run(now);
            begin = now;
        }
        void run(uint64_t now) {
            const uint64_t gone = ticks(now), from = position, length = period();
            if (!gone)
                return;
            if (from + gone >= length)
                status |= ended();
            for (uint32_t i = 0; i < 3 && control & MATCHES; i++) {
                const uint64_t to = place(match[i]);
                if (match[i] < length && (to > from ? to - from : to + length - from) <= gone)
                    status |= MATCHED << i;
            }
            position = (from + gone) % length;
            begin += gone * tick();
        }
        uint64_t next() const {
            if (control & DISABLED)
                return Surroundings::NEVER;
            uint64_t first = Surroundings::NEVER;
            const uint64_t length = period();
            if (enables & ended())
                first = length - position;
            for (uint32_t i = 0; i < 3 && control & MATCHES; i++) {
                const uint64_t to = place(match[i]);
                if (enables & MATCHED << i && match[i] < length)
                    first = std::min(first, to > position ? to - position : to + length - position);
            }
            return first == Surroundings::NEVER ? first : begin + first * tick();
        }
    } counters[3];

    void signal() {
        for (uint32_t i = 0; i < 3; i++)
            ps7.gic().line(at.line + i, counters[i].status & counters[i].enables);
    }
};

const RegisterPeripheral<TripleTimer> ttc0({ZYNQ7000, "TTC0", 0xF8001000, 0x84, 42, false});
const RegisterPeripheral<TripleTimer> ttc1({ZYNQ7000, "TTC1", 0xF8002000, 0x84, 69, false});
const RegisterPeripheral<TripleTimer> ttc0_mp({ZYNQMP, "TTC0", 0xFF110000, 0x84, 68, false});
const RegisterPeripheral<TripleTimer> ttc1_mp({ZYNQMP, "TTC1", 0xFF120000, 0x84, 71, false});
const RegisterPeripheral<TripleTimer> ttc2_mp({ZYNQMP, "TTC2", 0xFF130000, 0x84, 74, false});
const RegisterPeripheral<TripleTimer> ttc3_mp({ZYNQMP, "TTC3", 0xFF140000, 0x84, 77, false});

} // namespace

} // namespace axl
