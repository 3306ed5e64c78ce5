#include "cpu/process.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "text.hpp"

namespace axl {

namespace {

enum : int64_t { NOT_THERE = -2, BAD_FILE = -9, NO_MEMORY = -12, BAD_ADDRESS = -14, INVALID = -22, NO_TERMINAL = -25, ILLEGAL_SEEK = -29 };
constexpr uint64_t PAGE = 4096;
constexpr uint64_t O_SYNC_BITS = 04010000, MAP_FIXED = 0x10, MAP_ANONYMOUS = 0x20, MAP_FIXED_NOREPLACE = 0x100000;
constexpr uint64_t NANO = 1000000000;

uint64_t pages(uint64_t bytes) { return (bytes + PAGE - 1) & ~(PAGE - 1); }

} // namespace

void Process::reset() {
    on = ended = false;
    exit_code = 0;
    open.clear();
}

uint64_t Process::word(uint64_t address) const {
    uint64_t value = 0;
    const size_t bytes = abi.word_bytes;
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
    open.assign(3, Open{CONSOLE, false, 0});
    const uint32_t size = abi.word_bytes;
    const uint64_t name = top - 64, random = top - 32;
    memcpy(machine.ram + name, "driver", 7);
    for (uint64_t i = 0; i < 16; i++)
        machine.ram[random + i] = static_cast<uint8_t>(i * 37 + 11);
    const uint64_t words[] = {1,  name, 0, 0, // argc, argv, envp
                              3,  program.phdr,  4,  program.phent, 5,  program.phnum, 6, PAGE, 9, program.entry,
                              16, abi.hwcap, 23, 0, 25, random, 0, 0};
    const uint64_t pointer = (top - 64 - sizeof words / sizeof *words * size) & ~static_cast<uint64_t>(15);
    uint64_t to = pointer;
    for (uint64_t one : words) {
        put(to, one, size);
        to += size;
    }
    return static_cast<uint32_t>(pointer);
}

Process::Open *Process::at(uint64_t descriptor) {
    return descriptor < open.size() && open[descriptor].file != -1 ? &open[descriptor] : nullptr;
}

int64_t Process::open_file(uint64_t path, uint64_t flags) {
    const std::string name = text(path);
    for (size_t i = 0; i < files.size(); i++) {
        if (files[i].path != name)
            continue;
        size_t free = 0;
        while (free < open.size() && open[free].file != -1)
            free++;
        if (free == open.size())
            open.emplace_back();
        open[free] = Open{static_cast<int>(i), (flags & O_SYNC_BITS) != 0, 0};
        return static_cast<int64_t>(free);
    }
    return NOT_THERE;
}

int64_t Process::read(uint64_t descriptor, uint64_t buffer, uint64_t bytes) {
    Open *from = at(descriptor);
    if (!from)
        return BAD_FILE;
    if (from->file == CONSOLE)
        return 0; // nobody types
    const File &file = files[static_cast<size_t>(from->file)];
    if (file.kind != AXL_FILE_TEXT)
        return INVALID;
    const uint64_t n = std::min<uint64_t>(bytes, file.text.size() - std::min<uint64_t>(from->position, file.text.size()));
    if (!in_ram(buffer, n))
        return BAD_ADDRESS;
    memcpy(machine.ram + buffer, file.text.data() + from->position, n);
    from->position += n;
    return static_cast<int64_t>(n);
}

int64_t Process::write(uint64_t descriptor, uint64_t buffer, uint64_t bytes) {
    Open *to = at(descriptor);
    if (!to)
        return BAD_FILE;
    if (!in_ram(buffer, bytes))
        return BAD_ADDRESS;
    const char *from = reinterpret_cast<const char *>(machine.ram + buffer);
    if (to->file == CONSOLE) {
        machine.print(from, bytes);
        return static_cast<int64_t>(bytes);
    }
    const File &file = files[static_cast<size_t>(to->file)];
    if (file.kind != AXL_FILE_SYNC_DEVICE && file.kind != AXL_FILE_SYNC_CPU)
        return INVALID;
    // u-dma-buf: offset in bits 63:32, size in 31:4, direction in 3:2, and bit 0 to do it.
    const uint64_t value = strtoull(std::string(from, bytes).c_str(), nullptr, 0), offset = value >> 32;
    const uint32_t size = static_cast<uint32_t>(value) & ~15u;
    if (!(value & 1) || offset + size > file.size)
        return INVALID;
    machine.maintain(static_cast<uint32_t>(file.address + offset), size, file.kind == AXL_FILE_SYNC_DEVICE);
    return static_cast<int64_t>(bytes);
}

int64_t Process::write_vector(uint64_t descriptor, uint64_t vector, uint64_t count) {
    const uint64_t size = abi.word_bytes;
    int64_t sum = 0;
    for (uint64_t i = 0; i < count; i++, vector += 2 * size) {
        const int64_t n = write(descriptor, word(vector), word(vector + size));
        if (n < 0)
            return n;
        sum += n;
    }
    return sum;
}

// What a DMA sees too is mapped at its own address; `at` may be only that.
std::string Process::map(const uint64_t *arguments, uint64_t offset, int64_t &result) {
    const uint64_t at_address = arguments[0], bytes = pages(arguments[1]), flags = arguments[3];
    const bool fixed = flags & (MAP_FIXED | MAP_FIXED_NOREPLACE);
    if (flags & MAP_ANONYMOUS) {
        const uint64_t place = fixed ? at_address : map_next - bytes;
        result = NO_MEMORY;
        if (!in_ram(place, bytes) || (!fixed && (bytes > map_next || place < map_low)))
            return "";
        memset(machine.ram + place, 0, bytes);
        if (!fixed)
            map_next = place;
        result = static_cast<int64_t>(place);
        return "";
    }
    Open *from = at(arguments[4]);
    result = from ? INVALID : BAD_FILE;
    if (!from || from->file == CONSOLE)
        return "";
    const File &file = files[static_cast<size_t>(from->file)];
    if (file.kind != AXL_FILE_MAP || offset + arguments[1] > file.size)
        return "";
    const uint64_t place = file.address + offset;
    if (fixed && at_address != place)
        return file.path + format(" mapped at 0x%08X: on the simulated SoC only its own address, 0x%08X, is possible",
                                  static_cast<uint32_t>(at_address), static_cast<uint32_t>(place));
    if (in_ram(place, bytes))
        machine.map(static_cast<uint32_t>(place), static_cast<uint32_t>(bytes), !from->sync);
    result = static_cast<int64_t>(place);
    return "";
}

void Process::clock(uint64_t to, uint32_t bytes) {
    const uint64_t now = machine.nanoseconds();
    put(to, now / NANO, bytes);
    put(to + bytes, now % NANO, bytes);
}

std::string Process::call(uint32_t number, const uint64_t *a, int64_t &result) {
    const Number *found = std::find_if(abi.begin, abi.end, [&](const Number &one) { return one.number == number; });
    result = 0;
    if (found == abi.end)
        return "it is not one of those that are simulated";
    switch (found->call) {
    case EXIT:
        exit_code = static_cast<int>(a[0] & 255);
        ended = true;
        return "";
    case READ:
        result = read(a[0], a[1], a[2]);
        return "";
    case WRITE:
    case WRITE_AT: // only whole attributes of sysfs are written so, from their start
        result = write(a[0], a[1], a[2]);
        return "";
    case WRITE_VECTOR:
        result = write_vector(a[0], a[1], a[2]);
        return "";
    case OPEN:
        result = open_file(a[0], a[1]);
        return "";
    case OPENAT:
        result = open_file(a[1], a[2]);
        return "";
    case CLOSE:
        result = at(a[0]) ? 0 : BAD_FILE;
        if (at(a[0]))
            open[a[0]] = Open{};
        return "";
    case SEEK:
    case SEEK_WIDE:
        result = at(a[0]) ? ILLEGAL_SEEK : BAD_FILE;
        return "";
    case MAP:
        return map(a, a[5], result);
    case MAP_PAGES:
        return map(a, a[5] * PAGE, result);
    case BREAK:
        if (a[0] >= brk_start && a[0] <= brk_end)
            brk_now = a[0];
        result = static_cast<int64_t>(brk_now);
        return "";
    case CONTROL:
        result = NO_TERMINAL;
        return "";
    case CLOCK:
        clock(a[1], 8);
        return "";
    case CLOCK_NARROW:
        clock(a[1], 4);
        return "";
    case SLEEP: // both with 64-bit fields where time is; nanosleep of 32-bit ARM has narrow ones
        machine.sleep(word(a[0]) * NANO + word(a[0] + abi.word_bytes));
        return "";
    case SLEEP_CLOCK:
        machine.sleep(word(a[2]) * NANO + word(a[2] + 8));
        return "";
    case SET_TLS:
        machine.thread_pointer(static_cast<uint32_t>(a[0]));
        return "";
    case ONE:
        result = 1;
        return "";
    case UNMAP:
    case PROTECT:
    case NOTHING:
        return "";
    }
    return "";
}

} // namespace axl
