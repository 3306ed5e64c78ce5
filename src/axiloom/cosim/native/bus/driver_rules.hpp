// What a driver may write to the DMA's registers and when (AMD PG021, AXI DMA v7.1), and memory that it may not touch
// while a transfer is under way. A mistake is kept, with its place, and the run goes on: hardware does something, too.
#pragma once

#include <algorithm>
#include <cstring>
#include <unordered_set>
#include <vector>

#include "axl_core.h"
#include "bus/dma_registers.h"
#include "memory/memory.hpp"
#include "text.hpp"

namespace axl {

class DriverRules {
  public:
    static constexpr size_t LIMIT = 64;
    std::vector<axl_mistake_t> list;
    axl_dma_t dmas[AXL_ACCELERATORS] = {};
    bool in_flight = false; // of some transfer no end was seen: then the CPU's misses and first stores are looked at

    DriverRules(const uint8_t *ram, Memory &memory) : ram(ram), memory(memory) {}

    void reset() {
        list.clear();
        for (Dma &dma : state)
            dma = Dma();
        in_flight = false;
    }

    // A store of the CPU's to page `number`, before the DMA has it.
    void writes(uint32_t number, uint32_t offset, uint32_t value, Place place) {
        Dma &dma = state[number];
        if (!dmas[number].length_bits)
            return;
        if (offset >= AXL_REGISTERS_AT) {
            if (!dmas[number].registers)
                add(AXL_MISTAKE_NO_REGISTER, number, offset, value, 0, place);
            return;
        }
        const uint32_t base = offset >= S2MM ? S2MM : MM2S, at = offset - base;
        Channel &channel = dma.channels[base == S2MM];
        const bool direct = !dmas[number].scatter_gather;
        if (at == DMACR || at == DMASR || (direct && (at == ADDRESS || at == LENGTH)) ||
            (!direct && (at == CURDESC || at == TAILDESC || at == AHEADDESC))) {
            // A handler that finds nothing pending may acknowledge that.
            const bool nothing = !value && !(channel.status & INTERRUPTS);
            if (at == DMASR && !(value & INTERRUPTS) && value != channel.status && !nothing)
                add(AXL_MISTAKE_READ_ONLY, number, offset, value, 0, place);
            if (at == ADDRESS) {
                channel.address = value;
                channel.has_address = true;
            }
            if (at == CURDESC)
                begins_at(number, offset, channel, value, place);
            if (at == TAILDESC)
                goes_to(number, offset, channel, value, place);
            return;
        }
        const bool upper = at == CURDESC + 4 || at == TAILDESC + 4 || at == ADDRESS + 4; // of addresses of 64 bits
        if (!upper || value)
            add(AXL_MISTAKE_NO_REGISTER, number, offset, value, 0, place);
    }

    // The DMA has it. `busy`: which channels (1: MM2S, 2: S2MM) were when it came.
    void written(uint32_t number, uint32_t offset, uint32_t value, uint32_t busy, Place place) {
        if (offset >= AXL_REGISTERS_AT || !dmas[number].length_bits)
            return;
        Dma &dma = state[number];
        const bool receives = offset >= S2MM;
        Channel &channel = dma.channels[receives];
        if (offset % S2MM == DMACR)
            controls(number, offset, value, busy, place);
        if (offset % S2MM == LENGTH && !dmas[number].scatter_gather)
            starts(number, offset, channel, value, busy >> receives & 1, place);
    }

    // The CPU has read `value` of a register.
    void read(uint32_t number, uint32_t offset, uint32_t value) {
        if (!dmas[number].length_bits || (offset != MM2S + DMASR && offset != S2MM + DMASR))
            return;
        Channel &channel = state[number].channels[offset >= S2MM];
        channel.status = value;
        if (value & (DMASR_HALTED | DMASR_IDLE | DMASR_IOC_IRQ | DMASR_ERRORS))
            ended(channel);
    }

    // A word that S2MM takes.
    void word_out(uint32_t number, bool last) {
        Channel &channel = state[number].channels[1];
        if (!channel.asked)
            return;
        channel.words++;
        const uint32_t beat = std::max(dmas[number].beat_bytes / 4, 1u);
        if (last)
            channel.asked = 0;
        else if (channel.words % beat == 0 && 4 * channel.words >= channel.asked) {
            add(AXL_MISTAKE_RECEIVE_SHORT, number, S2MM + LENGTH, channel.asked, channel.words, channel.started);
            channel.asked = 0;
        }
    }

    // The transfer that [address, address + size) belongs to: of S2MM for loads, of either for stores. -1: none.
    int transfer_of(bool write, uint32_t address, uint32_t size) const {
        for (uint32_t i = 0; i < 2 * AXL_ACCELERATORS; i++) {
            const Channel &channel = state[i / 2].channels[i % 2];
            if ((i % 2 || write) && channel.bytes && address < channel.begin + channel.bytes && channel.begin < address + size)
                return static_cast<int>(i);
        }
        return -1;
    }

    void has_ended(int transfer) { ended(state[transfer / 2].channels[transfer % 2]); }

    // The CPU touches its memory while it is under way.
    void touches(int transfer, bool write, uint32_t address, Place place) {
        const uint32_t i = static_cast<uint32_t>(transfer);
        const Channel &channel = state[i / 2].channels[i % 2];
        add(write ? AXL_MISTAKE_EARLY_STORE : AXL_MISTAKE_EARLY_LOAD, i / 2, (i % 2 ? S2MM : MM2S) + DMASR, address, channel.begin, place);
    }

    // A word that the DMA fetches early, behind the descriptors that it was told of, and may throw away.
    bool is_guess(uint32_t address) const {
        const uint32_t block = address & ~(DESCRIPTOR - 1);
        bool behind = false;
        for (const Dma &dma : state) {
            if (dma.covered.count(block))
                return false;
            behind |= dma.covered.count(block - DESCRIPTOR) != 0;
        }
        return behind;
    }

    // The last transfer whose end the program has not seen, in words for a person.
    std::string transfer_text(uint32_t i) const {
        const Channel &channel = state[i / 2].channels[i % 2];
        if (!channel.was_started)
            return "never started";
        return channel.bytes ? format("%u bytes at 0x%08X whose end was not seen", channel.bytes, channel.begin)
                             : format("the last one at 0x%08X", channel.address);
    }

    axl_dma_state_t summary(uint32_t number) const {
        axl_dma_state_t result{};
        for (uint32_t i = 0; i < 2; i++) {
            const Channel &channel = state[number].channels[i];
            result.control[i] = channel.control;
            result.started[i] = channel.was_started;
        }
        return result;
    }

  private:
    static constexpr uint32_t DESCRIPTOR = 64, MOST = 1u << 16;
    static constexpr uint32_t INTERRUPTS = DMASR_IOC_IRQ | DMASR_DLY_IRQ | DMASR_ERR_IRQ;
    enum : uint32_t { NXTDESC = 0x00, BUFFER = 0x08, CONTROL = 0x18, STATUS = 0x1C, CMPLT = 1u << 31, BYTES = 0x3FFFFFF };
    struct Channel {
        uint32_t control = 0, status = 0, address = 0;
        uint32_t asked = 0, words = 0; // S2MM, direct: bytes, and words since
        uint32_t begin = 0, bytes = 0; // memory of a transfer whose end was not seen
        bool has_address = false, has_current = false, was_started = false;
        uint32_t next = 0; // the first descriptor that TAILDESC has not covered
        Place started;
    };
    struct Dma {
        Channel channels[2];
        std::unordered_set<uint32_t> covered; // descriptors
    };
    const uint8_t *ram;
    Memory &memory;
    Dma state[AXL_ACCELERATORS];

    void add(uint32_t kind, uint32_t dma, uint32_t at, uint32_t value, uint32_t detail, Place place) {
        for (axl_mistake_t &known : list)
            if (known.kind == kind && known.dma == dma && known.at == at && known.pc == place.pc && known.call == place.call) {
                known.count++;
                return;
            }
        if (list.size() < LIMIT)
            list.push_back({kind, dma, at, value, detail, place.pc, place.call, 0, 1, memory.cycle});
    }

    void ended(Channel &channel) {
        channel.bytes = 0;
        in_flight = false;
        for (const Dma &dma : state)
            for (const Channel &other : dma.channels)
                in_flight |= other.bytes != 0;
    }

    void controls(uint32_t number, uint32_t offset, uint32_t value, uint32_t busy, Place place) {
        Dma &dma = state[number];
        if (!(value & DMACR_RESET)) {
            dma.channels[offset >= S2MM].control = value;
            return;
        }
        // In cyclic mode it is the end of a transfer.
        const Channel &receive = dma.channels[1];
        const bool sends = busy & 1 && !(dma.channels[0].control & DMACR_CYCLIC_BD_ENABLE);
        const bool receives = busy & 2 && receive.words && receive.asked;
        if (sends || receives)
            add(AXL_MISTAKE_RESET_BUSY, number, offset, sends ? MM2S : S2MM, 0, place);
        for (Channel &channel : dma.channels) {
            const bool was_started = channel.was_started;
            ended(channel);
            channel = Channel();
            channel.was_started = was_started;
        }
        dma.covered.clear();
    }

    void starts(uint32_t number, uint32_t offset, Channel &channel, uint32_t value, bool busy, Place place) {
        const axl_dma_t &dma = dmas[number];
        const uint32_t cut = value & ((1u << dma.length_bits) - 1);
        const bool halted = !(channel.control & DMACR_RS);
        if (cut != value)
            add(AXL_MISTAKE_LENGTH_CUT, number, offset, value, dma.length_bits, place);
        else if (!value)
            add(AXL_MISTAKE_LENGTH_ZERO, number, offset, value, 0, place);
        if (halted)
            add(AXL_MISTAKE_NOT_RUNNING, number, offset, value, channel.control, place);
        else if (busy)
            add(AXL_MISTAKE_BUSY, number, offset, value, 0, place);
        else if (!channel.has_address)
            add(AXL_MISTAKE_NO_ADDRESS, number, offset - LENGTH + ADDRESS, value, 0, place);
        else if (channel.address % dma.beat_bytes)
            add(AXL_MISTAKE_UNALIGNED, number, offset - LENGTH + ADDRESS, channel.address, dma.beat_bytes, place);
        else if (cut && offset >= S2MM && cut < dma.beat_bytes)
            add(AXL_MISTAKE_LENGTH_SMALL, number, offset, value, dma.beat_bytes, place);
        channel.was_started = true;
        if (halted || busy || !cut)
            return;
        channel.asked = cut;
        channel.words = 0;
        channel.started = place;
        channel.begin = channel.address;
        channel.bytes = cut;
        in_flight = true;
    }

    // Of a descriptor, as the CPU has it.
    uint32_t word(uint32_t address) const {
        uint32_t value = 0;
        if (address <= RAM_BYTES - 4)
            memcpy(&value, ram + address, sizeof value);
        return value;
    }
    uint32_t in_memory(uint32_t address) const {
        uint32_t value = 0;
        const uint32_t line = address >> memory.line_shift;
        if (!memory.contents.on || memory.contents.is_whole(line))
            return word(address);
        memcpy(&value, memory.contents.memory(line) + (address & ((1u << memory.line_shift) - 1)), sizeof value);
        return value;
    }

    void begins_at(uint32_t number, uint32_t offset, Channel &channel, uint32_t value, Place place) {
        if (channel.control & DMACR_RS)
            add(AXL_MISTAKE_CURRENT_RUNNING, number, offset, value, 0, place);
        if (value % DESCRIPTOR)
            add(AXL_MISTAKE_DESCRIPTOR_PLACE, number, offset, value, 0, place);
        channel.has_current = true;
        channel.next = value;
    }

    // The descriptors that a write of TAILDESC hands over.
    void goes_to(uint32_t number, uint32_t offset, Channel &channel, uint32_t tail, Place place) {
        channel.was_started = true;
        if (!(channel.control & DMACR_RS))
            add(AXL_MISTAKE_NOT_RUNNING, number, offset, tail, channel.control, place);
        const bool cyclic = channel.control & DMACR_CYCLIC_BD_ENABLE; // the tail is no descriptor, and all are taken again
        if (tail % DESCRIPTOR && !cyclic)
            add(AXL_MISTAKE_DESCRIPTOR_PLACE, number, offset, tail, 0, place);
        if (!channel.has_current)
            add(AXL_MISTAKE_NO_CURRENT, number, offset, tail, 0, place);
        if ((tail % DESCRIPTOR && !cyclic) || !channel.has_current)
            return;
        uint32_t at = channel.next;
        for (uint32_t i = 0; i < MOST && at <= RAM_BYTES - DESCRIPTOR && at % DESCRIPTOR == 0; i++) {
            const uint32_t buffer = word(at + BUFFER);
            state[number].covered.insert(at);
            if (word(at + STATUS) & in_memory(at + STATUS) & CMPLT && !cyclic)
                add(AXL_MISTAKE_DESCRIPTOR_DONE, number, offset, at, word(at + STATUS), place);
            else if (!(word(at + CONTROL) & BYTES))
                add(AXL_MISTAKE_DESCRIPTOR_EMPTY, number, offset, at, 0, place);
            else if (buffer % dmas[number].beat_bytes)
                add(AXL_MISTAKE_DESCRIPTOR_BUFFER, number, offset, at, buffer, place);
            if (at == tail && !cyclic) {
                channel.next = word(at + NXTDESC) & ~(DESCRIPTOR - 1);
                return;
            }
            at = word(at + NXTDESC);
            if (cyclic && at == channel.next)
                return;
        }
        add(AXL_MISTAKE_TAIL_UNREACHED, number, offset, tail, channel.next, place);
    }

    static constexpr uint32_t RAM_BYTES = 512u << 20;
};

} // namespace axl
