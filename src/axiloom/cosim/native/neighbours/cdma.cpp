// AXI CDMA (AMD PG034, v4.1): memory to memory, by registers or by a chain of descriptors.
//
// A transfer takes a beat of the port a cycle, a latency of memory either way, and SETUP; later descriptors of a chain are fetched
// while the one before moves. What it moves is in memory when it ends.
#include <algorithm>

#include "cpu/cpu.hpp"

namespace axl {

namespace {

class Cdma : public Neighbour {
  public:
    using Neighbour::Neighbour;

    uint32_t read(uint32_t offset) override {
        switch (offset) {
        case CR:
            return control | TAIL_POINTER;
        case SR:
            return status | (is_idle() ? IDLE : 0) | (has_sg() ? SG_INCLUDED | (left & 0xFF) << 16 : 0);
        case CURDESC:
            return control & SG_MODE ? current : 0;
        case TAILDESC:
            return control & SG_MODE ? tail : 0;
        case SA:
            return source;
        case DA:
            return target;
        case BTT:
            return bytes;
        default:
            return 0; // addresses have 32 bits
        }
    }

    void write(uint32_t offset, uint32_t value) override {
        switch (offset) {
        case CR:
            return controls(value);
        case SR:
            status &= ~(value & INTERRUPTS);
            if (value & INTERRUPTS)
                waiting = 0;
            return;
        case CURDESC:
            if (control & SG_MODE && is_idle()) {
                current = value & DESCRIPTOR;
                is_first = true;
            }
            return;
        case TAILDESC:
            tail = value & DESCRIPTOR;
            if (control & SG_MODE && is_idle() && !(status & ERRORS))
                begins_chain();
            return;
        case SA:
            source = value;
            return;
        case DA:
            target = value;
            return;
        case BTT:
            if (control & SG_MODE || !is_idle() || status & ERRORS)
                return; // has no effect
            bytes = value & BYTES;
            blame();
            return starts(latency() + beats(bytes));
        default:
            return;
        }
    }

    uint64_t next() const override { return std::min(ends, delay_due()); }

    void run() override {
        while (ends <= now()) {
            const uint64_t cycle = ends;
            ends = NEVER;
            cpu.catch_up(); // other masters come as far as this one is
            begin_burst();
            if (control & SG_MODE)
                ends_descriptor(cycle);
            else
                ends_transfer();
        }
        if (delay_due() <= now()) {
            status |= DELAY;
            waiting = 0;
        }
    }

    bool interrupts() const override { return status & control & INTERRUPTS; }

  private:
    enum : uint32_t { CR = 0x00, SR = 0x04, CURDESC = 0x08, TAILDESC = 0x10, SA = 0x18, DA = 0x20, BTT = 0x28 };
    enum : uint32_t { TAIL_POINTER = 2, RESET = 4, SG_MODE = 8, KEYHOLE_READ = 0x10, KEYHOLE_WRITE = 0x20, CYCLIC = 0x40,
                      WRITABLE = 0xFFFF7078 };                                                                       // CR
    enum : uint32_t { IDLE = 2, SG_INCLUDED = 8, COMPLETE = 0x1000, DELAY = 0x2000, FAILED = 0x4000, INTERRUPTS = 0x7000,
                      INTERNAL = 0x10, DECODE = 0x40, SG_INTERNAL = 0x100, SG_DECODE = 0x400, ERRORS = 0x770 };      // SR
    enum : uint32_t { NXTDESC = 0x00, FROM = 0x08, TO = 0x10, LENGTH = 0x18, STATUS = 0x1C, DONE = 1u << 31, DESCRIPTOR = ~63u,
                      DESCRIPTOR_BYTES = 32, BYTES = 0x3FFFFFF };
    static constexpr uint64_t SETUP = 12, DELAY_UNIT = 256;
    static constexpr uint32_t RESET_CONTROL = 1u << 16; // a threshold of 1

    uint32_t control = RESET_CONTROL, status = 0, current = 0, tail = 0, source = 0, target = 0, bytes = 0;
    uint32_t left = 1, waiting = 0; // descriptors until IOC_Irq; done since the last one
    uint64_t ends = NEVER, last_done = 0;
    bool is_first = true; // CURDESC is the next descriptor, not the last one

    bool has_sg() const { return at.settings[0]; }
    uint32_t lane() const { return at.settings[1]; } // bytes of a beat
    bool realigns() const { return at.settings[2]; }
    bool is_idle() const { return ends == NEVER; }
    uint64_t beats(uint32_t count) const { return (count + lane() - 1) / lane(); }
    uint64_t latency() const { return SETUP + at.settings[3] + at.settings[4]; }
    uint64_t delay_due() const {
        const uint64_t delay = control >> 24;
        return waiting && delay && control & SG_MODE ? last_done + delay * DELAY_UNIT : NEVER;
    }
    void starts(uint64_t cycles) { ends = now() + cycles; }
    // Reports of stale data name who started it.
    void blame() const { cpu.memory.sends = cpu.memory.receives = {cpu.state.mmio_pc, cpu.timeline.left_own()}; }

    void controls(uint32_t value) {
        if (value & RESET) {
            control = RESET_CONTROL;
            status = current = tail = source = target = bytes = waiting = 0;
            left = 1;
            ends = NEVER;
            is_first = true;
            return;
        }
        const uint32_t threshold = value >> 16 & 0xFF, before = control;
        control = value & WRITABLE & (has_sg() ? ~0u : ~(SG_MODE | CYCLIC));
        if (!threshold) // is not taken
            control |= before & 0xFF0000;
        if ((control ^ before) & 0xFF0000)
            left = control >> 16 & 0xFF;
        if (!(control & SG_MODE)) {
            current = tail = waiting = 0;
            status &= ~DELAY;
            is_first = true;
        }
    }

    void fails(uint32_t error) { status |= error | FAILED; }

    // The errors of a transfer, as bits of SR; 0: it was made.
    uint32_t move(uint32_t from, uint32_t to, uint32_t count) const {
        if (!count || (!realigns() && (from | to) % lane()))
            return INTERNAL;
        const uint32_t step_from = control & KEYHOLE_READ ? 0 : lane(), step_to = control & KEYHOLE_WRITE ? 0 : lane();
        if (!is_memory(from, step_from ? count : lane()) || !is_memory(to, step_to ? count : lane()))
            return DECODE;
        for (uint32_t done = 0; done < count; done += lane(), from += step_from, to += step_to)
            for (uint32_t i = 0; i < std::min(lane(), count - done);) {
                const uint32_t word = static_cast<uint32_t>(axl_mem_read(static_cast<int>((from + i) & ~3u)));
                const uint32_t wide = std::min(lane(), count - done) - i;
                if ((from + i) % 4 == 0 && (to + i) % 4 == 0 && wide >= 4) {
                    axl_mem_write(static_cast<int>(to + i), static_cast<int>(word), 15);
                    i += 4;
                } else {
                    const uint32_t byte = word >> 8 * ((from + i) % 4) & 0xFF, place = (to + i) % 4;
                    axl_mem_write(static_cast<int>((to + i) & ~3u), static_cast<int>(byte << 8 * place), 1 << place);
                    i++;
                }
            }
        return 0;
    }

    static bool is_memory(uint32_t address, uint32_t count) { return address < RAM_SIZE && count <= RAM_SIZE - address; }

    void ends_transfer() {
        if (const uint32_t error = move(source, target, bytes))
            return fails(error);
        status |= COMPLETE;
    }

    void begins_chain() {
        blame();
        if (!is_first)
            current = load(NXTDESC) & DESCRIPTOR;
        is_first = false;
        takes_descriptor(at.settings[3] + latency());
    }

    void takes_descriptor(uint64_t cycles) {
        if (!is_memory(current, DESCRIPTOR_BYTES))
            return fails(SG_DECODE);
        begin_burst();
        if (load(STATUS) & DONE && !(control & CYCLIC))
            return fails(SG_INTERNAL);
        starts(cycles + std::max(beats(load(LENGTH) & BYTES), beats(DESCRIPTOR_BYTES)) + 1);
    }

    uint32_t load(uint32_t offset) const { return static_cast<uint32_t>(axl_mem_read(static_cast<int>(current + offset))); }

    void ends_descriptor(uint64_t cycle) {
        const uint32_t error = move(load(FROM), load(TO), load(LENGTH) & BYTES);
        const uint32_t said = DONE | (error & DECODE ? 1u << 30 : 0) | (error & INTERNAL ? 1u << 28 : 0);
        axl_mem_write(static_cast<int>(current + STATUS), static_cast<int>(said), 15);
        if (error)
            return fails(error);
        last_done = cycle;
        waiting++;
        if (--left == 0) {
            left = control >> 16 & 0xFF;
            waiting = 0;
            status |= COMPLETE;
        }
        if (current == tail && !(control & CYCLIC))
            return;
        current = load(NXTDESC) & DESCRIPTOR;
        takes_descriptor(0);
    }
};

const RegisterNeighbour<Cdma> cdma("axi_cdma");

} // namespace

} // namespace axl
