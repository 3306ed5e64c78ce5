// The processing system around a CPU: what a program of other tools finds at its addresses.
//
// A family of chips is one Family, with its blocks: a block is one source file, which registers itself for the families that
// have it, with its addresses (RegisterPeripheral). Of a register that no block knows the value is stored, and a note is made
// of it, once. References are to UG585 and to the manuals of ARM that
// it names; time is in CPU cycles.
//
// Programs of our own (sw/) find the blocks of the private page that their runtime uses; all else there is a fault.
#pragma once

#include <unicorn/unicorn.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "axl_core.h"
#include "cpu/surroundings.hpp"

namespace axl {

class Cpu;
class Gic;
class Ps7;

struct Window {
    uint32_t base, size;
};

struct Family {
    const char *name;
    Window own;                   // registers that programs of our own have, too; size 0: none
    std::vector<Window> registers; // all others
    Window ram;                   // on the chip, above the registers
    // Of its GIC: how many interrupts, those below 32 that are edges, a bit each, what its registers say it is.
    uint32_t interrupts, private_edges, type, distributor_id, interface_id;
    uint8_t identities[12];
    uint32_t (*fabric)(uint32_t line); // the interrupt of a line of the fabric
    struct Ttc {
        uint32_t hz, most; // 0 Hz: a sixth of the CPU's clock; what a counter counts to
    } ttc;
};
constexpr const char *ZYNQ7000 = "Zynq-7000", *ZYNQMP = "Zynq UltraScale+";

// Where a block is. `line`: its interrupt, or the first of them. `always`: programs of our own have it, too.
struct PeripheralAt {
    const char *family, *name;
    uint32_t base, size, line;
    bool always;
};

class Peripheral {
  public:
    Peripheral(Ps7 &ps7, const PeripheralAt &at) : at(at), ps7(ps7) {}
    virtual ~Peripheral() = default;
    const PeripheralAt at;

    // Of a word, at an offset. Without a value, and with false: it knows no such register.
    virtual std::optional<uint32_t> read(uint32_t offset) = 0;
    // Bytes outside `mask` are 0 and were not written.
    virtual bool write(uint32_t offset, uint32_t value, uint32_t mask) = 0;
    // When something happens in it by itself, and that it does: `run` may be called at any time.
    virtual uint64_t next() const { return Surroundings::NEVER; }
    virtual void run() {}
    // Of a port: the program waits for what a person types.
    virtual bool wants_input() const { return false; }
    // The register counts time: a loop that reads it again and again waits. UPPER: it is read along with another that does.
    enum class Clock { NO, UPPER, YES };
    virtual Clock clock(uint32_t offset) const {
        (void)offset;
        return Clock::NO;
    }

  protected:
    Ps7 &ps7;
};

class Ps7 : public Surroundings {
  public:
    Ps7(Cpu &cpu, const Family &family);
    ~Ps7() override;

    Cpu &cpu;
    const Family &family;
    bool is_board = false; // a program of other tools runs

    uc_err map_private();
    uc_err map_board();

    // ---- what blocks use
    Gic &gic() { return *controller; }
    uint64_t now() const;
    void look_soon(); // an interrupt or a time may have changed
    void print(const Peripheral &port, char c);
    void note(const std::string &text);
    void stop(const std::string &why); // at the access that is under way
    // A block that is at no address: the CPU has it.
    void add(std::unique_ptr<Peripheral> block) { blocks.push_back(std::move(block)); }
    // A clock was read, and the program may be waiting for it: see there.
    void looks_at_clock();

    // ---- as the CPU sees it
    void lines(uint32_t fabric) override;
    void run() override;
    uint64_t next() const override;
    bool interrupts() const override;
    bool wants_input() const override;
    uint64_t changes() const override { return changed; }
    void accesses(bool counts_time) override {
        others += !counts_time;
        if (counts_time && is_board)
            looks_at_clock();
    }
    bool is_memory(uint32_t address, uint32_t size) const {
        const uint32_t at = address - family.ram.base;
        return !ram.empty() && at < ram.size() && size <= ram.size() - at;
    }

  private:
    struct Mapped {
        Ps7 *ps7;
        Window at;
    };
    std::vector<std::unique_ptr<Mapped>> mapped;
    static constexpr uint32_t WAIT_INSTRUCTIONS = 64, WAIT_READS = 8, WAIT_STEP = 512, WAIT_REPEATS = 8, WAIT_LEARNED = 1024;

    std::vector<std::unique_ptr<Peripheral>> blocks;
    std::unique_ptr<Gic> controller;
    std::vector<uint8_t> ram;
    std::unordered_map<uint32_t, uint32_t> storage;
    uint64_t changed = 0; // writes, and reads of other values than before
    std::unordered_map<uint32_t, uint32_t> last_values;
    struct { // reads of a clock by one instruction, called from one place
        uint32_t pc = 0, link = 0;
        uint64_t begin = 0, length = 0, instructions = 0, interrupts = 0, others = 0, reads = 0;
        bool was_learned = false;
    } wait;
    struct Learned { // the last wait there, and how many before it took as many reads
        uint64_t reads = 0, length = 0, repeats = 0;
    };
    std::unordered_map<uint64_t, Learned> learned;
    static uint64_t place(uint32_t pc, uint32_t link) { return static_cast<uint64_t>(pc) << 32 | link; }
    void end_wait();
    uint64_t others = 0; // accesses that are no reads of clocks

    Peripheral *block_at(uint32_t address) const;
    uint32_t load(uint32_t address, unsigned size);
    void store(uint32_t address, unsigned size, uint32_t value);
    void unknown(uint32_t address, bool write, uint32_t value);
    bool is_own(uint32_t address) const { return address - family.own.base < family.own.size; }
    uc_err map(const Window &window);

    static uint64_t on_load(uc_engine *, uint64_t offset, unsigned size, void *window);
    static void on_store(uc_engine *, uint64_t offset, unsigned size, uint64_t value, void *window);
};

using MakePeripheral = std::unique_ptr<Peripheral> (*)(Ps7 &, const PeripheralAt &);

// `static const RegisterPeripheral<Uart> uart0({ZYNQ7000, "UART0", 0xE0000000, 0x1000, 59, false});`
struct RegisterPeripheralAs {
    RegisterPeripheralAs(const PeripheralAt &at, MakePeripheral make);
};
template <typename T> struct RegisterPeripheral : RegisterPeripheralAs {
    explicit RegisterPeripheral(const PeripheralAt &at)
        : RegisterPeripheralAs(at, [](Ps7 &ps7, const PeripheralAt &where) -> std::unique_ptr<Peripheral> {
              return std::make_unique<T>(ps7, where);
          }) {}
};

} // namespace axl
