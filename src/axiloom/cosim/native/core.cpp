// The C interface of the core (axl_core.h): one SoC, its memory, CPU and monitors.
#include "axl_core.h"

#include <sys/mman.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cpu/cpu.hpp"
#include "bus/protocol.hpp"
#include "bus/referee.hpp"
#include "debug/debugger.hpp"

namespace {

uint8_t *map_ram() {
    void *ram = mmap(nullptr, axl::RAM_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (ram == MAP_FAILED) {
        perror("axiloom: 512 MiB of address space for the simulated RAM");
        abort();
    }
    return static_cast<uint8_t *>(ram);
}

struct System {
    uint8_t *ram = map_ram();
    axl::Memory memory;
    axl::Timeline timeline;
    axl::Cpu cpu{ram, memory, timeline};
    struct Accelerator {
        std::string name;
        axl::Protocol protocol;
        struct Recent {
            axl::RecentWords way[2]; // in, out
        };
        std::optional<Recent> recent; // in a live session
    };
    std::array<Accelerator, AXL_ACCELERATORS> accelerators;
    size_t n_accelerators = 1, current = 0;
    axl::Referee referee;
    axl::Protocol &protocol() { return accelerators[current].protocol; }
    axl_counters_t counters{};
    axl_protocol_t position{};
    std::string protocol_text, error = "";
    uint64_t dma_reads = 0, dma_writes = 0;
    // Lines that the DMA's last words were in, and that need no second look before the CPU runs again.
    uint32_t clean_line = axl::NO_LINE, written_line = axl::NO_LINE;
    void forget_lines() { clean_line = written_line = axl::NO_LINE; }
    // A word of the DMA's, near an array: then each word is looked at.
    bool watched(uint32_t kind, uint32_t address) {
        if (address < cpu.watch.low || address >= cpu.watch.high)
            return false;
        cpu.watch.look(kind, address, 4, cpu.state.mmio_pc, timeline.left_own(), memory.cycle);
        return true;
    }
    bool configured = false, is_shared = false; // RAM, with somebody outside
    uint64_t cpu_hz = 1;
    std::vector<axl_lap_t> laps;
    std::vector<axl_lap_counts_t> counts; // at each of them
    axl::States rtl;
    std::unique_ptr<axl::Debugger> debugger;
    void lap() {
        if (laps.size() >= 65536)
            return;
        axl_lap_t one{};
        for (size_t i = 0; i < n_accelerators; i++) {
            one.words_in[i] = accelerators[i].protocol.words_in;
            one.words_out[i] = accelerators[i].protocol.words_out;
        }
        laps.push_back(one);
        axl_lap_counts_t until{};
        until.counters = *axl_counters();
        axl_class_counts(until.classes);
        counts.push_back(until);
        timeline.lap(cpu.cycles());
    }
};

System &soc() {
    static System system;
    return system;
}

int refuse(const std::string &why) {
    soc().error = why;
    return -1;
}

bool power_of_two(uint32_t value) { return value && !(value & (value - 1)); }

bool good_cache(uint32_t size, uint32_t ways, uint32_t line_bytes) {
    return power_of_two(size) && power_of_two(ways) && ways <= 32 && size >= line_bytes * ways;
}

bool in_ram(uint32_t address, const char *what) {
    if (address < axl::RAM_SIZE && address % 4 == 0)
        return true;
    char text[100];
    snprintf(text, sizeof text, "the DMA %s address 0x%08X, which is not a word of RAM", what, address);
    soc().cpu.fail(AXL_FAULT_DMA, soc().cpu.state.mmio_pc, address, text);
    return false;
}

} // namespace

namespace axl {

void begin_burst() { soc().forget_lines(); }

} // namespace axl

extern "C" {

int axl_cpu_step(int rdata, int resp, int irq, long long now, int *addr, int *wdata, int *delay) {
    System &s = soc();
    s.forget_lines();
    return s.cpu.step(static_cast<uint32_t>(rdata), resp, irq, now, addr, wdata, delay);
}

} // extern "C"

namespace {

int dma_read(System &s, int addr) {
    uint32_t address = static_cast<uint32_t>(addr);
    if (!in_ram(address, "reads"))
        return static_cast<int>(0xDEADBEEFu);
    s.dma_reads++;
    const uint32_t line = address >> s.memory.line_shift;
    if (line != s.clean_line) {
        const bool whole = s.memory.dma_read(line), watched = s.watched(AXL_OUTSIDE_DMA_READ, address);
        s.clean_line = whole && !watched ? line : axl::NO_LINE;
        if (!whole)
            return static_cast<int>(s.memory.dma_word(address));
    }
    int32_t word;
    memcpy(&word, s.ram + address, sizeof word);
    return word;
}

void dma_write(System &s, int addr, int data, int strb) {
    uint32_t address = static_cast<uint32_t>(addr);
    if (!(strb & 15) || !in_ram(address, "writes"))
        return;
    s.dma_writes++;
    const uint32_t line = address >> s.memory.line_shift;
    if (line != s.written_line) {
        const bool alone = s.memory.dma_write(line), watched = s.watched(AXL_OUTSIDE_DMA_WRITE, address);
        s.written_line = alone && !watched ? line : axl::NO_LINE;
        if (!alone) {
            s.clean_line = axl::NO_LINE;
            return s.memory.dma_store(address, static_cast<uint32_t>(data), static_cast<uint32_t>(strb));
        }
    }
    if ((strb & 15) == 15)
        memcpy(s.ram + address, &data, 4);
    for (int byte = 0; byte < 4 && (strb & 15) != 15; byte++)
        if (strb >> byte & 1)
            s.ram[address + static_cast<uint32_t>(byte)] = static_cast<uint8_t>(static_cast<uint32_t>(data) >> 8 * byte);
}

constexpr char DMA[] = "the DMA", MASTER[] = "the accelerator";

int read_word(const char *who, int addr) {
    System &s = soc();
    if (__builtin_expect(s.cpu.observer != nullptr, 0))
        s.cpu.observer->transfers(who, false, static_cast<uint32_t>(addr));
    const int word = dma_read(s, addr);
    if (__builtin_expect(s.cpu.observer != nullptr, 0))
        s.cpu.observer->transferred();
    return word;
}

void write_word(const char *who, int addr, int data, int strb) {
    System &s = soc();
    axl::Observer *const observer = strb & 15 ? s.cpu.observer : nullptr;
    if (__builtin_expect(observer != nullptr, 0))
        observer->transfers(who, true, static_cast<uint32_t>(addr));
    dma_write(s, addr, data, strb);
    if (__builtin_expect(observer != nullptr, 0))
        observer->transferred();
}

} // namespace

extern "C" {

int axl_mem_read(int addr) { return read_word(DMA, addr); }

void axl_mem_write(int addr, int data, int strb) { write_word(DMA, addr, data, strb); }

void axl_breach(int port, int channel, int rule, long long now, int a, int b) {
    soc().referee.add(static_cast<uint32_t>(port), static_cast<uint32_t>(channel), static_cast<uint32_t>(rule),
                      static_cast<uint64_t>(now), static_cast<uint32_t>(a), static_cast<uint32_t>(b));
}

void axl_kept(int port, long long now, int kept, int bytes) {
    // The words of this beat are counted when the DMA takes them, which may be later.
    const uint64_t due = soc().protocol().store_left() % (static_cast<uint64_t>(bytes) / 4);
    const int words = due ? static_cast<int>(due) : bytes / 4;
    if (kept < 4 * words)
        axl_breach(port, AXL_CHANNEL_T, AXL_RULE_KEEP_WORDS, now, kept, bytes);
}

void axl_burst(int port, int writes, int addr, int len, int size, int burst, int bytes, long long now) {
    static const char *const kinds[] = {"FIXED", "INCR", "WRAP", "reserved"};
    System &s = soc();
    s.referee.burst(static_cast<uint32_t>(port), writes != 0, static_cast<uint32_t>(addr), static_cast<uint32_t>(len) + 1,
                    static_cast<uint32_t>(size), static_cast<uint32_t>(burst), static_cast<uint64_t>(now));
    if (burst == 1 && (1 << size) == bytes)
        return;
    s.cpu.fail(AXL_FAULT_PROTOCOL, s.cpu.state.mmio_pc, 0,
             std::string("the accelerator's master begins a ") + (writes ? "write" : "read") + " burst of kind " +
                 kinds[burst & 3] + " with beats of " + std::to_string(1 << size) + " bytes; this port takes kind INCR with beats of " +
                 std::to_string(bytes) + " bytes");
}

void axl_answered(int, int writes) { soc().referee.answered(writes != 0); }

void axl_last(int port, int writes, int missing, long long now) {
    axl_breach(port, writes ? AXL_CHANNEL_W : AXL_CHANNEL_R, AXL_RULE_LAST, now, missing, 0);
}

void axl_register(int writes, int address, int data, long long now) {
    soc().referee.access(writes != 0, static_cast<uint32_t>(address), static_cast<uint32_t>(data), static_cast<uint64_t>(now));
}

void axl_referee_begin(const axl_wait_t *waits, uint32_t n) {
    soc().referee.clear();
    soc().referee.waits.assign(waits, waits + n);
}

void axl_referee_end(void) { soc().referee.finish(); }

int axl_breach_count(void) { return static_cast<int>(soc().referee.list.size()); }

const axl_breach_t *axl_breach_at(int index) {
    const auto &list = soc().referee.list;
    return index >= 0 && index < static_cast<int>(list.size()) ? &list[static_cast<size_t>(index)] : nullptr;
}

int axl_access_count(void) { return static_cast<int>(soc().referee.accesses.size()); }

const axl_access_t *axl_access_at(int index) {
    const auto &list = soc().referee.accesses;
    return index >= 0 && index < static_cast<int>(list.size()) ? &list[static_cast<size_t>(index)] : nullptr;
}

uint64_t axl_answers_due(int writes) { return soc().referee.answers_due[writes != 0]; }

int axl_master_read(int addr) {
    System &s = soc();
    s.cpu.pointed.look(false, static_cast<uint32_t>(addr), s.memory.cycle);
    return read_word(MASTER, addr);
}

void axl_master_write(int addr, int data, int strb) {
    System &s = soc();
    const uint32_t address = static_cast<uint32_t>(addr), strobes = static_cast<uint32_t>(strb) & 15;
    if (strobes)
        s.cpu.pointed.look(true, address, s.memory.cycle);
    if (s.cpu.pointed.written(address))
        s.referee.strobes(address, strobes, s.memory.cycle);
    write_word(MASTER, addr, data, strb);
}

void axl_pointers(const axl_pointer_t *pointers, uint32_t n) {
    auto &given = soc().cpu.pointed.given;
    given.clear();
    for (uint32_t i = 0; i < n; i++)
        given.push_back({pointers[i]});
}

void axl_dma(const axl_dma_t *dma) { soc().cpu.rules.dmas[soc().current] = *dma; }

int axl_mistake_count(void) { return static_cast<int>(soc().cpu.rules.list.size()); }

const axl_mistake_t *axl_mistake(int index) {
    const auto &list = soc().cpu.rules.list;
    return index >= 0 && index < static_cast<int>(list.size()) ? &list[static_cast<size_t>(index)] : nullptr;
}

const axl_dma_state_t *axl_dma_state(int dma) {
    static axl_dma_state_t state;
    state = soc().cpu.rules.summary(static_cast<uint32_t>(dma) % AXL_ACCELERATORS);
    return &state;
}

int axl_strayed_count(void) { return static_cast<int>(soc().cpu.pointed.list.size()); }

const axl_strayed_t *axl_strayed(int index) {
    const auto &list = soc().cpu.pointed.list;
    return index >= 0 && index < static_cast<int>(list.size()) ? &list[static_cast<size_t>(index)] : nullptr;
}

void axl_stream_in(int word, int) {
    System &s = soc();
    if (auto &recent = s.accelerators[s.current].recent)
        recent->way[0].add(static_cast<uint32_t>(word));
    s.timeline.word_in(s.protocol(), static_cast<uint32_t>(word));
    if (__builtin_expect(s.cpu.observer != nullptr, 0))
        s.cpu.observer->word(s.current, true, static_cast<uint32_t>(word));
}

void axl_stream_out(int word, int last) {
    System &s = soc();
    if (auto &recent = s.accelerators[s.current].recent)
        recent->way[1].add(static_cast<uint32_t>(word));
    axl::Protocol::Wrong wrong = s.timeline.word_out(s.protocol(), last != 0);
    if (wrong.fault && s.n_accelerators > 1)
        wrong.text = s.accelerators[s.current].name + ": " + wrong.text;
    if (wrong.fault)
        s.cpu.fail(wrong.fault, s.cpu.state.mmio_pc, 0, wrong.text);
    else
        s.cpu.rules.word_out(static_cast<uint32_t>(s.current), last != 0);
    if (__builtin_expect(s.cpu.observer != nullptr, 0))
        s.cpu.observer->word(s.current, false, static_cast<uint32_t>(word));
}

void axl_accelerator(int number) {
    System &s = soc();
    const size_t wanted = static_cast<size_t>(number);
    s.current = wanted < s.n_accelerators ? wanted : 0;
    s.timeline.select(s.current);
}

int axl_accelerators(const char *const *names, uint32_t n) {
    System &s = soc();
    if (n < 1 || n > AXL_ACCELERATORS)
        return refuse("axl_accelerators: 1 to 8");
    s.n_accelerators = n;
    for (uint32_t i = 0; i < n; i++)
        s.accelerators[i].name = names[i];
    s.timeline.accelerators(n);
    axl_accelerator(0);
    return 0;
}

void axl_activity(long long now, int bits) {
    System &s = soc();
    const uint32_t shift = 2 * static_cast<uint32_t>(s.current), busy = static_cast<uint32_t>(bits) / AXL_BIT_MM2S_BUSY & 3;
    s.cpu.busy = (s.cpu.busy & ~(3u << shift)) | busy << shift;
    s.timeline.activity(static_cast<uint64_t>(now), static_cast<uint32_t>(bits));
    if (__builtin_expect(s.cpu.observer != nullptr, 0))
        s.cpu.observer->activity(s.current, static_cast<uint64_t>(now), static_cast<uint32_t>(bits));
}

void axl_cycle(long long now) {
    System &s = soc();
    if (s.cpu.observer)
        s.cpu.observer->cycle(static_cast<uint64_t>(now));
    s.cpu.live.cycle();
}

void axl_functions(const uint32_t *addresses, uint32_t n, uint32_t entry, uint32_t main) {
    soc().timeline.program(addresses, n, entry, main);
}

void axl_own_functions(const uint8_t *own) { soc().timeline.own(own); }

void axl_windows(uint32_t in, uint32_t in_bytes, uint32_t out, uint32_t out_bytes, uint32_t words_per_beat) {
    soc().timeline.windows(in, in_bytes, out, out_bytes, words_per_beat);
}

void axl_timeline(uint32_t limit) { soc().timeline.tracks.limit = limit; }

const axl_profile_t *axl_profile(uint64_t now) { return soc().timeline.finish(now, soc().cpu.cycles()); }

uint8_t *axl_ram(void) { return soc().ram; }
uint64_t axl_ram_size(void) { return axl::RAM_SIZE; }
const char *axl_error(void) { return soc().error.c_str(); }

int axl_configure(const axl_config *config) {
    System &s = soc();
    if (!config->cpu_hz || !config->fabric_hz)
        return refuse("cpu_hz and fabric_hz must be positive");
    const uint32_t line = config->line_bytes;
    if (line != 32 && line != 64)
        return refuse("line_bytes must be 32 or 64");
    if (!good_cache(config->l1i_size, config->l1i_ways, line) || !good_cache(config->l1d_size, config->l1d_ways, line) ||
        (config->l2_size && !good_cache(config->l2_size, config->l2_ways, line)))
        return refuse("cache sizes and ways must be powers of two, with at least one set of lines");
    if (config->replacement > AXL_REPLACE_LRU)
        return refuse("replacement must be 0 (random) or 1 (LRU)");
    if (config->l1d_events > AXL_L1D_ACCESSES)
        return refuse("l1d_events must be 0 (separate) or 1 (accesses)");
    if (config->predictor_bits < 1 || config->predictor_bits > 20)
        return refuse("predictor_bits must be 1 to 20");
    if (config->mmio_pages > AXL_ACCELERATORS)
        return refuse("mmio_pages must be 0 to 8");
    if (config->uncached_regions > AXL_REGIONS)
        return refuse("uncached_regions must be 0 to 8");
    for (uint32_t i = 0; i < config->mmio_pages; i++)
        if (config->mmio_base[i] % 4096 || config->mmio_size % 4096 || config->mmio_base[i] < axl::RAM_SIZE)
            return refuse("the DMA's page must be aligned to 4 KiB and lie outside RAM");
    s.memory.configure(*config);
    s.timeline.configure(*config);
    s.cpu_hz = config->cpu_hz;
    s.configured = s.cpu.configure(*config) == 0;
    return s.configured ? 0 : refuse(s.cpu.error);
}

int axl_job_begin(void) {
    System &s = soc();
    if (!s.configured)
        return refuse("axl_job_begin: call axl_configure first");
    s.cpu.begin();
    s.cpu.observer = nullptr;
    s.debugger.reset();
    s.forget_lines();
    s.memory.contents.ram = s.ram;
    s.memory.here = [] { return soc().cpu.here(); };
    s.memory.is_guess = [](uint32_t address) { return soc().cpu.rules.is_guess(address); };
    s.memory.in_flight = &s.cpu.rules.in_flight;
    s.memory.on_touch = [](bool write, uint32_t address, uint32_t size) { soc().cpu.touch_in_flight(write, address, size); };
    s.memory.reset();
    s.timeline.reset();
    s.dma_reads = s.dma_writes = 0;
    for (auto &one : s.accelerators) {
        one.protocol.begin_job();
        one.recent.reset();
    }
    s.laps.clear();
    s.counts.clear();
    s.memory.on_stale = nullptr;
    s.cpu.lap_address = axl::Cpu::NO_LAPS;
    if (s.is_shared) // what the other side has stays its own
        s.is_shared = mmap(s.ram, axl::RAM_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED;
    if (madvise(s.ram, axl::RAM_SIZE, MADV_DONTNEED) != 0)
        memset(s.ram, 0, axl::RAM_SIZE);
    return 0;
}

int axl_cpu_start(uint32_t entry, uint32_t exit_pc, uint32_t exit_code_addr, uint32_t text_start, uint32_t text_end) {
    System &s = soc();
    if (!s.configured)
        return refuse("axl_cpu_start: call axl_configure first");
    if (exit_code_addr > axl::RAM_SIZE - 4)
        return refuse("axl_cpu_start: the exit code is not in RAM");
    if (s.cpu.start(entry, exit_pc, exit_code_addr, text_start, text_end) == 0)
        return 0;
    return refuse(s.cpu.error);
}

int axl_neighbours(const axl_neighbour_t *list, uint32_t n, const axl_drive_t *drives, uint32_t n_drives) {
    if (n > AXL_NEIGHBOURS)
        return refuse("axl_neighbours: at most 16");
    for (uint32_t i = 0; i < n; i++)
        if (!axl::find_neighbour(list[i].kind))
            return refuse(std::string("axl_neighbours: there is no ") + list[i].kind + " in this core");
    soc().memory.has_neighbours = n != 0;
    soc().cpu.neighbours.described.assign(list, list + n);
    soc().cpu.neighbours.drives.assign(drives, drives + n_drives);
    return 0;
}

void axl_file(const char *path, uint32_t kind, const char *text, uint64_t address, uint64_t size, uint32_t irq) {
    auto &files = soc().cpu.process.files;
    if (path)
        files.push_back({path, text, kind, address, size, irq});
    else
        files.clear();
}

const char *axl_waits(void) {
    static std::string text;
    text = soc().cpu.process.on ? soc().cpu.waits() : "";
    return text.c_str();
}

int axl_process_start(const axl_process_t *program) {
    System &s = soc();
    if (!s.configured)
        return refuse("axl_process_start: call axl_configure first");
    return s.cpu.start_process(*program) == 0 ? 0 : refuse(s.cpu.error);
}

int axl_board_start(const axl_board_t *program) {
    System &s = soc();
    if (!s.configured)
        return refuse("axl_board_start: call axl_configure first");
    return s.cpu.start_board(*program) == 0 ? 0 : refuse(s.cpu.error);
}

// RAM stays where it is: views of it hold.
int axl_live_start(int socket, int memory) {
    System &s = soc();
    if (!s.configured)
        return refuse("axl_live_start: call axl_configure first");
    if (mmap(s.ram, axl::RAM_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, memory, 0) == MAP_FAILED)
        return refuse("axl_live_start: the file of RAM cannot be mapped");
    s.is_shared = true;
    for (size_t i = 0; i < s.n_accelerators; i++)
        s.accelerators[i].recent.emplace();
    s.cpu.live.says = [](uint32_t number) { return number < soc().n_accelerators ? soc().accelerators[number].protocol.text() : std::string(); };
    s.cpu.live.stream = [](uint32_t stream, uint32_t words) {
        const auto number = stream / 2;
        if (number >= soc().n_accelerators)
            return std::string();
        return soc().accelerators[number].recent->way[stream % 2].last(words);
    };
    s.cpu.live.rtl = &s.rtl;
    return s.cpu.start_live(socket) == 0 ? 0 : refuse(s.cpu.error);
}

int axl_debug(int listener, int reversible) {
    System &s = soc();
    if (!s.configured || s.cpu.state.run != AXL_RUN_RESET)
        return refuse("axl_debug: call axl_job_begin first");
    if (!s.cpu.kind().target())
        return refuse(std::string("axl_debug: there is no debugger for the host '") + s.cpu.config.host + "'");
    std::vector<axl::Debugger::Device> devices;
    for (size_t i = 0; i < s.n_accelerators; i++)
        devices.push_back({s.accelerators[i].name, &s.accelerators[i].protocol});
    s.debugger = std::make_unique<axl::Debugger>(s.cpu, s.memory, s.rtl, std::move(devices), listener, reversible != 0);
    s.cpu.observer = s.debugger.get();
    return 0;
}

int axl_is_orphan(void) { return axl::is_orphan(); }

void axl_debug_hang(const char *why) {
    if (soc().debugger)
        soc().debugger->hangs(why);
}

int axl_note_count(void) { return static_cast<int>(soc().cpu.notes.size()); }

const char *axl_note(int index, uint32_t *pc) {
    const auto &notes = soc().cpu.notes;
    if (index < 0 || index >= static_cast<int>(notes.size()))
        return nullptr;
    *pc = notes[static_cast<size_t>(index)].pc;
    return notes[static_cast<size_t>(index)].text.c_str();
}

const char *axl_taken(uint32_t *bytes) {
    *bytes = static_cast<uint32_t>(soc().cpu.console.taken.size());
    return soc().cpu.console.taken.c_str();
}
const char *axl_console(void) {
    soc().cpu.console.finish();
    return soc().cpu.console.text.c_str();
}

void axl_section_at(uint32_t address, int clean) { soc().cpu.section_at(address, clean != 0); }
uint32_t axl_section_stack(void) { return soc().cpu.section_stack(); }
int axl_section_calls(void) { return static_cast<int>(soc().cpu.section_cycles().size()); }
const uint64_t *axl_section_cycles(void) { return soc().cpu.section_cycles().data(); }
void axl_section_keep(uint32_t address, uint32_t bytes) {
    if (bytes <= axl::RAM_SIZE && address <= axl::RAM_SIZE - bytes)
        soc().cpu.section_keep(address, bytes);
}
const uint8_t *axl_section_kept(void) { return soc().cpu.section_kept().data(); }

int axl_cpu_run(uint64_t max_instructions) {
    int result = soc().cpu.run_alone(max_instructions);
    return result < 0 ? refuse(soc().cpu.error) : result;
}

const axl_state_t *axl_state(void) {
    System &s = soc();
    if (s.cpu.state.run == AXL_RUN_RUNNING)
        s.cpu.state.pc = s.memory.pc;
    return &s.cpu.state;
}

uint32_t axl_called_from(void) { return soc().timeline.left_own(); }

const axl_counters_t *axl_counters(void) {
    System &s = soc();
    const axl::Cpu &cpu = s.cpu;
    const axl::Memory &m = s.memory;
    axl_counters_t &c = s.counters;
    const axl_config &p = m.config;
    auto with_os = [&](uint64_t own, uint32_t axl_os_cost::*what) {
        return p.has_os ? own + p.start.*what + cpu.syscalls * p.syscall.*what + m.page_faults * p.page_fault.*what : own;
    };
    c.instructions = with_os(cpu.instructions, &axl_os_cost::instructions);
    c.cpu_cycles = cpu.cycles() + (p.has_os ? p.start.cycles : 0); // the others' cycles are in it already
    c.task_clock_ns = static_cast<uint64_t>(static_cast<unsigned __int128>(c.cpu_cycles) * 1000000000u / s.cpu_hz);
    c.branch_instructions = with_os(cpu.branches, &axl_os_cost::branches);
    c.branch_misses = cpu.branch_misses;
    c.l1d_loads = with_os(m.loads + (p.count_uncached ? m.uncached_loads : 0), &axl_os_cost::loads);
    c.l1d_load_misses = m.load_misses;
    c.l1d_stores = with_os(m.stores + (p.count_uncached ? m.uncached_stores : 0), &axl_os_cost::stores);
    c.l1d_store_misses = m.store_misses;
    c.cache_references = c.l1d_loads + c.l1d_stores;
    c.cache_misses = m.load_misses + m.store_misses;
    if (p.l1d_events == AXL_L1D_ACCESSES) {
        c.l1d_loads = c.l1d_stores = c.cache_references;
        c.l1d_load_misses = c.l1d_store_misses = c.cache_misses;
    }
    c.l1i_misses = m.fetch_misses;
    c.l2_references = m.l2_references;
    c.l2_misses = m.l2_misses;
    c.writebacks = m.writebacks;
    c.stall_cycles = cpu.stall;
    c.uncached_loads = m.uncached_loads;
    c.uncached_stores = m.uncached_stores;
    c.mmio_reads = cpu.mmio_reads;
    c.mmio_writes = cpu.mmio_writes;
    c.polls = cpu.polls;
    c.maintenance = m.maintenance;
    c.switches = cpu.switches;
    c.dma_words_read = s.dma_reads;
    c.dma_words_written = s.dma_writes;
    c.syscalls = cpu.syscalls;
    c.page_faults = m.page_faults;
    return &c;
}

void axl_class_counts(uint64_t *counts) { soc().cpu.class_counts(counts); }

void axl_keep_blocks(void) { soc().cpu.keep_blocks(); }

const axl_block_t *axl_blocks(uint64_t *count) {
    static std::vector<axl_block_t> list;
    list = soc().cpu.executed();
    *count = list.size();
    return list.data();
}

void axl_stop_at_stale(void) {
    soc().memory.on_stale = [] {
        soc().cpu.fail(AXL_FAULT_STALE, soc().memory.pc, 0, "caches and memory differ where the DMA and the CPU share it");
    };
}

void axl_stale_left(uint32_t address, uint32_t bytes) {
    if (bytes && address < axl::RAM_SIZE && bytes <= axl::RAM_SIZE - address)
        soc().memory.leave(address, bytes);
}

int axl_stale_count(void) { return static_cast<int>(soc().memory.stale.list.size()); }

const axl_stale_t *axl_stale(int index) {
    const auto &list = soc().memory.stale.list;
    return index >= 0 && index < static_cast<int>(list.size()) ? &list[static_cast<size_t>(index)] : nullptr;
}

void axl_watch(const axl_range_t *arrays, uint32_t n, uint32_t low, uint32_t high) {
    soc().cpu.watch_arrays(arrays, n, low, high);
}

int axl_outside_count(void) { return static_cast<int>(soc().cpu.watch.list.size()); }

const axl_outside_t *axl_outside(int index) {
    const auto &list = soc().cpu.watch.list;
    return index >= 0 && index < static_cast<int>(list.size()) ? &list[static_cast<size_t>(index)] : nullptr;
}

void axl_lap_at(uint32_t address) {
    System &s = soc();
    s.cpu.lap_address = address;
    s.cpu.on_lap = [] { soc().lap(); };
}

int axl_lap_count(void) { return static_cast<int>(soc().laps.size()); }

const axl_lap_t *axl_laps(void) { return soc().laps.data(); }

const axl_lap_counts_t *axl_lap_counts(int lap) {
    System &s = soc();
    if (lap < 0 || lap >= static_cast<int>(s.counts.size()))
        return nullptr;
    axl_lap_counts_t &one = s.counts[static_cast<size_t>(lap)];
    one.profile = *s.timeline.until_lap(static_cast<size_t>(lap));
    return &one;
}

void axl_protocol_clear(const uint32_t *sizes, uint32_t n_sizes, uint32_t beat_words) {
    soc().protocol().clear(sizes, n_sizes, std::max(beat_words, 1u));
}

int axl_protocol_op(const char *name, int has_literal, uint32_t literal, int place, const axl_action_t *actions,
                    uint32_t n) {
    axl::Protocol &p = soc().protocol();
    for (uint32_t i = 0; i < n; i++) {
        bool sized = actions[i].kind == AXL_ACT_LOAD || actions[i].kind == AXL_ACT_STORE;
        if (actions[i].n > 8 || (sized && !actions[i].unit_words))
            return refuse("axl_protocol_op: at most 8 dims, and units of at least one word");
        for (uint32_t d = 0; d < actions[i].n; d++)
            if (actions[i].dim[d] >= p.reset_sizes.size())
                return refuse("axl_protocol_op: dim out of range");
    }
    p.ops.push_back({name, has_literal != 0, literal, place, {actions, actions + n}});
    p.reset();
    return 0;
}

void axl_protocol_reset(void) {
    soc().protocol().reset();
    soc().timeline.protocol_reset();
}

const axl_protocol_t *axl_protocol(void) {
    System &s = soc();
    const axl::Protocol &p = s.protocol();
    s.position = axl_protocol_t{};
    s.position.words_in = p.words_in;
    s.position.words_out = p.words_out;
    s.position.payload_left = p.op ? p.load_left : 0;
    s.position.store_left = p.store_left();
    s.position.unknown = p.unknown;
    s.position.unknown_word = p.unknown_word;
    snprintf(s.position.last_opcode, sizeof s.position.last_opcode, "%s", p.last.c_str());
    return &s.position;
}

uint64_t axl_protocol_begun(uint32_t op) {
    const axl::Protocol &p = soc().protocol();
    return op < p.ops.size() ? p.ops[op].begun : 0;
}

const char *axl_protocol_text(void) {
    soc().protocol_text = soc().protocol().text();
    return soc().protocol_text.c_str();
}

} // extern "C"
