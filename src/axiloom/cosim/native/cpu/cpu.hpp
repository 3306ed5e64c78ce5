// The CPU: a Unicorn engine with hooks that count, charge time, and hand device accesses to the RTL. What one kind of CPU
// does otherwise than others is its Host's.
#pragma once

#include <unicorn/unicorn.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "memory/attributes.hpp"
#include "cpu/block.hpp"
#include "cpu/console.hpp"
#include "cpu/fibre.hpp"
#include "cpu/host.hpp"
#include "cpu/live.hpp"
#include "memory/memory.hpp"
#include "memory/pointed.hpp"
#include "cpu/process.hpp"
#include "cpu/surroundings.hpp"
#include "debug/observer.hpp"
#include "bus/driver_rules.hpp"
#include "bus/timeline.hpp"
#include "memory/watch.hpp"
#include "neighbours/neighbour.hpp"

namespace axl {

constexpr uint64_t RAM_SIZE = 512u << 20;

class Cpu {
  public:
    Cpu(uint8_t *ram, Memory &memory, Timeline &timeline) : rules(ram, memory), ram(ram), memory(memory), timeline(timeline) {
        attributes.reset(RAM_SIZE);
    }

    axl_state_t state{};
    uint64_t instructions = 0, branches = 0, branch_misses = 0, stall = 0;
    uint64_t mmio_reads = 0, mmio_writes = 0, polls = 0, switches = 0, syscalls = 0;
    std::string error;
    Process process;
    Console console; // of a process, or the UARTs
    struct Note {
        uint32_t pc;
        std::string text;
    };
    std::vector<Note> notes; // what a person should know of a program of other tools
    uint64_t interrupts = 0; // exceptions that were entered
    Watch watch;
    Pointed pointed;
    uint32_t busy = 0; // two bits a DMA: MM2S, S2MM have a transfer under way
    DriverRules rules;
    Live live; // who asks, in place of a program
    Neighbours neighbours;
    void run_neighbours();
    uint64_t next_of_neighbours() const; // CPU cycles
    static constexpr uint32_t NO_LAPS = 0xFFFFFFFFu; // an address outside RAM
    uint32_t lap_address = NO_LAPS;
    void (*on_lap)() = nullptr;

    // ---- what hosts use
    enum Where : uint64_t { EVERYWHERE = ~0ull }; // a range would make every access slower
    uint8_t *const ram;
    Memory &memory;
    Timeline &timeline;
    Attributes attributes;
    Observer *observer = nullptr; // set before a program starts
    uc_engine *engine = nullptr;
    axl_config config{};
    bool hook(uint32_t type, void *callback, void *self, uint64_t where, int instruction = 0);
    uint32_t reg(int id) const;
    void set(int id, uint64_t value);
    uint32_t pc() const { return reg(host->registers().pc); }
    // The instruction that accesses memory or maintains caches; one that accesses a device is that of state.mmio_pc.
    Place here() const {
        if (state.run != AXL_RUN_RUNNING || !engine)
            return {};
        return {in_device ? state.mmio_pc : pc(), timeline.left_own()};
    }
    bool in_device = false;
    // The last instruction of the block that runs: the one that raised an exception which ends its block.
    uint32_t last_of_block() const { return previous ? previous->branch_pc : memory.pc; }
    // Attributes may change with this block: they are read at the next.
    void look_again() {
        attributes_changed = true;
        next_event = 0;
    }
    // It is about to do so.
    void maintains_caches() { timeline.maintenance(cycles(), instructions); }
    void empty_l1i() {
        memory.l1i.reset();
        last_fetch = NO_LINE;
    }
    void stop_with(uint32_t fault, uint32_t pc, uint32_t address, const std::string &text) {
        fail(fault, pc, address, text);
        stop_engine();
    }
    void print(const char *port, const char *text, size_t size);
    void note(uint32_t pc, const std::string &text);
    uint32_t link() const { return reg(host->registers().link); }
    // An interrupt may have come, or the time of the next thing has changed.
    void look_soon() {
        next_event = 0;
        board.must_look = true;
    }
    // The program waits in an access: nothing of its own happens before `until`, or an interrupt line changes.
    void pass_time(uint64_t until);

    // ---- what a debugger uses
    const Host &kind() const { return *host; }
    uint64_t fabric_cycle() const { return now; }
    // The device's access that the CPU waits in, or none.
    bool waits_in_access() const { return is_suspended && (request.op == AXL_OP_READ || request.op == AXL_OP_WRITE); }
    // The fabric comes as far as the CPU is.
    void catch_up();
    // A real access to a device's page, at a border of instructions. False: it answers with an error.
    bool bus(bool write, uint32_t address, uint32_t &data);
    bool is_device(uint32_t address) const {
        uint32_t page = 0;
        return neighbours.at(address) || (!alone && is_page(address, page));
    }
    void come_to_border() { next_event = 0; }
    // The engine stops, and goes on at the same instruction.
    void pause_at(uint32_t pc);
    // The observer is told of accesses in [first, first + bytes), where sections are watched.
    void observe(uint32_t first, uint32_t bytes) {
        observed_first = first;
        observed_bytes = bytes;
    }
    void leaves_block() { previous = nullptr; }
    void end_by_debugger();

    // ---- what the core uses
    [[gnu::noinline]] void touch_in_flight(bool write, uint32_t address, uint32_t size);
    int configure(const axl_config &config);
    int begin();
    int start(uint32_t entry, uint32_t exit_pc, uint32_t exit_code_addr, uint32_t text_start, uint32_t text_end);
    int start_process(const axl_process_t &program);
    int start_board(const axl_board_t &program);
    int start_live(int socket);
    // Until the next job.
    void watch_arrays(const axl_range_t *arrays, uint32_t n, uint32_t low, uint32_t high);
    void section_at(uint32_t address, bool clean) {
        section = Section{};
        section.mark = section.entry = address;
        section.clean = clean;
    }
    void section_keep(uint32_t address, uint32_t bytes) { section.keep.emplace_back(address, bytes); }
    uint32_t section_stack() const { return section.stack; }
    const std::vector<uint64_t> &section_cycles() const { return section.cycles; }
    const std::vector<uint8_t> &section_kept() const { return section.kept; }
    int run_alone(uint64_t max_instructions);
    int step(uint32_t rdata, int resp, int irq, long long now, int *addr, int *wdata, int *delay);
    void class_counts(uint64_t *counts) const;
    void keep_blocks() { keeps_blocks = true; }
    std::vector<axl_block_t> executed() const;
    std::string waits() const;
    uint64_t cycles() const { return (base >> 6) + memory.penalty + stall; }
    uint64_t to_fabric(uint64_t cpu_cycles) const { return cpu_cycles * fabric_ratio / cpu_ratio; }
    uint64_t to_cpu(uint64_t fabric_cycles) const { return (fabric_cycles * cpu_ratio + fabric_ratio - 1) / fabric_ratio; }
    void fail(uint32_t fault, uint32_t pc, uint32_t address, const std::string &text);

  private:
    struct Request {
        int op = AXL_OP_HALT;
        uint32_t address = 0, data = 0;
        uint64_t delay = 0;
    };

    static constexpr uint32_t BLOCKS = 1u << 15;
    static constexpr uint64_t NEVER = ~0ull;
    static constexpr uint64_t ALONE_CYCLES = 1u << 20; // between two events of a run without RTL
    static constexpr uint32_t NOT_PAIRED = 0xFFFFFFFFu; // an address outside RAM
    static constexpr uint32_t NOWHERE = 0xFFFFFFFFu;    // no instruction, no access

    MakeHost make_host = nullptr;
    std::unique_ptr<Host> host;
    struct Page { // the registers of a DMA
        Cpu *cpu;
        uint32_t base;
    } pages[AXL_ACCELERATORS + AXL_NEIGHBOURS] = {};
    std::unordered_map<uint32_t, uint32_t> neighbour_values; // last read, by address
    uint64_t cpu_ratio = 1, fabric_ratio = 1; // the two clocks, reduced
    Fibre fibre;
    Request request;
    std::vector<Block> blocks;
    const Block *previous = nullptr;
    Predictor predictor;
    struct Section { // the calls of a function: where it begins and the next mark is, when the present call began
        uint32_t mark = NOT_PAIRED, entry = NOT_PAIRED, stack = 0;
        uint64_t begin = 0;
        bool inside = false, clean = false;
        std::vector<uint64_t> cycles;                     // of the fabric, of each call
        std::vector<std::pair<uint32_t, uint32_t>> keep;  // address and bytes of what is copied behind each call
        std::vector<uint8_t> kept;
    } section;
    uint64_t retired[AXL_CLASSES] = {}; // of blocks that others have replaced
    uint64_t base = 0;        // cost of instructions, 1/64 cycle
    uint64_t next_event = 0;  // cycle at which a block has more to do than to count
    uint64_t max_instructions = 0;
    uint32_t last_fetch = NO_LINE;
    bool pairing = false;     // this block has loads or stores of several registers
    bool pair_write = false;
    uint32_t pair_next = NOT_PAIRED; // address that continues the last access's 8 bytes
    uint32_t exit_pc = 0, exit_code_addr = 0, entry = 0;
    uint32_t switch_at = 0; // where the present thread of a process goes on
    bool attributes_changed = false, alone = false, aborting = false, is_suspended = false;
    // the RTL's side
    long long origin = 0;     // virtual time of the job's first step
    bool has_origin = false;
    uint64_t now = 0;         // fabric cycles since then
    uint32_t answer = 0;
    int response = 0, irq_line = 0;
    uint32_t was_busy = 0; // see axl_cpu_step
    // descriptors of a coherent DMA: what it is told of, so that a look at their status finds what it has written
    struct Ring {
        uint32_t low = 0, span = 0;
    } rings[2 * AXL_ACCELERATORS];
    Ring around;              // all of them
    uint32_t last_look = 0;   // address
    // a program of other tools
    Surroundings *surroundings = nullptr;
    struct Board {
        axl_board_t program{};
        uint64_t quantum_end = 0, due = 0, limit = 0; // CPU cycles
        bool must_look = false, waits_for_mask = false; // an interrupt does, and nothing else has changed
        int lines = 0;
        bool has_trap = false, has_asserted = false;
        Host::Trap trap{}; // to be entered, when the engine has stopped
        Host::Trap crash{}; // the last abort
        std::string why, asserted;
        std::set<std::pair<uint32_t, std::string>> noted;
        struct State { // of a loop, at the end of a quantum
            uint64_t registers[34];
            uint64_t changes;
            bool operator==(const State &other) const;
        } states[16] = {};
        uint32_t next_state = 0;
        uint32_t limit_ms() const { return static_cast<uint32_t>(program.limit_ns / 1000000); }
    } board;
    // devices
    static constexpr uint32_t NO_ACCESS = 1; // not aligned, so no register
    uint32_t last_read = NO_ACCESS, read_before = NO_ACCESS; // addresses of the last two device accesses, for polls
    // a debugger
    uint32_t observed_first = 0, observed_bytes = 0; // see observe
    Block begun; // see pause_at
    // which blocks were executed, of those that others have replaced: address and bytes, and how often
    bool keeps_blocks = false;
    std::map<std::pair<uint32_t, uint32_t>, uint64_t> replaced;

    int fail_setup(const char *what, uc_err code);
    int prepare(uint32_t text_start, uint32_t text_end);
    int scan(uint32_t text_start, uint32_t text_end);
    void close();
    void abort_run();
    void run();
    void finish(uc_err code, uint32_t pc);
    void stop_engine();
    void yield(int op, uint32_t address, uint32_t data, uint64_t until = 0);
    [[gnu::noinline]] void event();
    [[gnu::noinline]] void board_event();
    bool enters_trap(uc_err code, uint32_t pc);
    bool rests(bool asleep);
    bool is_idle();
    bool waits_for_typing(uint64_t next);
    void ends_idle(uint32_t pc);
    void take_trap(const Host::Trap &trap, const std::string &why);
    void sees_assertion();
    void schedule();
    [[gnu::noinline]] void mark_section();

    void serve();
    void answer_live(const axl_live_request_t &asked, axl_live_answer_t &told, std::string &more);
    uint32_t bus_read(uint32_t address);
    void bus_write(uint32_t address, uint32_t value);
    uint32_t device_read(uint32_t address, unsigned size);
    void device_write(uint32_t address, unsigned size, uint32_t value);
    bool device_access(uint32_t address, unsigned size, bool write);
    bool is_page(uint32_t address, uint32_t &number) const;
    uint32_t neighbour_access(Neighbour &block, uint32_t address, bool write, uint32_t value);
    bool is_word(uint32_t address, unsigned size, bool write);
    void tell_lines();
    void told_of(uint32_t address, uint32_t value);
    [[gnu::noinline]] void look_at_descriptor(uint32_t address);
    void exception(uint32_t number);
    void system_call(uint32_t pc, const Host::Linux &linux_abi);
    void process_call(uint32_t pc, const Host::Linux &linux_abi);
    std::shared_ptr<void> registers();
    void preempt();
    bool next_thread(const Host::Linux &linux_abi);
    bool resume(Process::Thread &thread, const Host::Linux &linux_abi);
    void leave_block();
    void rest_until(uint64_t next, uint64_t limit, bool &settled);
    void maintain(uint32_t address, uint32_t bytes, bool to_device);
    void clean_state();

    void block(uint32_t address, uint32_t size);
    void access(bool write, uint32_t address, uint32_t size);
    void charge(bool write, Attribute attribute, uint32_t address, uint32_t size);
    [[gnu::noinline]] void watched_access(bool write, uint32_t address, uint32_t size);
    [[gnu::noinline]] Attribute look(bool write, uint32_t address, uint32_t size);
    void refuse_misaligned(bool write, uint32_t address, uint32_t size);
    void preload(uint32_t pc);
    // The rare paths stay out of line, so that the common ones need few registers.
    [[gnu::noinline]] void decode(Block &slot, uint32_t address, uint32_t size);
    void retire(const Block &block);
    bool paired(bool write, uint32_t address, uint32_t size);

    static void on_block(uc_engine *, uint64_t address, uint32_t size, void *self);
    static void on_access(uc_engine *, uc_mem_type type, uint64_t address, int size, int64_t value, void *self);
    static void on_aligned_access(uc_engine *, uc_mem_type type, uint64_t address, int size, int64_t value, void *self);
    static bool on_unmapped(uc_engine *, uc_mem_type type, uint64_t address, int size, int64_t value, void *self);
    static void on_system(uc_engine *, uint64_t address, uint32_t size, void *self);
    static void on_preload(uc_engine *, uint64_t address, uint32_t size, void *self);
    static void on_assertion(uc_engine *, uint64_t address, uint32_t size, void *self);
    static void on_exception(uc_engine *, uint32_t number, void *self);
    static uint64_t on_device_read(uc_engine *, uint64_t offset, unsigned size, void *self);
    static void on_device_write(uc_engine *, uint64_t offset, unsigned size, uint64_t value, void *self);
    static uint64_t on_neighbour_read(uc_engine *, uint64_t offset, unsigned size, void *of);
    static void on_neighbour_write(uc_engine *, uint64_t offset, unsigned size, uint64_t value, void *of);
    static void fibre_main();
};

} // namespace axl
