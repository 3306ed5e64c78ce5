// IP of the board's vendor that stands in the fabric beside the accelerators.
//
// On a board this RTL is the vendor's, so here it is a device with the registers of its product guide, the fabric's cycles and an
// interrupt line. A kind is one source file, which registers itself under Vivado's name of the IP. Times are fabric cycles since
// the job began.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "axl_core.h"

namespace axl {

class Cpu;

class Neighbour {
  public:
    static constexpr uint64_t NEVER = ~0ull;
    Neighbour(Cpu &cpu, const axl_neighbour_t &at) : at(at), cpu(cpu) {}
    virtual ~Neighbour() = default;
    const axl_neighbour_t at;

    virtual uint32_t read(uint32_t offset) = 0;
    virtual void write(uint32_t offset, uint32_t value) = 0;
    // When something happens in it by itself, and that it does: `run` may be called at any time.
    virtual uint64_t next() const { return NEVER; }
    virtual void run() {}
    virtual bool interrupts() const = 0;
    // A program that reads this register again and again waits for time to pass.
    virtual bool counts_time(uint32_t offset) const {
        (void)offset;
        return false;
    }
    // What stands on its pins, and what somebody outside puts there. A kind says which ports it has.
    virtual uint32_t pins(uint32_t port) const {
        (void)port;
        return 0;
    }
    virtual void drive(uint32_t port, uint32_t levels) { (void)port, (void)levels; }

  protected:
    Cpu &cpu;
    uint64_t now() const;
};

void begin_burst(); // before words are read and written for a device (axl_mem_read): the caches may have changed

// All of a job's.
class Neighbours {
  public:
    std::vector<axl_neighbour_t> described; // until the next job
    std::vector<axl_drive_t> drives;        // by cycle
    uint64_t changes = 0;                   // writes, and reads of other values than before

    void begin(Cpu &cpu);
    Neighbour *at(uint32_t address) const;
    void run(uint64_t now);
    uint64_t next() const;
    uint32_t lines() const;
    const std::vector<std::unique_ptr<Neighbour>> &list() const { return all; }

  private:
    std::vector<std::unique_ptr<Neighbour>> all;
    size_t driven = 0;
};

using MakeNeighbour = std::unique_ptr<Neighbour> (*)(Cpu &, const axl_neighbour_t &);
MakeNeighbour find_neighbour(const char *kind); // nullptr: there is none

// `const RegisterNeighbour<Gpio> gpio("axi_gpio");`
struct RegisterNeighbourAs {
    RegisterNeighbourAs(const char *kind, MakeNeighbour make);
};
template <typename T> struct RegisterNeighbour : RegisterNeighbourAs {
    explicit RegisterNeighbour(const char *kind)
        : RegisterNeighbourAs(kind, [](Cpu &cpu, const axl_neighbour_t &at) -> std::unique_ptr<Neighbour> {
              return std::make_unique<T>(cpu, at);
          }) {}
};

} // namespace axl
