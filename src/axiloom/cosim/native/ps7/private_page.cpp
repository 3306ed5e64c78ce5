// Blocks of the CPU's private page that are little more than registers: SCU, PL310. Cortex-A9 MPCore TRM, 2.2; PL310 TRM, 3.1.
#include <unordered_map>

#include "cpu/cpu.hpp"
#include "ps7/ps7.hpp"

namespace axl {

namespace {

class Scu : public Peripheral {
  public:
    using Peripheral::Peripheral;
    // Nothing in there has an effect here.
    std::optional<uint32_t> read(uint32_t offset) override { return offset == CONTROL ? control : 0; }
    bool write(uint32_t offset, uint32_t value, uint32_t) override {
        if (offset == CONTROL)
            control = value;
        return true;
    }

  private:
    enum : uint32_t { CONTROL = 0 };
    uint32_t control = 0;
};

class Pl310 : public Peripheral {
  public:
    using Peripheral::Peripheral;
    std::optional<uint32_t> read(uint32_t offset) override {
        switch (offset) {
        case ID:
            return 0x410000C8; // r3p2, as on a Zynq-7000
        case CONTROL:
        case AUXILIARY:
        case TAG_LATENCY:
        case DATA_LATENCY:
        case PREFETCH:
        case POWER:
            return settings[offset];
        default:
            return 0; // operations are over at once; nothing else in there has an effect here
        }
    }

    bool write(uint32_t offset, uint32_t value, uint32_t) override {
        ps7.cpu.maintains_caches();
        ps7.cpu.in_device = true;
        maintain(offset, value);
        ps7.cpu.in_device = false;
        return true;
    }

  private:
    enum : uint32_t { ID = 0x000, CONTROL = 0x100, AUXILIARY = 0x104, TAG_LATENCY = 0x108, DATA_LATENCY = 0x10C, INVALIDATE_LINE = 0x770,
                      INVALIDATE_WAY = 0x77C, CLEAN_LINE = 0x7B0, CLEAN_WAY = 0x7BC, FLUSH_LINE = 0x7F0, FLUSH_WAY = 0x7FC,
                      PREFETCH = 0xF60, POWER = 0xF80 };
    std::unordered_map<uint32_t, uint32_t> settings; // only CONTROL has an effect

    void maintain(uint32_t offset, uint32_t value) {
        Memory &memory = ps7.cpu.memory;
        const uint32_t line = value >> memory.line_shift;
        switch (offset) {
        case CONTROL:
            settings[offset] = value & 1;
            memory.turn_l2(value & 1);
            return;
        case AUXILIARY:
        case TAG_LATENCY:
        case DATA_LATENCY:
        case PREFETCH:
        case POWER:
            settings[offset] = value;
            return;
        case INVALIDATE_LINE:
            return memory.l2_line(line, Memory::INVALIDATE);
        case CLEAN_LINE:
            return memory.l2_line(line, Memory::CLEAN);
        case FLUSH_LINE:
            return memory.l2_line(line, Memory::CLEAN | Memory::INVALIDATE);
        case INVALIDATE_WAY:
            return memory.l2_ways(value, Memory::INVALIDATE);
        case CLEAN_WAY:
            return memory.l2_ways(value, Memory::CLEAN);
        case FLUSH_WAY:
            return memory.l2_ways(value, Memory::CLEAN | Memory::INVALIDATE);
        default:
            return;
        }
    }
};

const RegisterPeripheral<Scu> scu({ZYNQ7000, "SCU", 0xF8F00000, 0x58, 0, true});
const RegisterPeripheral<Pl310> pl310({ZYNQ7000, "PL310", 0xF8F02000, 0x1000, 0, true});

} // namespace

} // namespace axl
