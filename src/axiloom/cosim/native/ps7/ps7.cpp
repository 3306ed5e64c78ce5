#include "ps7/ps7.hpp"

#include <algorithm>
#include <cstring>

#include "cpu/cpu.hpp"
#include "ps7/gic.hpp"
#include "text.hpp"

namespace axl {

namespace {

struct Entry {
    PeripheralAt at;
    MakePeripheral make;
};

// Blocks register themselves while the library is loaded, in whatever order.
std::vector<Entry> &entries() {
    static std::vector<Entry> all;
    return all;
}

} // namespace

RegisterPeripheralAs::RegisterPeripheralAs(const PeripheralAt &at, MakePeripheral make) { entries().push_back({at, make}); }

Ps7::Ps7(Cpu &cpu, const Family &family) : cpu(cpu), family(family) {
    std::sort(entries().begin(), entries().end(), [](const Entry &a, const Entry &b) { return a.at.base < b.at.base; });
    for (const Entry &entry : entries())
        if (entry.at.family == std::string(family.name))
            blocks.push_back(entry.make(*this, entry.at));
    controller = std::make_unique<Gic>(*this);
}

Ps7::~Ps7() = default;

uc_err Ps7::map(const Window &window) {
    mapped.push_back(std::make_unique<Mapped>(Mapped{this, window}));
    return uc_mmio_map(cpu.engine, window.base, window.size, on_load, mapped.back().get(), on_store, mapped.back().get());
}

uc_err Ps7::map_private() { return family.own.size ? map(family.own) : UC_ERR_OK; }

uc_err Ps7::map_board() {
    is_board = true;
    uc_err code = UC_ERR_OK;
    for (size_t i = 0; i < family.registers.size() && code == UC_ERR_OK; i++)
        code = map(family.registers[i]);
    ram.assign(family.ram.size, 0);
    return code == UC_ERR_OK ? uc_mem_map_ptr(cpu.engine, family.ram.base, family.ram.size, UC_PROT_ALL, ram.data()) : code;
}

// ---- what blocks use

uint64_t Ps7::now() const { return cpu.cycles(); }
void Ps7::look_soon() { cpu.look_soon(); }
void Ps7::print(const Peripheral &port, char c) { cpu.print(port.at.name, &c, 1); }
void Ps7::note(const std::string &text) { cpu.note(cpu.state.mmio_pc, text); }
void Ps7::stop(const std::string &why) { cpu.stop_with(AXL_FAULT_EXCEPTION, cpu.state.mmio_pc, 0, why); }

// A loop that does nothing but look at a clock waits for it. Then time passes in steps of a small part of what it has
// waited already: a long wait is longer by that part at most. Where waits of one place have been equal, the next one comes
// to its end at once.
void Ps7::looks_at_clock() {
    const uint32_t pc = cpu.state.mmio_pc, link = cpu.link();
    const bool goes_on = pc == wait.pc && link == wait.link && others == wait.others &&
                         (cpu.interrupts != wait.interrupts || cpu.instructions - wait.instructions < WAIT_INSTRUCTIONS);
    if (!goes_on) {
        end_wait();
        wait = {};
        wait.pc = pc, wait.link = link, wait.others = others, wait.begin = now();
        const Learned &before = learned[place(pc, link)];
        if (before.repeats >= WAIT_REPEATS && next() > now() + before.length) {
            cpu.pass_time(now() + before.length);
            wait.was_learned = true;
        }
    }
    if (++wait.reads > WAIT_READS)
        cpu.pass_time(std::min(now() + (now() - wait.begin) / WAIT_STEP, next()));
    wait.instructions = cpu.instructions;
    wait.interrupts = cpu.interrupts;
    wait.length = now() - wait.begin;
}

void Ps7::end_wait() {
    if (wait.reads < 2 || wait.reads > WAIT_LEARNED)
        return;
    Learned &before = learned[place(wait.pc, wait.link)];
    const uint64_t few = std::min(wait.reads, before.reads), many = std::max(wait.reads, before.reads);
    if (wait.was_learned && wait.reads <= before.reads / 16 + 2)
        return; // its end was near
    if (!wait.was_learned && many - few <= many / 16) // a clock ticks sooner or later
        before = {few, std::min(wait.length, before.length), before.repeats + 1};
    else
        before = {wait.reads, wait.length, 0};
}

// ---- as the CPU sees it

void Ps7::lines(uint32_t fabric) {
    for (uint32_t line = 0; line < 16; line++)
        gic().line(family.fabric(line), fabric >> line & 1);
}

void Ps7::run() {
    for (const auto &block : blocks)
        block->run();
    cpu.run_neighbours();
}

uint64_t Ps7::next() const {
    uint64_t first = cpu.next_of_neighbours();
    for (const auto &block : blocks)
        first = std::min(first, block->next());
    return first;
}

bool Ps7::interrupts() const { return controller->signals(); }

bool Ps7::wants_input() const {
    return std::any_of(blocks.begin(), blocks.end(), [](const auto &block) { return block->wants_input(); });
}

// ---- accesses

Peripheral *Ps7::block_at(uint32_t address) const {
    for (const auto &block : blocks)
        if (address - block->at.base < block->at.size)
            return is_board || block->at.always ? block.get() : nullptr;
    return nullptr;
}

void Ps7::unknown(uint32_t address, bool write, uint32_t value) {
    if (!is_board) {
        cpu.stop_with(AXL_FAULT_ACCESS, cpu.state.mmio_pc, address,
                      format(write ? "store to 0x%08X at pc 0x%08X: this register of the CPU's private page is not modelled"
                                   : "load of 0x%08X at pc 0x%08X: this register of the CPU's private page is not modelled",
                             address, cpu.state.mmio_pc));
        return;
    }
    if (storage.emplace(address, 0).second)
        note(write ? format("stores 0x%08X to 0x%08X: no such register is modelled; it keeps what is written", value, address)
                   : format("loads 0x%08X: no such register is modelled; it reads as what was written, or 0", address));
}

uint32_t Ps7::load(uint32_t address, unsigned size) {
    cpu.memory.penalty += is_own(address) ? cpu.config.private_read_cycles : cpu.config.uncached_read_cycles;
    const uint32_t word = address & ~3u;
    Peripheral *block = size == 4 || is_board ? block_at(address) : nullptr;
    const auto clock = block ? block->clock(word - block->at.base) : Peripheral::Clock::NO;
    if (clock != Peripheral::Clock::UPPER)
        accesses(clock == Peripheral::Clock::YES);
    if (block)
        block->run();
    const std::optional<uint32_t> known = block ? block->read(word - block->at.base) : std::nullopt;
    if (!known)
        unknown(word, false, 0);
    const uint32_t value = known ? *known : storage[word];
    const auto before = last_values.emplace(word, ~value).first;
    changed += before->second != value;
    before->second = value;
    return value >> 8 * (address & 3);
}

void Ps7::store(uint32_t address, unsigned size, uint32_t value) {
    cpu.memory.penalty += is_own(address) ? cpu.config.private_write_cycles : cpu.config.uncached_write_cycles;
    changed++;
    others++;
    const uint32_t word = address & ~3u, shift = 8 * (address & 3);
    const uint32_t mask = (size >= 4 ? ~0u : (1u << 8 * size) - 1) << shift;
    Peripheral *block = size == 4 || is_board ? block_at(address) : nullptr;
    if (block)
        block->run();
    if (block && block->write(word - block->at.base, value << shift & mask, mask))
        return;
    unknown(word, true, value);
    if (is_board)
        storage[word] = (storage[word] & ~mask) | (value << shift & mask);
}

uint64_t Ps7::on_load(uc_engine *, uint64_t offset, unsigned size, void *of) {
    const Mapped &of_map = *static_cast<const Mapped *>(of);
    return of_map.ps7->load(of_map.at.base + static_cast<uint32_t>(offset), size);
}

void Ps7::on_store(uc_engine *, uint64_t offset, unsigned size, uint64_t value, void *of) {
    const Mapped &of_map = *static_cast<const Mapped *>(of);
    of_map.ps7->store(of_map.at.base + static_cast<uint32_t>(offset), size, static_cast<uint32_t>(value));
}

} // namespace axl
