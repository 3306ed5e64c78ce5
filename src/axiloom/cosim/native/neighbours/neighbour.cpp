#include "cpu/cpu.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "text.hpp"

namespace axl {

namespace {

std::map<std::string, MakeNeighbour> &kinds() {
    static std::map<std::string, MakeNeighbour> all;
    return all;
}

} // namespace

RegisterNeighbourAs::RegisterNeighbourAs(const char *kind, MakeNeighbour make) { kinds()[kind] = make; }

MakeNeighbour find_neighbour(const char *kind) {
    const auto entry = kinds().find(kind);
    return entry == kinds().end() ? nullptr : entry->second;
}

uint64_t Neighbour::now() const { return cpu.to_fabric(cpu.cycles()); }

void Neighbours::begin(Cpu &cpu) {
    all.clear();
    driven = 0;
    changes = 0;
    for (const axl_neighbour_t &at : described)
        all.push_back(find_neighbour(at.kind)(cpu, at));
}

Neighbour *Neighbours::at(uint32_t address) const {
    for (const auto &block : all)
        if (address - block->at.base < block->at.bytes)
            return block.get();
    return nullptr;
}

void Neighbours::run(uint64_t now) {
    for (; driven < drives.size() && drives[driven].cycle <= now; driven++)
        if (Neighbour *block = at(drives[driven].base))
            block->drive(drives[driven].port, drives[driven].levels);
    for (const auto &block : all)
        block->run();
}

uint64_t Neighbours::next() const {
    uint64_t first = driven < drives.size() ? drives[driven].cycle : Neighbour::NEVER;
    for (const auto &block : all)
        first = std::min(first, block->next());
    return first;
}

uint32_t Neighbours::lines() const {
    uint32_t high = 0;
    for (const auto &block : all)
        high |= static_cast<uint32_t>(block->interrupts()) << block->at.line;
    return high;
}

// ---- what the CPU and a live session do with them

uint32_t Cpu::neighbour_access(Neighbour &block, uint32_t address, bool write, uint32_t value) {
    const uint32_t offset = address - block.at.base;
    const bool clock = !write && block.counts_time(offset);
    if (surroundings)
        surroundings->accesses(clock);
    const uint64_t begin = cycles();
    last_read = read_before = NO_ACCESS;
    timeline.read(false, begin, instructions);
    stall += to_cpu(config.mmio_request_cycles + 1ull); // the handshakes of AXI4-Lite take a cycle either way
    neighbours.run(to_fabric(cycles()));
    uint32_t read = 0;
    if (write)
        block.write(offset, value);
    else
        read = block.read(offset);
    uint32_t &before = neighbour_values[address];
    neighbours.changes += write || before != read;
    before = read;
    stall += to_cpu(config.mmio_response_cycles + 1ull);
    timeline.resume(cycles(), cycles() - begin, instructions);
    tell_lines();
    schedule();
    return read;
}

// Interrupts of the fabric, as the rest of the board sees them.
void Cpu::tell_lines() {
    const int high = irq_line | static_cast<int>(neighbours.lines());
    if (!surroundings || high == board.lines)
        return;
    board.lines = high;
    surroundings->lines(static_cast<uint32_t>(high));
}

uint64_t Cpu::next_of_neighbours() const {
    const uint64_t next = neighbours.next();
    return next == NEVER ? NEVER : std::max(to_cpu(next), cycles());
}

void Cpu::run_neighbours() {
    neighbours.run(to_fabric(cycles()));
    tell_lines();
}

bool Cpu::is_word(uint32_t address, unsigned size, bool write) {
    if (size == 4 && address % 4 == 0)
        return true;
    stop_with(AXL_FAULT_ACCESS, state.mmio_pc, address,
              format("%s of 0x%08X at pc 0x%08X: registers in the fabric take aligned 32-bit accesses only", write ? "store" : "load", address,
                     state.mmio_pc));
    return false;
}

uint64_t Cpu::on_neighbour_read(uc_engine *, uint64_t offset, unsigned size, void *of) {
    const Page &page = *static_cast<const Page *>(of);
    const uint32_t address = page.base + static_cast<uint32_t>(offset);
    return page.cpu->is_word(address, size, false) ? page.cpu->neighbour_access(*page.cpu->neighbours.at(address), address, false, 0) : 0;
}

void Cpu::on_neighbour_write(uc_engine *, uint64_t offset, unsigned size, uint64_t value, void *of) {
    const Page &page = *static_cast<const Page *>(of);
    const uint32_t address = page.base + static_cast<uint32_t>(offset);
    if (page.cpu->is_word(address, size, true))
        page.cpu->neighbour_access(*page.cpu->neighbours.at(address), address, true, static_cast<uint32_t>(value));
}

} // namespace axl
