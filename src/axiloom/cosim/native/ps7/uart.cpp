// A UART. UG585, chapter 19 and B.33. Characters on the line take no time, so that a program's output costs it none; those
// that come back in local loopback take theirs, at 115,200 bits a second.
#include <algorithm>
#include <deque>

#include "cpu/cpu.hpp"
#include "ps7/gic.hpp"

namespace axl {

namespace {

class Uart : public Peripheral {
  public:
    using Peripheral::Peripheral;

    std::optional<uint32_t> read(uint32_t offset) override {
        switch (offset) {
        case CONTROL:
            return control;
        case ENABLE:
        case DISABLE:
            return 0;
        case MASK:
            return mask;
        case STATUS:
            return status;
        case TIMEOUT:
            return timeout;
        case TRIGGER:
            return trigger;
        case MODEM_STATUS:
            return 0;
        case CHANNEL:
            has_asked = true;
            fill();
            return channel();
        case FIFO:
            return take();
        default:
            return storage(offset) ? std::optional<uint32_t>(*storage(offset)) : std::nullopt;
        }
    }

    bool write(uint32_t offset, uint32_t value, uint32_t) override {
        switch (offset) {
        case CONTROL:
            if (value & RESET_RECEIVER)
                received.clear();
            if (value & RESET_SENDER)
                sending.clear();
            control = value & ~(RESET_RECEIVER | RESET_SENDER | RESTART_TIMEOUT);
            if (value & RESTART_TIMEOUT)
                wait_again(ps7.now());
            break;
        case ENABLE:
            mask |= value & ALL;
            break;
        case DISABLE:
            mask &= ~value;
            break;
        case MASK:
        case CHANNEL:
        case MODEM_STATUS:
            break;
        case STATUS:
            status &= ~value;
            break;
        case TIMEOUT:
            timeout = value & 0xFF;
            wait_again(ps7.now());
            break;
        case TRIGGER:
            trigger = value & 0x3F;
            break;
        case FIFO:
            send(static_cast<char>(value));
            break;
        default:
            if (!storage(offset))
                return false;
            *storage(offset) = value;
        }
        signal();
        ps7.look_soon();
        return true;
    }

    uint64_t next() const override {
        const uint64_t looped = sending.empty() ? Surroundings::NEVER : sent; // a program may poll for it
        return mask ? std::min(due, looped) : looped;
    }

    void run() override {
        while (!sending.empty() && sent <= ps7.now()) {
            arrives(sending.front(), sent);
            sending.pop_front();
            sent += CHARACTER_BITS * bit();
            if (sending.empty())
                status |= ALL_SENT;
        }
        fill();
        if (due <= ps7.now()) {
            status |= TIMED_OUT;
            due = Surroundings::NEVER;
        }
        signal();
    }

    bool wants_input() const override {
        if (!(control & RECEIVES) || control & NO_RECEIVES || (mode >> 8 & 3) == LOOPBACK)
            return false;
        return has_asked || mask & (TRIGGERED | RECEIVED_FULL | TIMED_OUT);
    }

  private:
    enum : uint32_t { CONTROL = 0x00, MODE = 0x04, ENABLE = 0x08, DISABLE = 0x0C, MASK = 0x10, STATUS = 0x14, BAUD = 0x18, TIMEOUT = 0x1C,
                      TRIGGER = 0x20, MODEM_CONTROL = 0x24, MODEM_STATUS = 0x28, CHANNEL = 0x2C, FIFO = 0x30, DIVIDER = 0x34,
                      FLOW = 0x38, SEND_TRIGGER = 0x44 };
    enum : uint32_t { RESET_RECEIVER = 1, RESET_SENDER = 2, RECEIVES = 4, NO_RECEIVES = 8, SENDS = 16, NO_SENDS = 32, RESTART_TIMEOUT = 64 };
    enum : uint32_t { CHANNEL_FULL = 16 };
    // Of interrupts; the first five are those of the channel's status, too.
    enum : uint32_t { TRIGGERED = 1, NONE_RECEIVED = 2, RECEIVED_FULL = 4, ALL_SENT = 8, OVERRUN = 0x20, TIMED_OUT = 0x100, ALL = 0x1FFF };
    static constexpr size_t FIFO_BYTES = 64;
    static constexpr uint32_t LOOPBACK = 2;
    static constexpr uint64_t BIT_RATE = 115200, CHARACTER_BITS = 10;

    // As a boot loader leaves it.
    uint32_t control = SENDS | RECEIVES, mode = 0x20, mask = 0, status = 0, timeout = 0, trigger = 0x20;
    uint32_t baud = 0x7C, modem = 0, divider = 6, flow = 0, send_trigger = 0x20;
    uint64_t due = Surroundings::NEVER;
    std::deque<char> received, sending; // sending: in loopback
    bool has_asked = false;             // it looked whether there is something, and has sent nothing since
    uint64_t sent = 0;                  // when the first of them is

    uint32_t *storage(uint32_t offset) {
        switch (offset) {
        case MODE:
            return &mode;
        case BAUD:
            return &baud;
        case MODEM_CONTROL:
            return &modem;
        case DIVIDER:
            return &divider;
        case FLOW:
            return &flow;
        case SEND_TRIGGER:
            return &send_trigger;
        default:
            return nullptr;
        }
    }

    uint32_t channel() const {
        uint32_t bits = sending.empty() ? +ALL_SENT : 0;
        if (sending.size() >= FIFO_BYTES)
            bits |= CHANNEL_FULL;
        if (trigger && received.size() >= trigger)
            bits |= TRIGGERED;
        if (received.empty())
            bits |= NONE_RECEIVED;
        if (received.size() >= FIFO_BYTES)
            bits |= RECEIVED_FULL;
        return bits;
    }

    uint64_t bit() const { return ps7.cpu.config.cpu_hz / BIT_RATE; }

    void send(char c) {
        if (!(control & SENDS) || control & NO_SENDS)
            return;
        if ((mode >> 8 & 3) != LOOPBACK) {
            ps7.print(*this, c);
            has_asked = false;
            status |= ALL_SENT;
            return;
        }
        if (sending.empty())
            sent = ps7.now() + CHARACTER_BITS * bit();
        if (sending.size() < FIFO_BYTES)
            sending.push_back(c);
    }

    void arrives(char c, uint64_t when) {
        if (received.size() < FIFO_BYTES)
            received.push_back(c);
        else
            status |= OVERRUN;
        status |= channel() & (TRIGGERED | RECEIVED_FULL);
        wait_again(when);
    }

    uint32_t take() {
        has_asked = true;
        fill();
        if (received.empty())
            return 0;
        const uint32_t c = static_cast<uint8_t>(received.front());
        received.pop_front();
        fill();
        if (received.empty())
            status |= NONE_RECEIVED;
        signal();
        return c;
    }

    // What comes from outside is there as soon as there is room for it, at the port that waits for it.
    void fill() {
        if (!wants_input() || received.size() >= FIFO_BYTES)
            return;
        char c;
        while (received.size() < FIFO_BYTES && ps7.cpu.console.take(c))
            arrives(c, ps7.now());
    }

    // Four bits a unit, from the last character on.
    void wait_again(uint64_t when) { due = timeout && !received.empty() ? when + timeout * 4 * bit() : Surroundings::NEVER; }

    void signal() { ps7.gic().line(at.line, status & mask); }
};

const RegisterPeripheral<Uart> uart0({ZYNQ7000, "UART0", 0xE0000000, 0x1000, 59, false});
const RegisterPeripheral<Uart> uart1({ZYNQ7000, "UART1", 0xE0001000, 0x1000, 82, false});
const RegisterPeripheral<Uart> uart0_mp({ZYNQMP, "UART0", 0xFF000000, 0x1000, 53, false});
const RegisterPeripheral<Uart> uart1_mp({ZYNQMP, "UART1", 0xFF010000, 0x1000, 54, false});

} // namespace

} // namespace axl
