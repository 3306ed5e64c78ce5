// A live session: what somebody asks for takes the place of a program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "axl_core.h"
#include "debug/states.hpp"

namespace axl {

// The last words of a stream.
class RecentWords {
  public:
    void add(uint32_t word) {
        words[count++ % AXL_LIVE_WORDS] = word;
    }
    // As bytes, oldest first.
    std::string last(uint64_t most) const;

  private:
    std::vector<uint32_t> words = std::vector<uint32_t>(AXL_LIVE_WORDS);
    uint64_t count = 0;
};

class Live {
  public:
    // Both by the core, which knows the accelerators.
    std::string (*says)(uint32_t accelerator) = nullptr;
    std::string (*stream)(uint32_t stream, uint32_t words) = nullptr;

    States *rtl = nullptr;
    struct Until { // a state that somebody waits for
        const States::Element *element = nullptr;
        uint64_t word = 0, value = 0;
        bool is_seen = false;
    } until;
    void cycle() {
        if (until.element && !until.is_seen)
            until.is_seen = States::low(*until.element, until.word) == until.value;
    }
    std::string names() const;
    const States::Element *element(uint32_t number) const { return number < rtl->all().size() ? &rtl->all()[number] : nullptr; }

    bool on() const { return socket >= 0; }
    void begin(int descriptor) { socket = descriptor; }
    void reset() { socket = -1; }
    // Blocks until there is one; false: nobody asks any more.
    bool receive(axl_live_request_t &asked) const;
    void send(const axl_live_answer_t &told, const std::string &more) const;
    // Whether the other side is gone.
    bool alone() const;

  private:
    int socket = -1;
};

} // namespace axl
