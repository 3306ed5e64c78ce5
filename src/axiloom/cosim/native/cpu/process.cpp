// A Linux process: its start, its memory, and the calls that ask about it.
#include "cpu/process.hpp"

#include <algorithm>
#include <cstring>

#include "text.hpp"

namespace axl {

std::shared_ptr<Node> make_node(const Process::File &file); // process_files.cpp
std::shared_ptr<Node> make_console();

namespace {

constexpr uint64_t PAGE = 4096;
constexpr uint64_t MAP_FIXED = 0x10, MAP_ANONYMOUS = 0x20, MAP_FIXED_NOREPLACE = 0x100000;

uint64_t pages(uint64_t bytes) { return (bytes + PAGE - 1) & ~(PAGE - 1); }

} // namespace

void Process::reset() {
    on = ended = switches = false;
    exit_code = 0;
    open.clear();
    named.clear();
    threads.clear();
    running = 0;
    killed.clear();
}

uint64_t Process::number(uint64_t address, uint32_t bytes) const {
    uint64_t value = 0;
    if (in_ram(address, bytes))
        memcpy(&value, machine.ram + address, bytes);
    return value;
}

void Process::put(uint64_t address, uint64_t value, uint32_t bytes) {
    if (in_ram(address, bytes))
        memcpy(machine.ram + address, &value, bytes);
}

std::string Process::text(uint64_t address) const {
    std::string found;
    while (in_ram(address, 1) && machine.ram[address] && found.size() < PAGE)
        found += static_cast<char>(machine.ram[address++]);
    return found;
}

int64_t Process::refuse(const std::string &why) {
    refused = why;
    return 0;
}

// The process's start: argc, argv, envp and the auxiliary vector on the stack (System V ABI of either architecture;
// AT_* of <elf.h>).
uint32_t Process::begin(const Machine &machine_, const Abi &abi_, const axl_process_t &program) {
    machine = machine_;
    abi = abi_;
    on = true;
    brk_start = brk_now = pages(program.end);
    brk_end = machine.ram_size;
    map_low = program.map_low;
    const uint64_t top = program.stack_top;
    map_next = (top - program.stack_bytes) & ~(PAGE - 1);
    for (const File &file : files)
        named[file.path] = make_node(file);
    open.assign(3, Node::Open{make_console()});
    threads.push_back(std::make_unique<Thread>());
    running = 0;
    ids = 1;
    lines = 0;
    slice_end = 0;
    alarm_at = NEVER;
    std::fill(std::begin(actions), std::end(actions), Action());
    const uint32_t size = abi.word_bytes;
    const uint64_t name = top - 64, random = top - 32;
    trampoline = static_cast<uint32_t>(top - 16);
    memcpy(machine.ram + name, "driver", 7);
    memcpy(machine.ram + trampoline, abi.sigreturn, sizeof abi.sigreturn);
    for (uint64_t i = 0; i < 16; i++)
        machine.ram[random + i] = static_cast<uint8_t>(i * 37 + 11);
    const uint64_t words[] = {1,  name, 0, 0, // argc, argv, envp
                              3,  program.phdr,  4,  program.phent, 5,  program.phnum, 6, PAGE, 9, program.entry,
                              16, abi.hwcap, 23, 0, 25, random, 0, 0};
    const uint64_t pointer = (top - 64 - sizeof words / sizeof *words * size) & ~static_cast<uint64_t>(15);
    uint64_t to = pointer;
    for (uint64_t value : words) {
        put(to, value, size);
        to += size;
    }
    return static_cast<uint32_t>(pointer);
}

std::string Process::call(uint32_t number, const uint64_t *arguments, uint32_t called, int64_t &result) {
    const Number *known = std::find_if(abi.begin, abi.end, [&](const Number &call) { return call.number == number; });
    if (known == abi.end)
        return "it is not one of those that are simulated";
    refused.clear();
    current().called = called;
    result = (this->*known->call)(arguments);
    if (!current().wait && has_signal(current()))
        switches = true;
    return refused;
}

// ---- memory

uint64_t Process::take_pages(uint64_t bytes) {
    const uint64_t place = map_next - pages(bytes);
    if (pages(bytes) > map_next || place < map_low || !in_ram(place, pages(bytes)))
        return 0;
    memset(machine.ram + place, 0, pages(bytes));
    return map_next = place;
}

// What a DMA sees too is mapped at its own address; the caller's wish may be only that.
int64_t Process::map(const uint64_t *a, uint64_t offset) {
    const uint64_t bytes = pages(a[1]), flags = a[3];
    const bool fixed = flags & (MAP_FIXED | MAP_FIXED_NOREPLACE);
    if (!a[1])
        return INVALID;
    if (!bytes)
        return NO_MEMORY;
    if (flags & MAP_ANONYMOUS && fixed) {
        if (!in_ram(a[0], bytes))
            return NO_MEMORY;
        memset(machine.ram + a[0], 0, bytes);
        return static_cast<int64_t>(a[0]);
    }
    if (flags & MAP_ANONYMOUS) {
        const uint64_t place = take_pages(bytes);
        return place ? static_cast<int64_t>(place) : NO_MEMORY;
    }
    Node::Open *from = at(a[4]);
    if (!from)
        return BAD_FILE;
    uint64_t address = 0, size = 0;
    if (!from->node->range(address, size) || offset > size || a[1] > size - offset)
        return INVALID;
    const uint64_t place = address + offset;
    if (fixed && a[0] != place)
        return refuse(from->node->name + format(" mapped at 0x%08X: on the simulated SoC only its own address, 0x%08X, is possible",
                                                static_cast<uint32_t>(a[0]), static_cast<uint32_t>(place)));
    if (in_ram(place, bytes))
        machine.map(static_cast<uint32_t>(place), static_cast<uint32_t>(bytes), !from->sync);
    return static_cast<int64_t>(place);
}

int64_t Process::map_bytes(const uint64_t *a) { return map(a, a[5]); }
int64_t Process::map_pages(const uint64_t *a) { return map(a, a[5] * PAGE); }

// The last map, as the stack of a thread that has ended, is free again.
int64_t Process::unmap(const uint64_t *a) {
    if (a[0] == map_next)
        map_next += pages(a[1]);
    return 0;
}

int64_t Process::brk(const uint64_t *a) {
    if (a[0] >= brk_start && a[0] <= brk_end)
        brk_now = a[0];
    return static_cast<int64_t>(brk_now);
}

// ---- time

void Process::put_time(uint64_t to, uint32_t bytes) {
    const uint64_t now_is = now();
    put(to, now_is / 1000000000, bytes);
    put(to + bytes, now_is % 1000000000, bytes);
}

int64_t Process::clock(const uint64_t *a) { return put_time(a[1], 8), 0; }
int64_t Process::clock_narrow(const uint64_t *a) { return put_time(a[1], 4), 0; }

int64_t Process::time_of_day(const uint64_t *a) {
    put_time(a[0], abi.word_bytes);
    put(a[0] + abi.word_bytes, now() % 1000000000 / 1000, abi.word_bytes);
    return 0;
}

// ---- what it asks

int64_t Process::random(const uint64_t *a) {
    if (!in_ram(a[0], a[1]))
        return BAD_ADDRESS;
    for (uint64_t i = 0; i < a[1]; i++) // the same in each run
        machine.ram[a[0] + i] = static_cast<uint8_t>((i + 1) * 2654435761u >> 11);
    return static_cast<int64_t>(a[1]);
}

int64_t Process::uname(const uint64_t *a) {
    const char *const fields[6] = {"Linux", "axiloom", "6.1.0", "#1", abi.word_bytes == 4 ? "armv7l" : "aarch64", ""};
    if (!in_ram(a[0], 6 * 65))
        return BAD_ADDRESS;
    memset(machine.ram + a[0], 0, 6 * 65);
    for (uint64_t i = 0; i < 6; i++)
        memcpy(machine.ram + a[0] + 65 * i, fields[i], strlen(fields[i]));
    return 0;
}

int64_t Process::set_tls(const uint64_t *a) { return machine.thread_pointer(static_cast<uint32_t>(a[0])), 0; }
int64_t Process::zero(const uint64_t *) { return 0; }
int64_t Process::one(const uint64_t *) { return 1; }
int64_t Process::not_there(const uint64_t *) { return NOT_THERE; }
int64_t Process::no_such(const uint64_t *) { return NO_SUCH_CALL; } // as a kernel that is older

} // namespace axl
