// AXI Timer (AMD PG079, v2.0): two counters of 32 bits at the bus's clock, one of 64 when cascaded; compare, capture and PWM.
//
// Each counter is known by its value at a cycle; what it reads is worked out when somebody asks. It overflows one cycle behind
// its last value and reloads in another, so a period is TLR + 2 counting down, and 2^32 - TLR + 1 counting up.
#include <algorithm>

#include "cpu/cpu.hpp"

namespace axl {

namespace {

class AxiTimer : public Neighbour {
  public:
    using Neighbour::Neighbour;

    uint32_t read(uint32_t offset) override {
        const uint32_t i = offset / TIMER;
        if (i >= count())
            return 0;
        Timer &timer = timers[i];
        switch (offset % TIMER) {
        case TCSR:
            return timer.control;
        case TLR:
            timer.captured = false; // the value was seen
            return timer.load;
        case TCR:
            return counter(i);
        default:
            return 0;
        }
    }

    void write(uint32_t offset, uint32_t word) override {
        const uint32_t i = offset / TIMER;
        if (i >= count())
            return;
        if (offset % TIMER == TLR)
            timers[i].load = word;
        if (offset % TIMER == TLR && timers[i].control & LOAD)
            control(i, timers[i].control & ~TINT); // it is loaded all the time
        if (offset % TIMER == TCSR)
            control(i, word);
    }

    // What no interrupt tells of happens when somebody looks.
    uint64_t next() const override {
        uint64_t first = NEVER;
        for (const Timer &timer : timers)
            first = timer.control & ENIT ? std::min(first, due(timer)) : first;
        return first;
    }

    void run() override {
        for (;;) {
            const uint64_t cycle = std::min(due(timers[0]), due(timers[1]));
            if (cycle > now())
                return;
            for (uint32_t i : {1u, 0u})
                if (due(timers[i]) == cycle)
                    overflows(i, cycle);
        }
    }

    bool interrupts() const override {
        return std::any_of(std::begin(timers), std::end(timers), [](const Timer &timer) { return (timer.control & (TINT | ENIT)) == (TINT | ENIT); });
    }
    bool counts_time(uint32_t offset) const override { return offset % TIMER == TCR || offset % TIMER == TCSR; }

    // Bit 0: pwm0.
    uint32_t pins(uint32_t) const override { return is_pwm() && runs(timers[0]) && high; }

    // Bits 0, 1: capturetrig0, 1.
    void drive(uint32_t, uint32_t levels) override {
        const uint32_t rises = levels & ~triggers;
        triggers = levels;
        for (uint32_t i = 0; i < count(); i++) {
            Timer &timer = timers[i];
            if (!(rises >> i & 1) || (timer.control & (MDT | CAPT)) != (MDT | CAPT) || (timer.captured && !(timer.control & ARHT)))
                continue;
            const uint64_t seen = value(timer);
            timer.load = static_cast<uint32_t>(seen);
            if (is_cascaded())
                timers[1].load = static_cast<uint32_t>(seen >> 32);
            timer.captured = true;
            timer.control |= TINT;
        }
    }

  private:
    enum : uint32_t { TCSR = 0x0, TLR = 0x4, TCR = 0x8, TIMER = 0x10 };
    enum : uint32_t { MDT = 1, UDT = 2, GENT = 4, CAPT = 8, ARHT = 0x10, LOAD = 0x20, ENIT = 0x40, ENT = 0x80, TINT = 0x100, PWMA = 0x200,
                      ENALL = 0x400, CASC = 0x800 };
    struct Timer {
        uint32_t control = 0, load = 0;
        uint64_t from = 0, begin = 0; // the value at that cycle
        bool counts = false, ended = false, captured = false; // ended: without ARHT, until it is loaded
    } timers[2];
    uint32_t triggers = 0;
    bool high = false;

    uint32_t count() const { return at.settings[0] ? 1 : 2; }
    bool is_cascaded() const { return timers[0].control & CASC && count() == 2; }
    bool is_pwm() const { return timers[0].control & timers[1].control & PWMA; }
    uint64_t top() const { return is_cascaded() ? ~0ull : 0xFFFFFFFFull; }
    uint64_t start(const Timer &timer) const {
        return is_cascaded() ? static_cast<uint64_t>(timers[1].load) << 32 | timers[0].load : timer.load;
    }
    static bool runs(const Timer &timer) { return (timer.control & (ENT | LOAD)) == ENT; }

    uint64_t value(const Timer &timer) const {
        if (!timer.counts || now() < timer.begin)
            return timer.from;
        const uint64_t passed = now() - timer.begin;
        return (timer.control & UDT ? timer.from - passed : timer.from + passed) & top();
    }

    uint32_t counter(uint32_t i) const {
        return static_cast<uint32_t>(is_cascaded() ? value(timers[0]) >> 32 * i : value(timers[i]));
    }

    uint64_t due(const Timer &timer) const {
        if (!timer.counts)
            return NEVER;
        const uint64_t left = timer.control & UDT ? timer.from : top() - timer.from;
        return left >= NEVER - timer.begin - 1 ? NEVER : timer.begin + left + 1;
    }

    void control(uint32_t i, uint32_t word) {
        uint64_t values[] = {counter(0), counter(1)};
        Timer &timer = timers[i];
        const uint32_t pending = timer.control & TINT & ~word;
        timer.control = (word & ~(TINT | (i ? +CASC : 0))) | pending;
        for (uint32_t each = 0; each < 2; each++) {
            Timer &other = timers[each];
            other.control = (other.control & ~ENALL) | (word & ENALL) | (word & ENALL ? +ENT : 0);
            other.ended = other.ended && runs(other);
            if (other.control & LOAD)
                values[each] = other.load;
        }
        if (is_cascaded())
            values[0] |= values[1] << 32;
        for (uint32_t each = 0; each < 2; each++) { // they go on from here, by the new settings
            const bool ran = timers[each].counts;
            timers[each].from = values[each];
            timers[each].begin = std::max(now(), timers[each].begin);
            timers[each].counts = runs(timers[each]) && !timers[each].ended && !(each && is_cascaded()) && each < count();
            high |= !each && timers[each].counts && !ran;
        }
    }

    void overflows(uint32_t i, uint64_t cycle) {
        Timer &timer = timers[i];
        const bool captures = timer.control & MDT;
        if (!captures)
            timer.control |= TINT;
        timer.begin = cycle + !captures; // a cycle to reload
        if (is_pwm() && i == 1) { // the high time is over: until the period is, too
            high = timer.counts = false;
            timer.ended = true;
            timer.from = timer.load;
        } else if (captures)
            timer.from = timer.control & UDT ? top() : 0;
        else if (timer.control & ARHT || is_pwm()) {
            timer.from = start(timer);
            if (is_pwm()) {
                high = true;
                timers[1].from = timers[1].load;
                timers[1].begin = cycle + 1;
                timers[1].counts = runs(timers[1]);
                timers[1].ended = false;
            } else {
                const uint64_t period = due(timer) - cycle;
                timer.begin += (now() - cycle) / period * period;
            }
        } else {
            timer.counts = false;
            timer.ended = true;
            timer.from = timer.control & UDT ? top() : 0;
        }
    }
};

const RegisterNeighbour<AxiTimer> timer("axi_timer");

} // namespace

} // namespace axl
