// The DMA and the accelerator in time: streams of a word or more a cycle, an array, ping-pong buffers of all operands.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <vector>

#include "plan.hpp"

namespace axl {

// What a transfer brings, in order. `value`: BEGIN the cycle it was started in; WORDS, LOAD, STORE beats; COMPUTE cycles.
struct Item {
    enum Kind { BEGIN, WORDS, LOAD, COMPUTE, STORE, END } kind;
    double value;
    int operand;
    const Stage *stage = nullptr; // of a STORE
};

// Fabric cycles throughout. Items are worked off as far as it is known when they happen: a tile that comes back waits
// until the CPU has armed a receive for it, and a compute for the half of C that the tile is in.
class Device {
  public:
    explicit Device(const Machine &m) : machine(m) {}

    std::deque<Item> items;
    std::vector<double> armed; // receives
    std::vector<double> sent;  // when each transfer had ended
    std::vector<double> back;  // when each tile was in memory

    void run() {
        store();
        while (!items.empty()) {
            const Item item = items.front();
            switch (item.kind) {
            case Item::BEGIN:
                now = std::max(now, item.value + machine.first_word);
                break;
            case Item::WORDS:
                now += item.value;
                break;
            case Item::LOAD: {
                int &half = loaded[item.operand];
                half ^= 1;
                now = std::max(now, in_use[item.operand][half]) + item.value;
                break;
            }
            case Item::COMPUTE: {
                const int tile = last_tile[half_of_c];
                if (tile >= static_cast<int>(left.size()))
                    return;
                const double free = tile < 0 ? 0 : left[static_cast<size_t>(tile)];
                begun = std::max({now + machine.computes, computed, free});
                computed = begun + item.value;
                for (int operand = 0; operand < OPERANDS; operand++)
                    in_use[operand][loaded[operand]] = computed;
                break;
            }
            case Item::STORE:
                last_tile[half_of_c] = static_cast<int>(ready.size());
                half_of_c ^= 1;
                leave(*item.stage, item.value);
                store();
                break;
            case Item::END:
                sent.push_back(now);
                break;
            }
            items.pop_front();
        }
    }

  private:
    const Machine &machine;
    double now = 0, begun = 0, computed = 0; // the last compute
    double in_use[OPERANDS][2] = {}; // until when computes read that half
    int loaded[OPERANDS] = {};       // half
    int half_of_c = 0, last_tile[2] = {-1, -1};
    // Of tiles: sending may begin; may end; how long it takes; `left`: the device has sent it.
    std::vector<double> ready, whole, beats, left;

    // Rows of blocks leave behind the multiply-adds: see drivergen/cost/leaving.py.
    void leave(const Stage &s, double cycles) {
        const double band = 1.0 / s.bands, ahead = (s.across - 1.0) / s.across / s.lines;
        const double each = (computed - begun) * band;
        const double first = begun + std::max(each / s.across, each - cycles * ahead);
        ready.push_back(std::max(now, first) + machine.stores);
        whole.push_back(computed + machine.stores + cycles * (band - ahead));
        beats.push_back(cycles);
    }

    void store() {
        while (left.size() < ready.size() && left.size() < armed.size()) {
            const size_t tile = left.size();
            const double begin = std::max({ready[tile], armed[tile], tile ? left.back() : 0});
            left.push_back(std::max(begin + beats[tile], whole[tile]));
            back.push_back(left.back() + machine.ended);
        }
    }
};

} // namespace axl
