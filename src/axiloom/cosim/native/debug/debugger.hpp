// A debugger on the CPU: gdb at the other end of a socket. While it holds the program, nothing else runs: the simulator waits
// in a call of ours, so the fabric stands still, too.
//
// The CPU is held at borders of instructions: before one with a breakpoint, before one that accesses watched memory. What the
// fabric does (a watched word, an opcode, a word of a stream, a state) holds both at that fabric cycle, wherever the CPU is.
// Every instruction passes through a hook of ours, so that no breakpoint changes how the engine runs: debug/past.hpp.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "bus/protocol.hpp"
#include "cpu/cpu.hpp"
#include "debug/connection.hpp"
#include "debug/observer.hpp"
#include "debug/past.hpp"
#include "debug/states.hpp"

namespace axl {

class Debugger : public Observer {
  public:
    struct Device {
        std::string name;
        const Protocol *protocol;
    };

    // `reversible`: this process may be copied.
    Debugger(Cpu &cpu, Memory &memory, States &rtl, std::vector<Device> devices, int listener, bool reversible)
        : cpu(cpu), memory(memory), rtl(rtl), devices(std::move(devices)), link(listener), reversible(reversible) {}

    void begins() override;
    void starts() override;
    bool stopped() override;
    void border() override;
    void sleeps() override;
    void looks() override;
    void accesses(bool write, uint32_t address, uint32_t size) override;
    void ended() override;
    void transfers(const char *who, bool write, uint32_t address) override;
    void transferred() override;
    void word(size_t accelerator, bool in, uint32_t word) override;
    void activity(size_t accelerator, uint64_t now, uint32_t bits) override;
    void cycle(uint64_t now) override;

    // The run is over, though the program is not: `why`.
    void hangs(const std::string &why);

  private:
    // Where the program is held.
    enum class At { START, INSTRUCTION, ACCESS, DEVICE_ACCESS, BLOCK, ASLEEP, FABRIC, END };
    enum class Then { WAIT, STEP, GO_ON, BACK, STEP_BACK };
    struct Watchpoint {
        uint32_t address, size;
        char kind; // as in gdb's packets: '2' write, '3' read, '4' access
        bool sees(bool write, uint32_t first, uint32_t bytes) const {
            return (kind == '4' || (kind == '2') == write) && first < address + size && address < first + bytes;
        }
        // What gdb is told when an access from `first` on is seen.
        std::string reply(uint32_t first) const;
    };
    // What `monitor break` is about.
    struct Event {
        enum Kind { OPCODE, STREAM, STATE, VALUE } kind;
        size_t accelerator = 0;
        std::string text;   // as it was asked for
        uint32_t mask = 0;  // STATE
        bool is_high = true;
        size_t op = 0;      // OPCODE: its place
        uint64_t begun = 0; // how often it had
        bool in = true, any = false, by_number = false; // STREAM
        uint64_t value = 0;
        const States::Element *element = nullptr; // VALUE
        uint64_t index = 0;
        bool has_it = false; // now
    };
    // What holds the program.
    struct Points {
        std::set<uint32_t> breaks;
        uint64_t near = 0; // bits of their addresses, for a quick look
        std::vector<Watchpoint> watchpoints;
        std::map<int, Event> events;
        int next_event = 1;
        bool has(uint32_t pc) const { return near >> (pc >> 1 & 63) & 1 && breaks.count(pc); }
        const Watchpoint *watches(bool write, uint32_t address, uint32_t size) const;
    };
    using Words = std::vector<std::string>;
    struct Command {
        const char *name, *help;
        std::string (Debugger::*run)(const Words &);
    };
    static const Command COMMANDS[];

    Cpu &cpu;
    Memory &memory;
    States &rtl;
    std::vector<Device> devices;
    Connection link;
    At at = At::START;
    std::string reply; // the last stop
    bool stepping = false, interrupted = false, asked = false, over = false;
    bool serving = false; // what the fabric does meanwhile does not hold it again
    bool moved = false;   // the program counter was written
    bool known = false;   // gdb knows what it does at a watched word already: its step does not run
    struct Visit {        // of an instruction: the program was held before it already, or at its access
        uint32_t pc;
        uint64_t instructions; // that were counted then
        bool is_next;          // its block is still to be counted
        bool by_access;
    } passed{NOWHERE, 0, false, false};
    static constexpr uint32_t NOWHERE = 0xFFFFFFFFu;
    Points points;
    uint32_t states[AXL_ACCELERATORS] = {}; // bits of the last activity
    bool has_hook = false;
    uint64_t fabric = 0; // the last cycle that the fabric has told of
    size_t printed = 0;  // of the console
    std::chrono::steady_clock::time_point looked;
    // a word that is about to move
    const char *mover = "";
    bool moves_out = false;
    uint32_t moves = 0;
    // going back
    const bool reversible;
    Past past;
    std::vector<Said> said;                     // since the program's begin
    size_t repeated = 0;                        // of these; all but in a traveller
    uint64_t looks_so_far = 0, steps_of_fabric = 0, snapshots = 0, due = 0;
    bool leaves_snapshot = false, travels = false;
    Points probes;      // what a traveller looks for
    Stop noted, before; // the last place where it saw that, and the last other one

    // ---- holding the program
    void hold(At where, const std::string &why);
    void leave();
    void pause();
    bool is_passed(uint32_t pc);
    void instruction(uint32_t pc);
    void fabric_event(const std::string &text, const std::string &wanted);
    std::string transfer_text() const;
    std::string seen_in_word(Points &of, size_t accelerator, bool in, uint32_t value) const;
    std::string seen_in_cycle(Points &of) const;
    std::string seen_in_activity(const Points &of, size_t accelerator, uint32_t before, uint32_t bits) const;
    void say(const std::string &text);
    void print_console();
    void detach();
    uint32_t pc() const;
    static void on_instruction(uc_engine *, uint64_t address, uint32_t size, void *self);

    // ---- going back
    void go_back(bool steps);
    void travel();
    void note(const Moment &moment, const std::string &reply, const std::string &told);
    bool arrives(const Moment &here, At where);
    [[noreturn]] void ends_search(bool is_held);
    bool next_packet(std::string &packet);
    std::vector<std::string> as_packets() const;
    void watch();
    bool is_due() const { return past.has_begun() && cpu.to_fabric(cpu.cycles()) >= due; }
    Moment before_instruction(uint32_t pc) const { return {Moment::INSTRUCTION, cpu.instructions, pc}; }
    Moment in_fabric() const { return {Moment::FABRIC, steps_of_fabric, 0}; }

    // ---- packets
    Then answer(const std::string &packet);
    Then go_on(char how, const std::string &address = "");
    void query(const std::string &packet);
    void send_target(const std::string &packet);
    std::string registers() const;
    std::string register_at(size_t number) const;
    bool write_register(size_t number, const std::string &bytes);
    const Target::Register *find_register(size_t number) const;
    void read_memory(const std::string &arguments);
    void write_memory(const std::string &arguments, bool binary);
    void point(const std::string &packet, bool set);
    bool is_memory(uint32_t address, uint32_t size) const;

    // ---- monitor
    std::string monitor(const std::string &line);
    std::string help(const Words &words);
    std::string cycles(const Words &words);
    std::string dma(const Words &words);
    std::string stale(const Words &words);
    std::string state_text(const Words &words);
    std::string memory_text(const Words &words);
    std::string break_at_value(Event event, const Words &words);
    std::string break_at(const Words &words);
    std::string events_text(const Words &words);
    std::string forget(const Words &words);
    std::string bus_read(const Words &words);
    std::string bus_write(const Words &words);
    std::string bus(bool write, uint64_t address, uint64_t value);
    std::string add(Event event);
    bool find_device(const Words &words, size_t at, size_t &device, std::string &error) const;
};

} // namespace axl
