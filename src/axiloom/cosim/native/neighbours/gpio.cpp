// AXI GPIO (AMD PG144, v2.0): two channels of up to 32 pins, and an interrupt when an input changes.
#include "cpu/cpu.hpp"

namespace axl {

namespace {

class Gpio : public Neighbour {
  public:
    Gpio(Cpu &cpu, const axl_neighbour_t &at) : Neighbour(cpu, at) {
        for (uint32_t i = 0; i < 2; i++) {
            const uint32_t *settings = at.settings + 5 * i; // width, default of DATA, of TRI, all are inputs, all are outputs
            Channel &channel = channels[i];
            channel.mask = settings[0] >= 32 ? ~0u : (1u << settings[0]) - 1;
            channel.fixed = settings[3] || settings[4];
            channel.tri = channel.fixed ? (settings[3] ? ~0u : 0) : settings[2];
            channel.data = settings[1];
        }
    }

    uint32_t read(uint32_t offset) override {
        if (offset < INTERRUPTS_AT) {
            const Channel &channel = channels[offset / CHANNEL % 2];
            if (offset >= 2 * CHANNEL)
                return 0;
            return offset % CHANNEL == TRI ? (channel.fixed ? 0 : channel.tri & channel.mask) : levels(channel);
        }
        return offset == GIER ? global : offset == IER ? enabled : offset == ISR ? status : 0;
    }

    void write(uint32_t offset, uint32_t value) override {
        if (offset < 2 * CHANNEL) {
            Channel &channel = channels[offset / CHANNEL];
            if (offset % CHANNEL == DATA)
                channel.data = value & channel.mask;
            else if (!channel.fixed)
                channel.tri = value;
        } else if (offset == GIER)
            global = value & 1u << 31;
        else if (offset == IER)
            enabled = value & has();
        else if (offset == ISR)
            status ^= value & has(); // a 1 toggles the bit
    }

    bool interrupts() const override { return global && status & enabled; }

    uint32_t pins(uint32_t port) const override { return levels(channels[port % 2]); }

    void drive(uint32_t port, uint32_t outside) override {
        Channel &channel = channels[port % 2];
        const uint32_t changed = (channel.outside ^ outside) & channel.tri & channel.mask;
        channel.outside = outside;
        if (changed)
            status |= (1u << port % 2) & has();
    }

  private:
    enum : uint32_t { DATA = 0, TRI = 4, CHANNEL = 8, INTERRUPTS_AT = 0x100, GIER = 0x11C, ISR = 0x120, IER = 0x128 };
    struct Channel {
        uint32_t mask = 0, data = 0, tri = 0, outside = 0;
        bool fixed = false; // TRI is not there
    } channels[2];
    uint32_t global = 0, enabled = 0, status = 0;

    uint32_t has() const { return at.settings[10] ? 1u | (channels[1].mask ? 2u : 0) : 0; } // interrupts
    static uint32_t levels(const Channel &channel) {
        return ((channel.outside & channel.tri) | (channel.data & ~channel.tri)) & channel.mask;
    }
};

const RegisterNeighbour<Gpio> gpio("axi_gpio");

} // namespace

} // namespace axl
