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
    taken.clear();
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
    map_low = program.map_low;
    const uint64_t top = program.stack_top;
    map_top = (top - program.stack_bytes) & ~(PAGE - 1);
    brk_end = map_low > brk_start ? map_low : machine.ram_size; // and below what is reserved
    for (const File &file : files) {
        named[file.path] = make_node(file);
        if (file.address > brk_start)
            brk_end = std::min(brk_end, file.address);
    }
    open.assign(3, Node::Open{make_console()});
    threads.push_back(std::make_unique<Thread>());
    running = 0;
    ids = 1;
    lines = 0;
    slice_end = 0;
    alarm_at = NEVER;
    std::fill(std::begin(actions), std::end(actions), Action());
    const uint32_t size = abi.word_bytes;
    const uint64_t random = top - 32, texts = top - 32 - ((program.arguments_bytes + 15) & ~15u);
    trampoline = static_cast<uint32_t>(top - 16);
    memcpy(machine.ram + texts, program.arguments, program.arguments_bytes);
    memcpy(machine.ram + trampoline, abi.sigreturn, sizeof abi.sigreturn);
    for (uint64_t i = 0; i < 16; i++)
        machine.ram[random + i] = static_cast<uint8_t>(i * 37 + 11);
    std::vector<uint64_t> words = {0}; // argc, argv, envp, auxiliary vector
    for (uint32_t at = 0; at < program.arguments_bytes; at += static_cast<uint32_t>(strlen(program.arguments + at)) + 1) {
        words.push_back(texts + at);
        words[0]++;
    }
    for (const uint64_t word : {uint64_t(0), uint64_t(0), uint64_t(3), uint64_t(program.phdr), uint64_t(4), uint64_t(program.phent), uint64_t(5),
                                uint64_t(program.phnum), uint64_t(6), PAGE, uint64_t(9), uint64_t(program.entry), uint64_t(16), abi.hwcap,
                                uint64_t(23), uint64_t(0), uint64_t(25), random, uint64_t(0), uint64_t(0)})
        words.push_back(word);
    const uint64_t pointer = (texts - words.size() * size) & ~static_cast<uint64_t>(15);
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

// The highest that are free, as Linux does.
uint64_t Process::take_pages(uint64_t bytes) {
    for (auto piece = taken.begin(); piece != taken.end();)
        piece = piece->second.is_buffer && !piece->second.maps && piece->second.buffer.expired() ? taken.erase(piece) : std::next(piece);
    const uint64_t size = pages(bytes);
    uint64_t end = map_top;
    for (auto piece = taken.rbegin(); piece != taken.rend() && end - piece->second.end < size; ++piece)
        end = piece->first;
    if (end < map_low || end - map_low < size)
        return 0;
    const uint64_t place = end - size;
    memset(machine.ram + place, 0, size);
    machine.map(static_cast<uint32_t>(place), static_cast<uint32_t>(size), true);
    taken[place].end = end;
    return place;
}

void Process::are_of(uint64_t place, const std::shared_ptr<Node> &node) {
    taken[place].is_buffer = true;
    taken[place].buffer = node;
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
    if (const auto piece = taken.find(address); piece != taken.end() && piece->second.is_buffer)
        piece->second.maps++;
    if (in_ram(place, bytes))
        machine.map(static_cast<uint32_t>(place), static_cast<uint32_t>(bytes), !from->sync);
    return static_cast<int64_t>(place);
}

int64_t Process::map_bytes(const uint64_t *a) { return map(a, a[5]); }
int64_t Process::map_pages(const uint64_t *a) { return map(a, a[5] * PAGE); }

int64_t Process::unmap(const uint64_t *a) {
    const uint64_t begin = a[0], bytes = pages(a[1]), end = begin + bytes;
    if (begin % PAGE || !bytes || end < begin)
        return INVALID;
    for (auto piece = taken.begin(); piece != taken.end() && piece->first < end;) {
        const uint64_t from = piece->first, to = piece->second.end;
        if (to <= begin) {
            ++piece;
        } else if (piece->second.is_buffer) { // its descriptor may be open
            piece->second.maps -= piece->second.maps > 0;
            ++piece;
        } else {
            piece = taken.erase(piece);
            if (from < begin)
                taken[from].end = begin;
            if (end < to)
                taken[end].end = to;
        }
    }
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
