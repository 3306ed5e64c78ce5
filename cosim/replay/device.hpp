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
                computed = std::max({now + machine.computes, computed, free}) + item.value;
                for (int operand = 0; operand < OPERANDS; operand++)
                    in_use[operand][loaded[operand]] = computed;
                break;
            }
            case Item::STORE:
                last_tile[half_of_c] = static_cast<int>(ready.size());
                half_of_c ^= 1;
                ready.push_back(std::max(now, computed) + machine.stores);
                beats.push_back(item.value);
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
    double now = 0, computed = 0;
    double in_use[OPERANDS][2] = {}; // until when computes read that half
    int loaded[OPERANDS] = {};       // half
    int half_of_c = 0, last_tile[2] = {-1, -1};
    std::vector<double> ready, beats, left; // of tiles; `left`: the device has sent it

    void store() {
        while (left.size() < ready.size() && left.size() < armed.size()) {
            const size_t tile = left.size();
            const double begin = std::max({ready[tile], armed[tile], tile ? left.back() : 0});
            left.push_back(begin + beats[tile]);
            back.push_back(left.back() + machine.ended);
        }
    }
};

} // namespace axl
