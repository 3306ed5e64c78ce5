#include "cpu/cpu.hpp"

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstring>
#include <numeric>

#include "text.hpp"

namespace axl {

namespace {

Cpu *current = nullptr; // the one whose fibre starts: makecontext passes no pointers

Cpu &cpu_of(void *self) { return *static_cast<Cpu *>(self); }

} // namespace

// ---- set-up ----------------------------------------------------------------------------------------------------

int Cpu::configure(const axl_config &c) {
    make_host = find_host(c.host);
    if (!make_host) {
        error = std::string("there is no host '") + c.host + "' in this core; it has " + host_names();
        return -1;
    }
    config = c;
    uint64_t common = std::gcd(c.cpu_hz, c.fabric_hz);
    cpu_ratio = c.cpu_hz / common;
    fabric_ratio = c.fabric_hz / common;
    predictor.configure(c.predictor_bits);
    return begin();
}

int Cpu::begin() {
    abort_run();
    close();
    state = axl_state_t{};
    process.reset();
    live.reset();
    console.begin("", -1, -1, "");
    notes.clear();
    surroundings = nullptr;
    board = Board{};
    interrupts = 0;
    watch.reset();
    pointed.reset();
    rules.reset();
    was_busy = busy = 0;
    neighbours.begin(*this);
    neighbour_values.clear();
    section = Section{};
    instructions = branches = branch_misses = stall = base = 0;
    mmio_reads = mmio_writes = polls = switches = 0;
    host = make_host(*this);
    attributes.unwatch();
    attributes.reset(RAM_SIZE);
    host->reset_attributes();
    predictor.reset();
    blocks.assign(BLOCKS, Block());
    std::fill(std::begin(retired), std::end(retired), 0);
    keeps_blocks = false;
    replaced.clear();
    syscalls = 0;
    previous = nullptr;
    last_fetch = NO_LINE;
    pairing = false;
    attributes_changed = alone = has_origin = is_suspended = false;
    observe(0, 0);
    now = 0;
    last_read = read_before = NO_ACCESS;
    std::fill(std::begin(rings), std::end(rings), Ring());
    around = Ring();
    last_look = NO_ACCESS;
    max_instructions = 0;
    return 0;
}

int Cpu::start(uint32_t entry_, uint32_t exit_pc_, uint32_t exit_code_addr_, uint32_t text_start, uint32_t text_end) {
    if (state.run != AXL_RUN_RESET) {
        error = "axl_cpu_start: call axl_job_begin first";
        return -1;
    }
    if (prepare(text_start, text_end) != 0)
        return -1;
    entry = entry_;
    exit_pc = exit_pc_;
    exit_code_addr = exit_code_addr_;
    state.run = AXL_RUN_RUNNING;
    return 0;
}

// Engine, memory, devices and hooks.
int Cpu::prepare(uint32_t text_start, uint32_t text_end) {
    uc_err code = host->open(&engine);
    if (code != UC_ERR_OK)
        return fail_setup("uc_open", code);
    code = uc_mem_map_ptr(engine, 0, RAM_SIZE, UC_PROT_ALL, ram);
    if (code != UC_ERR_OK)
        return fail_setup("uc_mem_map_ptr", code);
    code = host->map_devices();
    for (uint32_t i = 0; code == UC_ERR_OK && i < config.mmio_pages; i++) {
        pages[i] = {this, config.mmio_base[i]};
        code = uc_mmio_map(engine, pages[i].base, config.mmio_size, on_device_read, &pages[i], on_device_write, &pages[i]);
    }
    for (size_t i = 0; code == UC_ERR_OK && i < neighbours.list().size(); i++) {
        const axl_neighbour_t &at = neighbours.list()[i]->at;
        Page &page = pages[AXL_ACCELERATORS + i];
        page = {this, at.base};
        code = uc_mmio_map(engine, at.base, at.bytes, on_neighbour_read, &page, on_neighbour_write, &page);
    }
    if (code != UC_ERR_OK)
        return fail_setup("uc_mmio_map", code);
    void *const accesses = host->must_align() ? reinterpret_cast<void *>(on_aligned_access) : reinterpret_cast<void *>(on_access);
    const bool hooked = hook(UC_HOOK_BLOCK, reinterpret_cast<void *>(on_block), this, EVERYWHERE) &&
                        hook(UC_HOOK_MEM_READ | UC_HOOK_MEM_WRITE, accesses, this, EVERYWHERE) &&
                        hook(UC_HOOK_MEM_INVALID, reinterpret_cast<void *>(on_unmapped), this, EVERYWHERE) &&
                        hook(UC_HOOK_INTR, reinterpret_cast<void *>(on_exception), this, EVERYWHERE) && host->add_hooks();
    return hooked && scan(text_start, text_end) == 0 ? 0 : -1;
}

int Cpu::fail_setup(const char *what, uc_err code) {
    error = std::string(what) + ": " + uc_strerror(code);
    close();
    return -1;
}

bool Cpu::hook(uint32_t type, void *callback, void *self, uint64_t where, int instruction) {
    const uint64_t first = where == EVERYWHERE ? 1 : where, last = where == EVERYWHERE ? 0 : where;
    uc_hook handle;
    uc_err code = uc_hook_add(engine, &handle, static_cast<int>(type), callback, self, first, last, instruction);
    if (code == UC_ERR_OK)
        return true;
    fail_setup("uc_hook_add", code);
    return false;
}

// The engine takes cache maintenance and preloads for no-ops, so the few instructions that matter get a hook each. Data in
// the text that looks like one is never executed.
int Cpu::scan(uint32_t text_start, uint32_t text_end) {
    if (text_end > RAM_SIZE || text_start > text_end) {
        error = "axl_cpu_start: the text is not in RAM";
        return -1;
    }
    for (uint32_t address = text_start & ~3u; address + 4 <= text_end; address += 4) {
        uint32_t word;
        memcpy(&word, ram + address, sizeof word);
        const Host::Special kind = host->special(word);
        void *callback = kind == Host::Special::CALL      ? reinterpret_cast<void *>(on_system)
                         : kind == Host::Special::PRELOAD ? reinterpret_cast<void *>(on_preload)
                                                          : nullptr;
        if (callback && !hook(UC_HOOK_CODE, callback, this, address))
            return -1;
    }
    return 0;
}

void Cpu::close() {
    if (engine)
        uc_close(engine);
    engine = nullptr;
}

// ---- running ---------------------------------------------------------------------------------------------------

void Cpu::fibre_main() {
    Cpu *cpu = current;
    cpu->run();
    if (cpu->observer && !cpu->aborting)
        cpu->observer->ended();
    if (!cpu->aborting)
        cpu->yield(AXL_OP_ADVANCE, 0, 0); // the RTL catches up with the CPU's last cycles
    cpu->request = Request();
    cpu->fibre.finish();
}

// Runs until the program ends. WFI leaves the engine with the PC behind it.
void Cpu::run() {
    schedule();
    if (live.on())
        return serve();
    uint32_t pc = entry;
    if (observer) {
        set(host->registers().pc, pc);
        observer->begins();
        pc = host->resume_at(this->pc());
        if (state.run != AXL_RUN_RUNNING)
            return;
    }
    for (;;) {
        uint32_t from = pc;
        if (observer)
            observer->starts();
        uc_err code = uc_emu_start(engine, pc, exit_pc, 0, 0);
        pc = host->resume_at(this->pc());
        if (state.run != AXL_RUN_RUNNING || aborting)
            return;
        if (surroundings && enters_trap(code, pc)) {
            if (state.run != AXL_RUN_RUNNING)
                return;
            pc = host->resume_at(this->pc());
            continue;
        }
        if (process.switches) {
            if (!next_thread(*host->linux_abi()))
                return;
            pc = host->resume_at(this->pc());
            continue;
        }
        if (observer && observer->stopped())
            continue;
        const Host::Hint hint = host->hint_before(pc);
        if (code == UC_ERR_INSN_INVALID && pc != from && hint == Host::Hint::GO_ON)
            continue; // the engine has no other CPU to go on with
        if (code != UC_ERR_OK || (pc & ~1u) == exit_pc) {
            finish(code, pc & ~1u);
            return;
        }
        if (hint != Host::Hint::SLEEP) {
            fail(AXL_FAULT_EXCEPTION, pc, 0, format("the engine stopped at pc 0x%08X", pc));
            return;
        }
        if (surroundings) {
            if (!rests(true))
                return;
            continue;
        }
        if (alone) {
            fail(AXL_FAULT_NO_IRQ, pc - 4, 0, "WFI in a run without an accelerator: nothing will wake the CPU");
            return;
        }
        while (!irq_line && !aborting && state.run == AXL_RUN_RUNNING) {
            timeline.sleep(cycles());
            last_read = read_before = NO_ACCESS; // what is read after sleep is no poll
            if (observer)
                observer->sleeps();
            yield(AXL_OP_WAIT_IRQ, 0, 0);
        }
        if (state.run != AXL_RUN_RUNNING || aborting)
            return;
    }
}

void Cpu::finish(uc_err code, uint32_t pc) {
    state.pc = pc;
    if (code == UC_ERR_OK) {
        memcpy(&state.exit_code, ram + exit_code_addr, sizeof state.exit_code);
        state.run = AXL_RUN_EXITED;
        return;
    }
    if (code == UC_ERR_INSN_INVALID)
        fail(AXL_FAULT_UNDEFINED, pc, pc, format("undefined instruction at pc 0x%08X", pc));
    else
        fail(AXL_FAULT_EXCEPTION, pc, 0, format("the CPU stopped at pc 0x%08X: ", pc) + uc_strerror(code));
}

// The first fault is the one that counts; what follows in the same block is its echo.
void Cpu::fail(uint32_t fault, uint32_t pc, uint32_t address, const std::string &text) {
    if (state.run == AXL_RUN_FAULT)
        return;
    state.run = AXL_RUN_FAULT;
    state.fault = fault;
    state.pc = pc;
    state.address = address;
    snprintf(state.text, sizeof state.text, "%s", text.c_str());
}

void Cpu::stop_engine() {
    if (engine)
        uc_emu_stop(engine);
}

int Cpu::run_alone(uint64_t limit) {
    if (state.run != AXL_RUN_RUNNING || fibre.active()) {
        error = "axl_cpu_run: no program was started";
        return -1;
    }
    alone = true;
    max_instructions = limit;
    run();
    if (observer)
        observer->ended();
    return state.run == AXL_RUN_EXITED ? 0 : 1;
}

int Cpu::step(uint32_t rdata, int resp, int irq, long long now_, int *addr, int *wdata, int *delay) {
    *addr = *wdata = *delay = 0;
    if (!has_origin) {
        origin = now_;
        has_origin = true;
    }
    now = static_cast<uint64_t>(now_ - origin);
    memory.cycle = now;
    answer = rdata;
    response = resp & 3;
    was_busy = static_cast<uint32_t>(resp) >> 2 & 3;
    irq_line = irq;
    if (state.run == AXL_RUN_RESET || (!fibre.active() && state.run != AXL_RUN_RUNNING)) {
        state.waiting = 0;
        return AXL_OP_HALT;
    }
    current = this;
    switches++;
    fibre.resume(fibre_main);
    state.waiting = static_cast<uint32_t>(request.op);
    state.wait_addr = request.address;
    *addr = static_cast<int>(request.address);
    *wdata = static_cast<int>(request.data);
    *delay = request.delay > INT_MAX ? INT_MAX : static_cast<int>(request.delay);
    return request.op;
}

// Let the RTL catch up with the CPU and do `op`. Time is kept as max(CPU, RTL): what the RTL takes longer is stall.
// AXL_OP_SLEEP: until that CPU cycle.
void Cpu::yield(int op, uint32_t address, uint32_t data, uint64_t until) {
    if (aborting)
        return;
    bool device = op == AXL_OP_READ || op == AXL_OP_WRITE;
    uint64_t before = cycles();
    uint64_t target = until ? to_fabric(until) + 1 : to_fabric(before);
    request.op = op;
    request.address = address;
    request.data = data;
    request.delay = (target > now ? target - now : 0) + (device ? config.mmio_request_cycles : 0);
    if (op == AXL_OP_ADVANCE)
        timeline.hand_over(before);
    is_suspended = true;
    fibre.suspend();
    is_suspended = false;
    uint64_t fabric = now + (device ? config.mmio_response_cycles : 0);
    uint64_t after = to_cpu(fabric);
    if (after > before)
        stall += after - before;
    timeline.resume(cycles(), cycles() - before, instructions);
    if (aborting)
        stop_engine();
    schedule();
    tell_lines();
    if (process.on && static_cast<uint32_t>(irq_line) != process.lines)
        process.interrupt(static_cast<uint32_t>(irq_line));
    if (observer && !aborting)
        observer->looks();
}

void Cpu::catch_up() {
    if (!alone && !aborting && state.run == AXL_RUN_RUNNING && to_fabric(cycles()) > now + 1)
        yield(AXL_OP_ADVANCE, 0, 0);
    if (state.run != AXL_RUN_RUNNING)
        stop_engine();
}

// The block that runs counts as far as it has come; the rest of it is a block of its own.
void Cpu::pause_at(uint32_t pc) {
    stop_engine();
    if (!previous || pc < previous->address || pc >= previous->end())
        return;
    Block &whole = blocks[(previous->address >> 1) % BLOCKS];
    whole.runs--;
    instructions -= whole.instructions;
    base -= whole.cost;
    host->decode(begun, whole.address, pc - whole.address);
    begun.branch = Branch::NONE;
    begun.runs = 1;
    retire(begun);
    instructions += begun.instructions;
    base += begun.cost;
    previous = &begun;
    last_fetch = pc >> memory.line_shift;
}

bool Cpu::bus(bool write, uint32_t address, uint32_t &data) {
    if (Neighbour *block = neighbours.at(address)) {
        const uint32_t read = neighbour_access(*block, address, write, data);
        data = write ? data : read;
        return true;
    }
    if (write) { // the rules for drivers must know what it did
        bus_write(address, data);
    } else { // what the driver has not looked at it does not know
        yield(AXL_OP_READ, address, 0);
        data = answer;
    }
    return !response;
}

void Cpu::end_by_debugger() {
    fail(AXL_FAULT_KILLED, state.pc, 0, "the debugger ended the run");
    stop_engine();
}

// A run that was left in the middle: let its stack unwind before the engine is closed.
void Cpu::abort_run() {
    aborting = true;
    while (fibre.active())
        fibre.resume(nullptr);
    aborting = false;
}

// ---- counting --------------------------------------------------------------------------------------------------

void Cpu::block(uint32_t address, uint32_t size) {
    if (previous && previous->branch != Branch::NONE) {
        branches++;
        if (!predictor.predict(previous->branch, previous->conditional, previous->branch_pc, previous->end(), address)) {
            branch_misses++;
            memory.penalty += config.branch_miss_cycles;
        }
    }
    Block &now_entered = blocks[(address >> 1) % BLOCKS];
    if (__builtin_expect(now_entered.address != address || now_entered.size != size, 0)) {
        if (size > RAM_SIZE || address > RAM_SIZE - size)
            return;
        decode(now_entered, address, size);
    }
    if (__builtin_expect(address == section.mark, 0))
        mark_section();
    timeline.block(now_entered.function, cycles(), instructions, previous);
    previous = &now_entered;
    now_entered.runs++;
    instructions += now_entered.instructions;
    base += now_entered.cost;
    memory.pc = address;
    pairing = now_entered.multiple && config.pair_accesses;
    pair_next = NOT_PAIRED;
    uint32_t last = (address + size - 1) >> memory.line_shift;
    for (uint32_t line = address >> memory.line_shift; line <= last; line++)
        if (line != last_fetch) {
            last_fetch = line;
            if (attributes.fetch_cached)
                memory.fetch(line);
            else
                memory.fetch_uncached();
        }
    if (__builtin_expect(cycles() >= next_event, 0))
        event();
}

// A block that is entered for the first time, or again after another took its slot.
void Cpu::decode(Block &slot, uint32_t address, uint32_t size) {
    retire(slot);
    host->decode(slot, address, size);
    slot.function = timeline.function_of(address);
}

// A block is about to leave its slot: its instructions stay counted.
void Cpu::retire(const Block &block) {
    for (uint32_t kind = 0; kind < AXL_CLASSES; kind++)
        retired[kind] += block.runs * block.classes[kind];
    if (__builtin_expect(keeps_blocks && block.runs, 0))
        replaced[{block.address, block.size}] += block.runs;
}

std::vector<axl_block_t> Cpu::executed() const {
    std::vector<axl_block_t> list;
    for (const auto &[place, runs] : replaced)
        list.push_back({place.first, place.second, runs});
    for (const Block &block : blocks)
        if (block.runs)
            list.push_back({block.address, block.size, block.runs});
    return list;
}

void Cpu::class_counts(uint64_t *counts) const {
    std::copy(std::begin(retired), std::end(retired), counts);
    for (const Block &block : blocks)
        for (uint32_t kind = 0; block.runs && kind < AXL_CLASSES; kind++)
            counts[kind] += block.runs * block.classes[kind];
}

// The engine does LDM, VLD1.8 and the like element by element; the A9's path to L1D is 8 bytes wide.
bool Cpu::paired(bool write, uint32_t address, uint32_t size) {
    bool continues = address == pair_next && write == pair_write;
    uint32_t end = address + size;
    pair_next = end % 8 ? end : NOT_PAIRED;
    pair_write = write;
    return continues;
}

void Cpu::access(bool write, uint32_t address, uint32_t size) {
    timeline.access(write, address, cycles(), instructions);
    if (__builtin_expect(write && address == lap_address, 0))
        on_lap();
    if (__builtin_expect(pairing, 0) && paired(write, address, size)) {
        if (attributes.data[address >> SECTION_SHIFT] == Attribute::WATCHED)
            look(write, address, size);
        if (memory.contents.on && attributes.under(address) == Attribute::CACHED)
            memory.again(write, address, size);
        return;
    }
    charge(write, attributes.data[address >> SECTION_SHIFT], address, size);
}

[[gnu::always_inline]] inline void Cpu::charge(bool write, Attribute attribute, uint32_t address, uint32_t size) {
    switch (attribute) {
    case Attribute::CACHED: {
        if (__builtin_expect(!write && address - around.low < around.span, 0))
            look_at_descriptor(address);
        uint32_t last = (address + size - 1) >> memory.line_shift;
        for (uint32_t line = address >> memory.line_shift; line <= last; line++) {
            if (__builtin_expect(memory.preloads.any(), 0))
                memory.wait_for_preloads(line, cycles());
            write ? memory.store(line, address, size) : memory.load(line, address, size);
        }
        return;
    }
    case Attribute::UNCACHED:
        if (__builtin_expect(rules.in_flight, 0))
            touch_in_flight(write, address, size);
        write ? memory.uncached_store() : memory.uncached_load();
        return;
    case Attribute::DEVICE:
        state.mmio_pc = pc();
        return;
    case Attribute::WATCHED:
        watched_access(write, address, size);
        return;
    }
}

void Cpu::watched_access(bool write, uint32_t address, uint32_t size) {
    if (watch.is_near(address) || address - observed_first < observed_bytes)
        look(write, address, size);
    charge(write, attributes.under(address), address, size);
}

// What the memory is beside that.
Attribute Cpu::look(bool write, uint32_t address, uint32_t size) {
    if (watch.is_near(address))
        watch.look(write ? AXL_OUTSIDE_STORE : AXL_OUTSIDE_LOAD, address, size, pc(), timeline.left_own(), memory.cycle);
    if (address - observed_first < observed_bytes)
        observer->accesses(write, address, size);
    return attributes.under(address);
}

void Cpu::watch_arrays(const axl_range_t *arrays, uint32_t n, uint32_t low, uint32_t high) {
    watch.arrays.assign(arrays, arrays + n);
    watch.low = low;
    watch.high = high;
    attributes.watch(low, high - low);
}

void Cpu::refuse_misaligned(bool write, uint32_t address, uint32_t size) {
    const uint32_t pc = this->pc();
    stop_with(AXL_FAULT_ACCESS, pc, address,
              format(write ? "store of %u bytes to 0x%08X at pc 0x%08X: this CPU takes aligned accesses only"
                           : "load of %u bytes from 0x%08X at pc 0x%08X: this CPU takes aligned accesses only",
                     size, address, pc));
}

// The function is entered, or the code behind its call.
void Cpu::mark_section() {
    if (section.inside) {
        section.cycles.push_back(to_fabric(cycles()) - to_fabric(section.begin));
        for (const auto &[address, bytes] : section.keep)
            section.kept.insert(section.kept.end(), ram + address, ram + address + bytes);
    } else {
        if (section.cycles.empty()) {
            section.stack = reg(host->registers().stack);
            if (section.clean)
                clean_state();
        }
        section.begin = cycles();
    }
    section.inside = !section.inside;
    section.mark = section.inside ? reg(host->registers().link) : section.entry;
}

// Nothing is left of what ran before: caches and predictor are empty, and a cycle of both clocks begins.
void Cpu::clean_state() {
    memory.empty();
    predictor.reset();
    last_fetch = NO_LINE;
    base = (base + 63) & ~63ull;
    memory.penalty += (cpu_ratio - cycles() % cpu_ratio) % cpu_ratio;
    schedule();
}

void Cpu::preload(uint32_t pc) {
    const std::optional<uint32_t> found = host->preload(pc);
    if (!found || *found >= RAM_SIZE)
        return;
    const uint32_t address = *found;
    if (attributes.under(address) == Attribute::CACHED)
        memory.preload(address >> memory.line_shift, cycles());
}

void Cpu::schedule() {
    next_event = NEVER;
    if (attributes_changed)
        next_event = 0;
    else if (alone && max_instructions)
        next_event = cycles() + std::min(max_instructions / 64 + 1, ALONE_CYCLES);
    if (!attributes_changed && (!alone || process.on) && config.quantum_cycles) // timers and threads take turns
        next_event = cycles() + config.quantum_cycles;
    if (surroundings) {
        board.quantum_end = std::min(next_event, cycles() + config.quantum_cycles);
        next_event = board.due = std::min(board.quantum_end, surroundings->next());
    }
}

// Rare things, at the start of a block: looked at once a quantum, or at once after attributes_changed.
void Cpu::event() {
    if (attributes_changed) {
        attributes_changed = false;
        const std::vector<Attribute> before(std::begin(attributes.data), std::end(attributes.data));
        host->read_attributes();
        attributes.cover();
        for (uint32_t section = 0; memory.contents.on && section < RAM_SIZE >> SECTION_SHIFT; section++)
            if (before[section] == Attribute::CACHED && attributes.data[section] == Attribute::UNCACHED)
                memory.write_back(section << (SECTION_SHIFT - memory.line_shift), ((section + 1) << (SECTION_SHIFT - memory.line_shift)) - 1);
        last_fetch = NO_LINE;
        schedule();
        return;
    }
    if (observer) {
        if (alone)
            observer->looks();
        observer->border();
        if (state.run != AXL_RUN_RUNNING)
            return stop_engine();
    }
    if (surroundings)
        return board_event();
    if (alone) {
        timeline.hand_over(cycles());
        timeline.advance(to_fabric(cycles()));
        if (instructions >= max_instructions) {
            fail(AXL_FAULT_LIMIT, memory.pc, 0, format("still running at pc 0x%08X after the limit of instructions", memory.pc));
            stop_engine();
        }
        schedule();
    } else {
        yield(AXL_OP_ADVANCE, 0, 0);
        if (state.run == AXL_RUN_FAULT)
            stop_engine();
    }
    if (process.on && state.run == AXL_RUN_RUNNING && !aborting)
        preempt();
}

// The engine stops before the block that it has just entered.
void Cpu::leave_block() {
    Block &left = blocks[(memory.pc >> 1) % BLOCKS];
    if (previous != &left)
        return;
    left.runs--;
    instructions -= left.instructions;
    base -= left.cost;
}

uint32_t Cpu::reg(int id) const {
    uint64_t value = 0;
    uc_reg_read(engine, id, &value);
    return static_cast<uint32_t>(value);
}

void Cpu::set(int id, uint64_t value) { uc_reg_write(engine, id, &value); }

// ---- callbacks of the engine ---------------------------------------------------------------------------------

void Cpu::on_block(uc_engine *, uint64_t address, uint32_t size, void *self) {
    cpu_of(self).block(static_cast<uint32_t>(address), size);
}

void Cpu::on_access(uc_engine *, uc_mem_type type, uint64_t address, int size, int64_t, void *self) {
    cpu_of(self).access(type == UC_MEM_WRITE, static_cast<uint32_t>(address), static_cast<uint32_t>(size));
}

bool Cpu::on_unmapped(uc_engine *, uc_mem_type type, uint64_t address, int, int64_t, void *self) {
    Cpu &cpu = cpu_of(self);
    uint32_t pc = cpu.pc(), where = static_cast<uint32_t>(address);
    bool fetch = type == UC_MEM_FETCH_UNMAPPED || type == UC_MEM_FETCH_PROT;
    bool write = type == UC_MEM_WRITE_UNMAPPED || type == UC_MEM_WRITE_PROT;
    const char *text = fetch   ? "jump to 0x%08X (pc 0x%08X): nothing is mapped there"
                       : write ? "store to 0x%08X at pc 0x%08X: nothing is mapped there"
                               : "load of 0x%08X at pc 0x%08X: nothing is mapped there";
    if (cpu.surroundings)
        cpu.take_trap({fetch ? Host::Trap::FETCH_ABORT : Host::Trap::DATA_ABORT, pc, where, 0, write, true}, format(text, where, pc));
    else
        cpu.fail(AXL_FAULT_UNMAPPED, pc, where, format(text, where, pc));
    return false;
}

void Cpu::on_system(uc_engine *, uint64_t address, uint32_t, void *self) {
    cpu_of(self).host->system(static_cast<uint32_t>(address));
}

void Cpu::on_preload(uc_engine *, uint64_t address, uint32_t, void *self) {
    cpu_of(self).preload(static_cast<uint32_t>(address));
}

void Cpu::on_exception(uc_engine *, uint32_t number, void *self) { cpu_of(self).exception(number); }

uint64_t Cpu::on_device_read(uc_engine *, uint64_t offset, unsigned size, void *of) {
    const Page &page = *static_cast<const Page *>(of);
    return page.cpu->device_read(page.base + static_cast<uint32_t>(offset), size);
}

void Cpu::on_device_write(uc_engine *, uint64_t offset, unsigned size, uint64_t value, void *of) {
    const Page &page = *static_cast<const Page *>(of);
    page.cpu->device_write(page.base + static_cast<uint32_t>(offset), size, static_cast<uint32_t>(value));
}

// In place of on_access, so that other hosts need not look.
void Cpu::on_aligned_access(uc_engine *engine, uc_mem_type type, uint64_t address, int size, int64_t value, void *self) {
    if (__builtin_expect(address & static_cast<uint64_t>(size - 1), 0))
        cpu_of(self).refuse_misaligned(type == UC_MEM_WRITE, static_cast<uint32_t>(address), static_cast<uint32_t>(size));
    on_access(engine, type, address, size, value, self);
}

} // namespace axl
