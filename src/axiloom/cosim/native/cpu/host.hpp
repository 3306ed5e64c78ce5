// The CPU that a driver runs on, as far as it differs from others: its engine, its instructions, where its attributes
// of memory come from, how its caches are maintained, how a Linux process starts on it.
//
// A host is one source file in hosts/, which registers itself under the name that boards' profiles have for it. Nothing
// here runs at each block or access: Cpu asks when it sees a block for the first time, at instructions that have a hook,
// and at faults. The hot paths are in cpu.cpp, the same for all hosts.
#pragma once

#include <unicorn/unicorn.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cpu/block.hpp"
#include "cpu/process.hpp"
#include "cpu/surroundings.hpp"
#include "debug/target.hpp"

namespace axl {

class Cpu;

class Host {
  public:
    // The engine's numbers of registers.
    struct Registers {
        int pc, stack, link;
    };

    // What an instruction needs beside its execution by the engine: CALL, Host::system before it.
    enum class Special { NONE, CALL, PRELOAD };

    // What the engine stopped at: nothing known, a hint that it cannot follow, or sleep until an interrupt.
    enum class Hint { NONE, GO_ON, SLEEP };

    struct Trap {
        enum Kind { SYSTEM_CALL, DATA_ABORT, FETCH_ABORT, UNDEFINED, OTHER, INTERRUPT } kind;
        uint32_t pc;      // of the instruction; SYSTEM_CALL, INTERRUPT: of the next
        uint32_t address; // DATA_ABORT: that was accessed
        uint32_t number;  // OTHER: as the CPU's manual has it
        bool write = false;    // DATA_ABORT
        bool external = false; // aborts: by the bus, not by the program's table
    };

    // Linux's interface to its processes: see Process. `number` and `arguments` are registers of the engine.
    struct Linux {
        Process::Abi abi;
        int number;
        int arguments[6];
    };

    // A new one for each job: its fields are as out of reset.
    explicit Host(Cpu &cpu) : cpu(cpu) {}
    virtual ~Host() = default;

    virtual const Registers &registers() const = 0;

    // ---- before a job

    virtual uc_err open(uc_engine **engine) const = 0;
    // Attributes of memory as out of reset. Without: no caches.
    virtual void reset_attributes() {}
    // Devices of the CPU's own, beside RAM and the DMAs.
    virtual uc_err map_devices() { return UC_ERR_OK; }
    // Hooks beside those that every host has.
    virtual bool add_hooks() { return true; }
    // Loads and stores must be aligned to their size.
    virtual bool must_align() const { return false; }

    // ---- instructions

    virtual void decode(Block &block, uint32_t address, uint32_t size) const = 0;
    // Asked of each word of the text.
    virtual Special special(uint32_t word) const = 0;
    // Such an instruction is about to execute.
    virtual void system(uint32_t pc) = 0;
    // A PRELOAD is about to execute: its address.
    virtual std::optional<uint32_t> preload(uint32_t pc) const {
        (void)pc;
        return std::nullopt;
    }

    // ---- where the engine has stopped

    // Where to go on: pc, with the instruction set in its lowest bit if there are several.
    virtual uint32_t resume_at(uint32_t pc) const { return pc; }
    virtual Hint hint_before(uint32_t pc) const = 0;
    // Of an exception by the engine's number.
    virtual Trap trap(uint32_t number) const = 0;

    // ---- memory

    // After Cpu::look_again(): they may have changed.
    virtual void read_attributes() {}

    // ---- programs of other tools

    // What is around the CPU, now mapped into its engine; nullptr: such programs do not run on it.
    virtual Surroundings *open_board() { return nullptr; }
    virtual bool masks_interrupts() const { return true; }
    // Of the program, its arguments first, and with all of its state.
    virtual const std::vector<int> &general_registers() const {
        static const std::vector<int> none;
        return none;
    }
    // An abort or an undefined instruction is being handled.
    virtual bool handles_crash() const { return false; }
    // The engine at the vector, as the CPU enters an exception. Returns the vector's address.
    virtual uint32_t enter(const Trap &trap) {
        (void)trap;
        return 0;
    }

    // ---- a debugger

    // The CPU as gdb sees it; nullptr: no debugger for it.
    virtual const Target *target() const { return nullptr; }
    // Memory of its own, beside RAM.
    virtual bool is_memory(uint32_t address, uint32_t size) const {
        (void)address, (void)size;
        return false;
    }

    // ---- Linux

    // nullptr: no processes run on it.
    virtual const Linux *linux_abi() const { return nullptr; }
    // The engine in user mode, with that stack pointer.
    virtual void enter_process(uint32_t stack) { (void)stack; }
    virtual void thread_pointer(uint32_t address) { (void)address; }

  protected:
    Cpu &cpu;

    uint32_t word_at(uint32_t address) const;
};

using MakeHost = std::unique_ptr<Host> (*)(Cpu &);

// nullptr: there is none of that name.
MakeHost find_host(const std::string &name);
// Names of all, with commas between them.
std::string host_names();

// `static const RegisterHost<CortexA9> registered("cortex_a9");` in a host's source.
struct RegisterHostAs {
    RegisterHostAs(const char *name, MakeHost make);
};
template <typename T> struct RegisterHost : RegisterHostAs {
    explicit RegisterHost(const char *name)
        : RegisterHostAs(name, [](Cpu &cpu) -> std::unique_ptr<Host> { return std::make_unique<T>(cpu); }) {}
};

} // namespace axl
