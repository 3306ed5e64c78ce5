#include "ps7/gic.hpp"

#include <algorithm>

namespace axl {

namespace {

enum : uint32_t { CPU_CONTROL = 0x00, PRIORITY_MASK = 0x04, BINARY_POINT = 0x08, ACKNOWLEDGE = 0x0C, END = 0x10, RUNNING = 0x14,
                  HIGHEST = 0x18, CPU_ID = 0xFC };
enum : uint32_t { CONTROL = 0x000, TYPE = 0x004, ID = 0x008, GROUP = 0x080, SET_ENABLE = 0x100, CLEAR_ENABLE = 0x180, SET_PENDING = 0x200,
                  CLEAR_PENDING = 0x280, ACTIVE = 0x300, PRIORITY = 0x400, TARGETS = 0x800, CONFIGURATION = 0xC00, PPI_STATUS = 0xD00,
                  SPI_STATUS = 0xD04, SOFTWARE = 0xF00, IDENTITY = 0xFD0 };
constexpr uint32_t FIQ = 8; // of CPU_CONTROL
constexpr uint32_t FIRST_SHARED = 32, FIRST_PRIVATE = 16;
constexpr uint32_t PRIORITY_BITS = 0xF8; // 32 levels
constexpr uint32_t PRIVATE_CONFIGURATION = 0x7DC00000, SOFTWARE_CONFIGURATION = 0xAAAAAAAA; // read only

} // namespace

Gic::Gic(Ps7 &ps7) : ps7(ps7), count(ps7.family.interrupts), all(count) {
    for (uint32_t id = 0; id < count; id++) {
        all[id].enabled = id < FIRST_PRIVATE;
        all[id].edge = id < FIRST_PRIVATE || (id < FIRST_SHARED && ps7.family.private_edges >> id & 1);
        all[id].targets = id < FIRST_SHARED;
    }
}

void Gic::line(uint32_t id, bool high) {
    Interrupt &interrupt = all[id];
    if (high == interrupt.high)
        return;
    if (high && interrupt.edge)
        interrupt.latched = true;
    interrupt.high = high;
    ps7.look_soon();
}

uint32_t Gic::best() const {
    uint32_t highest = SPURIOUS;
    uint32_t limit = mask;
    if (!served.empty())
        limit = std::min(limit, running());
    for (uint32_t id = 0; id < count; id++) {
        const Interrupt &interrupt = all[id];
        const uint32_t group = interrupt.second_group ? 2 : 1;
        if (!interrupt.enabled || !interrupt.pending() || interrupt.active || !(interrupt.targets & 1))
            continue;
        if (!(distributor_control & group) || !(cpu_control & group) || interrupt.priority >= limit)
            continue;
        limit = interrupt.priority;
        highest = id;
    }
    return highest;
}

uint32_t Gic::acknowledge() {
    const uint32_t id = best();
    if (id == SPURIOUS)
        return id;
    all[id].latched = false;
    all[id].active = true;
    served.push_back(id);
    ps7.look_soon();
    return id;
}

void Gic::end(uint32_t id) {
    const auto last = std::find(served.rbegin(), served.rend(), id);
    if (last == served.rend())
        return;
    served.erase(std::next(last).base());
    all[id].active = false;
    ps7.look_soon();
}

// ICDSGIR: the list of CPUs, all others, or this one. There is no other CPU that runs.
void Gic::software(uint32_t value) {
    const uint32_t filter = value >> 24 & 3;
    if (filter == 2 || (filter == 0 && value >> 16 & 1))
        all[value & 15].latched = true;
    ps7.look_soon();
}

std::optional<uint32_t> Gic::read_cpu(uint32_t offset) {
    switch (offset) {
    case CPU_CONTROL:
        return cpu_control;
    case PRIORITY_MASK:
        return mask;
    case BINARY_POINT:
        return binary_point;
    case ACKNOWLEDGE:
        return acknowledge();
    case RUNNING:
        return running();
    case HIGHEST:
        return best();
    case CPU_ID:
        return ps7.family.interface_id;
    default:
        return std::nullopt;
    }
}

bool Gic::write_cpu(uint32_t offset, uint32_t value) {
    ps7.look_soon();
    switch (offset) {
    case CPU_CONTROL:
        if (value & FIQ)
            ps7.note("asks for FIQ (ICCICR): here all interrupts come as IRQ");
        cpu_control = value & 0x1F;
        return true;
    case PRIORITY_MASK:
        mask = value & PRIORITY_BITS;
        return true;
    case BINARY_POINT:
        binary_point = std::max(value & 7, 2u);
        return true;
    case END:
        end(value & 0x3FF);
        return true;
    default:
        return false;
    }
}

template <typename Of> uint32_t Gic::bits(uint32_t first, Of of) const {
    uint32_t value = 0;
    for (uint32_t bit = 0; bit < 32 && first + bit < count; bit++)
        value |= static_cast<uint32_t>(of(all[first + bit])) << bit;
    return value;
}

template <typename Do> void Gic::where_set(uint32_t first, uint32_t value, Do action) {
    for (uint32_t bit = 0; bit < 32 && first + bit < count; bit++)
        if (value >> bit & 1)
            action(all[first + bit], first + bit);
}

std::optional<uint32_t> Gic::read_distributor(uint32_t offset) {
    const uint32_t set = (offset & 0x7F) / 4 * 32, byte = offset & 0x3FF;
    switch (offset & 0xF80) {
    case GROUP:
        return bits(set, [](const Interrupt &i) { return i.second_group; });
    case SET_ENABLE:
    case CLEAR_ENABLE:
        return bits(set, [](const Interrupt &i) { return i.enabled; });
    case SET_PENDING:
    case CLEAR_PENDING:
        return bits(set, [](const Interrupt &i) { return i.pending(); });
    case ACTIVE:
        return bits(set, [](const Interrupt &i) { return i.active; });
    default:
        break;
    }
    uint32_t value = 0;
    if (offset >= PRIORITY && offset < CONFIGURATION) {
        for (uint32_t lane = 0; lane < 4 && byte + lane < count; lane++) {
            const Interrupt &interrupt = all[byte + lane];
            value |= static_cast<uint32_t>(offset >= TARGETS ? interrupt.targets : interrupt.priority) << 8 * lane;
        }
        return value;
    }
    if (offset >= CONFIGURATION && offset < CONFIGURATION + count / 4) {
        if (offset - CONFIGURATION < 8)
            return offset == CONFIGURATION ? SOFTWARE_CONFIGURATION : PRIVATE_CONFIGURATION;
        for (uint32_t bit = 0; bit < 16; bit++)
            value |= (all[(offset - CONFIGURATION) * 4 + bit].edge ? 3u : 1u) << 2 * bit;
        return value;
    }
    if (offset >= IDENTITY)
        return ps7.family.identities[(offset - IDENTITY) / 4];
    switch (offset) {
    case CONTROL:
        return distributor_control;
    case TYPE:
        return ps7.family.type;
    case ID:
        return ps7.family.distributor_id;
    case PPI_STATUS:
        return bits(0, [](const Interrupt &i) { return i.high; }) >> 16;
    case SPI_STATUS:
    case SPI_STATUS + 4:
    case SPI_STATUS + 8:
    case SPI_STATUS + 12:
    case SPI_STATUS + 16:
        return bits(FIRST_SHARED + (offset - SPI_STATUS) * 8, [](const Interrupt &i) { return i.high; });
    default:
        return std::nullopt;
    }
}

bool Gic::write_distributor(uint32_t offset, uint32_t value, uint32_t lanes) {
    ps7.look_soon();
    const uint32_t set = (offset & 0x7F) / 4 * 32, byte = offset & 0x3FF;
    switch (offset & 0xF80) {
    case GROUP:
        for (uint32_t bit = 0; bit < 32 && set + bit < count; bit++)
            all[set + bit].second_group = value >> bit & 1;
        return true;
    case SET_ENABLE:
        where_set(set, value, [](Interrupt &i, uint32_t) { i.enabled = true; });
        return true;
    case CLEAR_ENABLE:
        where_set(set, value, [](Interrupt &i, uint32_t id) { i.enabled = id < FIRST_PRIVATE; });
        return true;
    case SET_PENDING:
        where_set(set, value, [](Interrupt &i, uint32_t id) { i.latched |= id >= FIRST_PRIVATE; });
        return true;
    case CLEAR_PENDING:
        where_set(set, value, [](Interrupt &i, uint32_t id) { i.latched &= id < FIRST_PRIVATE; });
        return true;
    default:
        break;
    }
    if (offset >= PRIORITY && offset < CONFIGURATION) {
        for (uint32_t lane = 0; lane < 4 && byte + lane < count; lane++) {
            if (!(lanes >> 8 * lane & 1))
                continue;
            const uint8_t part = static_cast<uint8_t>(value >> 8 * lane);
            if (offset < TARGETS)
                all[byte + lane].priority = part & PRIORITY_BITS;
            else if (byte + lane >= FIRST_SHARED)
                all[byte + lane].targets = part & 3;
        }
        return true;
    }
    if (offset >= CONFIGURATION && offset < CONFIGURATION + count / 4) {
        for (uint32_t bit = 0; bit < 16 && offset - CONFIGURATION >= 8; bit++)
            all[(offset - CONFIGURATION) * 4 + bit].edge = value >> (2 * bit + 1) & 1;
        return true;
    }
    switch (offset) {
    case CONTROL:
        distributor_control = value & 3;
        return true;
    case SOFTWARE:
        software(value);
        return true;
    default:
        return false;
    }
}

namespace {

class GicCpu : public Peripheral {
  public:
    using Peripheral::Peripheral;
    std::optional<uint32_t> read(uint32_t offset) override { return ps7.gic().read_cpu(offset); }
    bool write(uint32_t offset, uint32_t value, uint32_t) override { return ps7.gic().write_cpu(offset, value); }
};

class GicDistributor : public Peripheral {
  public:
    using Peripheral::Peripheral;
    std::optional<uint32_t> read(uint32_t offset) override { return ps7.gic().read_distributor(offset); }
    bool write(uint32_t offset, uint32_t value, uint32_t mask) override { return ps7.gic().write_distributor(offset, value, mask); }
};

const RegisterPeripheral<GicCpu> interface({ZYNQ7000, "GIC CPU interface", 0xF8F00100, 0x100, 0, false});
const RegisterPeripheral<GicDistributor> distributor({ZYNQ7000, "GIC distributor", 0xF8F01000, 0x1000, 0, false});
const RegisterPeripheral<GicCpu> interface_mp({ZYNQMP, "GIC CPU interface", 0xF9020000, 0x1000, 0, false});
const RegisterPeripheral<GicDistributor> distributor_mp({ZYNQMP, "GIC distributor", 0xF9010000, 0x1000, 0, false});

} // namespace

} // namespace axl
