// The timers of the CPU: global timer, private timer and watchdog. Cortex-A9 MPCore TRM, chapter 4. They count at
// PERIPHCLK, half of the CPU's clock.
#include "cpu/cpu.hpp"
#include "ps7/gic.hpp"

namespace axl {

namespace {

constexpr uint64_t DIVISOR = 2;
uint64_t tick_cycles(uint32_t control) { return DIVISOR * ((control >> 8 & 0xFF) + 1); } // with the prescaler

class GlobalTimer : public Peripheral {
  public:
    using Peripheral::Peripheral;

    std::optional<uint32_t> read(uint32_t offset) override {
        switch (offset) {
        case LOW:
            return static_cast<uint32_t>(count());
        case HIGH:
            return static_cast<uint32_t>(count() >> 32);
        case CONTROL:
            return control;
        case STATUS:
            return status;
        case COMPARE_LOW:
            return static_cast<uint32_t>(compare);
        case COMPARE_HIGH:
            return static_cast<uint32_t>(compare >> 32);
        case INCREMENT:
            return increment;
        default:
            return std::nullopt;
        }
    }

    bool write(uint32_t offset, uint32_t value, uint32_t) override {
        if (offset == STATUS)
            status &= ~value;
        else if (offset == LOW)
            base = (count() >> 32 << 32) | value, begin = ps7.now();
        else if (offset == HIGH)
            base = static_cast<uint64_t>(value) << 32 | static_cast<uint32_t>(count()), begin = ps7.now();
        else if (offset == CONTROL)
            base = count(), begin = ps7.now(), control = value;
        else if (offset == COMPARE_LOW)
            compare = (compare >> 32 << 32) | value;
        else if (offset == COMPARE_HIGH)
            compare = static_cast<uint64_t>(value) << 32 | static_cast<uint32_t>(compare);
        else if (offset == INCREMENT)
            increment = value;
        else
            return false;
        run();
        ps7.look_soon();
        return true;
    }

    uint64_t next() const override { return control & INTERRUPTS ? due() : Surroundings::NEVER; }

    void run() override {
        if (due() > ps7.now())
            return;
        status = 1;
        if (control & INTERRUPTS)
            ps7.gic().pulse(at.line);
        if (increments())
            compare += ((count() - compare) / increment + 1) * increment;
    }

    Clock clock(uint32_t offset) const override { return offset == LOW ? Clock::YES : offset == HIGH ? Clock::UPPER : Clock::NO; }

  private:
    enum : uint32_t { LOW = 0x00, HIGH = 0x04, CONTROL = 0x08, STATUS = 0x0C, COMPARE_LOW = 0x10, COMPARE_HIGH = 0x14, INCREMENT = 0x18 };
    enum : uint32_t { ENABLE = 1, COMPARES = 2, INTERRUPTS = 4, INCREMENTS = 8 };
    uint64_t base = 0, begin = 0, compare = 0;
    uint32_t control = 0, status = 0, increment = 0;

    bool increments() const { return control & INCREMENTS && increment; }
    uint64_t due() const {
        if ((control & (ENABLE | COMPARES)) != (ENABLE | COMPARES) || (status && !increments()))
            return Surroundings::NEVER;
        return compare <= base ? begin : begin + (compare - base) * tick_cycles(control);
    }
    uint64_t count() const { return control & ENABLE ? base + (ps7.now() - begin) / tick_cycles(control) : base; }
};

// Counts down to 0, where it begins anew or stands.
class CountsDown : public Peripheral {
  public:
    using Peripheral::Peripheral;

    std::optional<uint32_t> read(uint32_t offset) override {
        switch (offset) {
        case LOAD:
            return load;
        case COUNTER:
            return static_cast<uint32_t>(count());
        case CONTROL:
            return control;
        case STATUS:
            return status;
        default:
            return std::nullopt;
        }
    }

    bool write(uint32_t offset, uint32_t value, uint32_t) override {
        if (offset == LOAD)
            load = value, set(value);
        else if (offset == COUNTER)
            set(value);
        else if (offset == CONTROL)
            set(static_cast<uint32_t>(count())), control = value;
        else if (offset == STATUS)
            status &= ~value;
        else
            return false;
        ps7.look_soon();
        return true;
    }

    uint64_t next() const override { return control & matters ? due() : Surroundings::NEVER; }

    void run() override {
        const uint64_t zero = due();
        if (zero > ps7.now())
            return;
        // It reads 0 for a tick, and then what it is loaded with.
        from = control & RELOADS && load ? static_cast<uint64_t>(load) + 1 : 0;
        const uint64_t period = from * tick_cycles(control);
        begin = from ? zero + (ps7.now() - zero) / period * period : zero;
        ends();
    }

    Clock clock(uint32_t offset) const override { return offset == COUNTER ? Clock::YES : Clock::NO; }

  protected:
    enum : uint32_t { LOAD = 0x00, COUNTER = 0x04, CONTROL = 0x08, STATUS = 0x0C };
    enum : uint32_t { ENABLE = 1, RELOADS = 2, INTERRUPTS = 4 };
    uint32_t control = 0, status = 0;
    uint32_t matters = INTERRUPTS; // bits of the control register with which its end is more than a status

    virtual void ends() {
        status = 1;
        if (control & INTERRUPTS)
            ps7.gic().pulse(at.line);
    }

  private:
    uint32_t load = 0;
    uint64_t from = 0, begin = 0; // ticks until it is 0, from then on

    void set(uint32_t value) { from = value, begin = ps7.now(); }
    uint64_t due() const { return control & ENABLE && from ? begin + from * tick_cycles(control) : Surroundings::NEVER; }
    uint64_t count() const {
        if (!(control & ENABLE))
            return from;
        const uint64_t ticks = (ps7.now() - begin) / tick_cycles(control);
        const uint64_t left = ticks < from ? from - ticks : 0;
        return left == static_cast<uint64_t>(load) + 1 ? 0 : left;
    }
};

class Watchdog : public CountsDown {
  public:
    Watchdog(Ps7 &ps7, const PeripheralAt &at) : CountsDown(ps7, at) { matters |= WATCHES; }

    std::optional<uint32_t> read(uint32_t offset) override {
        return offset == RESET_STATUS || offset == DISABLE ? 0 : CountsDown::read(offset);
    }

    bool write(uint32_t offset, uint32_t value, uint32_t mask) override {
        if (offset == RESET_STATUS)
            return true;
        if (offset == DISABLE) { // two words in a row make a timer of it again
            if (before == 0x12345678 && value == 0x87654321)
                CountsDown::write(CONTROL, control & ~WATCHES, mask);
            before = value;
            return true;
        }
        return CountsDown::write(offset, offset == CONTROL ? value | (control & WATCHES) : value, mask);
    }

  protected:
    void ends() override {
        if (control & WATCHES)
            ps7.stop("the watchdog resets the CPU: nobody has written its load register in time");
        else
            CountsDown::ends();
    }

  private:
    enum : uint32_t { RESET_STATUS = 0x10, DISABLE = 0x14, WATCHES = 8 };
    uint32_t before = 0;
};

const RegisterPeripheral<GlobalTimer> global_timer({ZYNQ7000, "global timer", 0xF8F00200, 0x20, 27, true});
const RegisterPeripheral<CountsDown> private_timer({ZYNQ7000, "private timer", 0xF8F00600, 0x10, 29, false});
const RegisterPeripheral<Watchdog> watchdog({ZYNQ7000, "watchdog", 0xF8F00620, 0x18, 30, false});

} // namespace

} // namespace axl
