// The commands behind gdb's `monitor`: what gdb has no words for.
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "axl_profile.h"
#include "bus/dma_registers.h"
#include "cpu/cpu.hpp"
#include "debug/debugger.hpp"
#include "text.hpp"

namespace axl {

namespace {

using U64 = unsigned long long;

struct State {
    const char *name;
    uint32_t mask;
};
constexpr State STATES[] = {
    {"compute", AXL_BIT_COMPUTE},     {"in_valid", AXL_BIT_IN_VALID},   {"in_beat", AXL_BIT_IN_BEAT},
    {"out_beat", AXL_BIT_OUT_BEAT},   {"mm2s_busy", AXL_BIT_MM2S_BUSY}, {"s2mm_busy", AXL_BIT_S2MM_BUSY},
};

// 0x... or decimal, without a sign.
bool parse(const std::string &word, uint64_t &value) {
    const bool is_hex = word.rfind("0x", 0) == 0 || word.rfind("0X", 0) == 0;
    const std::string digits = word.substr(is_hex ? 2 : 0);
    if (digits.empty() || digits.find_first_not_of(is_hex ? "0123456789abcdefABCDEF" : "0123456789") != std::string::npos)
        return false;
    errno = 0;
    value = strtoull(digits.c_str(), nullptr, is_hex ? 16 : 10);
    return !errno;
}

std::string no_number(const std::string &word) { return "'" + word + "' is no number: 0x... or decimal"; }

} // namespace

const Debugger::Command Debugger::COMMANDS[] = {
    {"help", "this list", &Debugger::help},
    {"cycles", "the time, and what the CPU has done", &Debugger::cycles},
    {"dma", "both channels of each DMA, and where its streams stand", &Debugger::dma},
    {"stale", "stale ADDRESS BYTES: where caches and memory differ; stale: what was stale so far", &Debugger::stale},
    {"state", "state [NAME]: registers of the RTL; NAME may be the end of a name", &Debugger::state_text},
    {"memory", "memory NAME [FROM COUNT]: words of a memory of the RTL; memory: all of them", &Debugger::memory_text},
    {"break",
     "break opcode NAME [ACCELERATOR] | stream in|out WORD|@NUMBER|any [ACCELERATOR] | state [!]SIGNAL [ACCELERATOR] | state NAME[[WORD]] == VALUE",
     &Debugger::break_at},
    {"breaks", "those", &Debugger::events_text},
    {"delete", "delete NUMBER: one of them; delete: all", &Debugger::forget},
    {"read", "read ADDRESS: a real access to a device's register", &Debugger::bus_read},
    {"write", "write ADDRESS VALUE: the same", &Debugger::bus_write},
};

std::string Debugger::monitor(const std::string &line) {
    std::istringstream stream(line);
    Words words;
    for (std::string word; stream >> word;)
        words.push_back(word);
    if (words.empty())
        return help(words);
    for (const Command &command : COMMANDS)
        if (words[0] == command.name)
            return (this->*command.run)(words);
    std::string names;
    for (const Command &command : COMMANDS)
        names += (names.empty() ? "" : ", ") + std::string(command.name);
    return "there is no command '" + words[0] + "': " + names;
}

std::string Debugger::help(const Words &) {
    std::string text;
    for (const Command &command : COMMANDS)
        text += format("%s%-8s %s", text.empty() ? "" : "\n", command.name, command.help);
    return text;
}

std::string Debugger::cycles(const Words &) {
    return format("fabric cycle %llu; CPU cycle %llu (fabric cycle %llu), of these %llu waiting; %llu instructions",
                  static_cast<U64>(std::max(fabric, cpu.fabric_cycle())), static_cast<U64>(cpu.cycles()),
                  static_cast<U64>(cpu.to_fabric(cpu.cycles())), static_cast<U64>(cpu.stall), static_cast<U64>(cpu.instructions));
}

std::string Debugger::dma(const Words &) {
    std::string text;
    for (size_t i = 0; i < devices.size() && i < cpu.config.mmio_pages; i++) {
        const axl_dma_state_t state = cpu.rules.summary(static_cast<uint32_t>(i));
        text += format("%s%s at 0x%08X: ", text.empty() ? "" : "\n", devices[i].name.c_str(), cpu.config.mmio_base[i]);
        for (uint32_t channel = 0; channel < 2; channel++) {
            const bool runs = state.control[channel] & 1, busy = states[i] & (channel ? AXL_BIT_S2MM_BUSY : AXL_BIT_MM2S_BUSY);
            text += format("%s DMACR 0x%08X, %s, %s; ", channel ? "S2MM" : "MM2S", state.control[channel],
                           !runs ? "halted" : busy ? "a transfer is under way" : "idle",
                           cpu.rules.transfer_text(2 * static_cast<uint32_t>(i) + channel).c_str());
        }
        text += devices[i].protocol->text();
    }
    return text.empty() ? "there is no DMA in this run" : text;
}

std::string Debugger::stale(const Words &words) {
    static const char *const kinds[] = {
        "the DMA read before a flush", "the CPU read without an invalidate", "written back over the DMA's data", "stores thrown away by an invalidate"};
    std::string text;
    if (words.size() == 1) {
        for (const axl_stale_t &entry : memory.stale.list)
            text += format("%s0x%08X to 0x%08X: %s, pc 0x%08X, %llu times since fabric cycle %llu", text.empty() ? "" : "\n", entry.first,
                           entry.last, kinds[entry.kind], entry.pc, static_cast<U64>(entry.count), static_cast<U64>(entry.cycle));
        return text.empty() ? "nothing was stale so far" : text;
    }
    uint64_t address = 0, bytes = 0;
    if (words.size() != 3)
        return "stale ADDRESS BYTES";
    for (size_t i = 1; i < 3; i++)
        if (!parse(words[i], i == 1 ? address : bytes))
            return no_number(words[i]);
    if (!bytes || address >= RAM_SIZE || bytes > RAM_SIZE - address)
        return format("0x%llX, %llu bytes: not in RAM", static_cast<U64>(address), static_cast<U64>(bytes));
    if (!memory.contents.on)
        return "the DMA's port looks into the caches: no line is stale";
    const uint32_t shift = memory.line_shift, line_bytes = 1u << shift;
    uint64_t differing = 0, first = 0, last = 0;
    for (uint64_t at = address; at < address + bytes; at++) {
        const uint32_t line = static_cast<uint32_t>(at >> shift);
        if (memory.contents.is_whole(line)) {
            at |= line_bytes - 1;
            continue;
        }
        if (memory.contents.memory(line)[at & (line_bytes - 1)] == cpu.ram[at])
            continue;
        first = differing++ ? first : at;
        last = at;
    }
    if (!differing)
        return "the CPU and the DMA see the same bytes there";
    return format("%llu bytes from 0x%08llX to 0x%08llX differ: the CPU sees its caches, the DMA memory", static_cast<U64>(differing),
                  static_cast<U64>(first), static_cast<U64>(last));
}

// ---- the RTL

namespace {

// As a number in hex.
std::string hex(const std::string &bytes) {
    std::string text;
    for (size_t at = bytes.size(); at >= 4; at -= 4) {
        uint32_t part;
        memcpy(&part, bytes.data() + at - 4, sizeof part);
        text += format(text.empty() ? "%x" : "%08x", part);
    }
    return "0x" + text;
}

constexpr char NOTHING_SHOWN[] = "nothing of the RTL is shown in this run";

} // namespace

std::string Debugger::state_text(const Words &words) {
    std::string text, error;
    if (words.size() > 2)
        return "state [NAME]";
    const States::Element *const wanted = words.size() > 1 ? rtl.find(words[1], error) : nullptr;
    if (!error.empty())
        return error;
    if (wanted && wanted->words)
        return wanted->name + " is a memory: monitor memory " + wanted->name;
    for (const States::Element &element : rtl.all())
        if (wanted ? wanted == &element : !element.words)
            text += (text.empty() ? "" : "\n") + element.name + " " + hex(States::read(element, 0, 1));
    return text.empty() ? NOTHING_SHOWN : text;
}

std::string Debugger::memory_text(const Words &words) {
    std::string text, error;
    if (words.size() == 1) {
        for (const States::Element &element : rtl.all())
            if (element.words)
                text += format("%s%s: %u words of %u bits", text.empty() ? "" : "\n", element.name.c_str(), element.words, element.bits);
        return text.empty() ? NOTHING_SHOWN : text;
    }
    uint64_t first = 0, count = 16;
    if (words.size() != 2 && words.size() != 4)
        return "memory NAME [FROM COUNT]";
    for (size_t i = 2; i < words.size(); i++)
        if (!parse(words[i], i == 2 ? first : count))
            return no_number(words[i]);
    const States::Element *const element = rtl.find(words[1], error);
    if (!element)
        return error;
    if (!element->words)
        return element->name + " is a register: monitor state " + element->name;
    if (first >= element->words)
        return format("%s has %u words", element->name.c_str(), element->words);
    for (uint64_t i = first; i - first < count && i < element->words; i++)
        text += format("%s%llu: ", text.empty() ? "" : "\n", static_cast<U64>(i)) + hex(States::read(*element, i, 1));
    return text;
}

// ---- breaks

bool Debugger::find_device(const Words &words, size_t where, size_t &device, std::string &error) const {
    device = 0;
    if (words.size() <= where)
        return true;
    std::string names;
    for (; device < devices.size(); device++) {
        if (devices[device].name == words[where])
            return true;
        names += (names.empty() ? "" : ", ") + devices[device].name;
    }
    error = "there is no accelerator '" + words[where] + "': " + names;
    return false;
}

std::string Debugger::break_at(const Words &words) {
    const std::string what = words.size() > 2 ? words[1] : "";
    Event event{};
    std::string error;
    for (size_t i = 1; i < words.size(); i++)
        event.text += (i > 1 ? " " : "") + words[i];
    if (what == "state" && words.size() == 5 && words[3] == "==")
        return break_at_value(event, words);
    const size_t device_at = what == "stream" ? 4 : 3;
    if (words.size() > device_at + 1)
        return "'" + words[device_at + 1] + "' is one word too many";
    if (!find_device(words, device_at, event.accelerator, error))
        return error;
    std::string names;
    if (what == "opcode") {
        const Protocol &protocol = *devices[event.accelerator].protocol;
        event.kind = Event::OPCODE;
        for (const Protocol::Op &op : protocol.ops) {
            if (op.name == words[2]) {
                event.op = static_cast<size_t>(&op - protocol.ops.data());
                event.begun = op.begun;
                return add(event);
            }
            names += (names.empty() ? "" : ", ") + op.name;
        }
        return "there is no opcode '" + words[2] + "': " + (names.empty() ? "this accelerator has none" : names);
    }
    if (what == "stream" && words.size() > 3 && (words[2] == "in" || words[2] == "out")) {
        event.kind = Event::STREAM;
        event.in = words[2] == "in";
        event.any = words[3] == "any";
        event.by_number = words[3][0] == '@';
        if (!event.any && !parse(words[3].substr(event.by_number), event.value))
            return no_number(words[3]);
        if (!event.any && (event.by_number ? !event.value : event.value >> 32 != 0))
            return words[3] + (event.by_number ? ": words are counted from @1" : " has more than 32 bits");
        return add(event);
    }
    if (what == "state") {
        event.kind = Event::STATE;
        event.is_high = words[2][0] != '!';
        const std::string name = words[2].substr(!event.is_high);
        for (const State &state : STATES) {
            if (name == state.name) {
                event.mask = state.mask;
                return add(event);
            }
            names += (names.empty() ? "" : ", ") + std::string(state.name);
        }
        return "there is no state '" + name + "': " + names;
    }
    return "break opcode NAME | stream in|out WORD|@NUMBER|any | state [!]SIGNAL | state NAME[[WORD]] == VALUE";
}

std::string Debugger::break_at_value(Event event, const Words &words) {
    const size_t bracket = words[2].find('[');
    std::string error;
    event.kind = Event::VALUE;
    event.element = rtl.find(words[2].substr(0, bracket), error);
    if (!event.element)
        return rtl.all().empty() ? NOTHING_SHOWN : error;
    if (event.element->words ? bracket == std::string::npos || words[2].back() != ']' ||
                                   !parse(words[2].substr(bracket + 1, words[2].size() - bracket - 2), event.index) ||
                                   event.index >= event.element->words
                             : bracket != std::string::npos)
        return event.element->words ? format("%s has %u words: %s[WORD]", event.element->name.c_str(), event.element->words, event.element->name.c_str())
                                    : event.element->name + " is a register";
    if (!parse(words[4], event.value))
        return no_number(words[4]);
    if (event.element->bits < 64 && event.value >> event.element->bits)
        return format("%s has %u bits", event.element->name.c_str(), event.element->bits);
    if (event.element->bits > 64)
        return format("%s has %u bits: breaks take up to 64", event.element->name.c_str(), event.element->bits);
    event.has_it = States::low(*event.element, event.index) == event.value;
    return add(event);
}

std::string Debugger::add(Event event) {
    const int number = points.next_event++;
    points.events.emplace(number, event);
    return format("break %d: %s", number, event.text.c_str());
}

std::string Debugger::events_text(const Words &) {
    std::string text;
    for (const auto &[number, event] : points.events)
        text += format("%sbreak %d: %s", text.empty() ? "" : "\n", number, event.text.c_str());
    return text.empty() ? "there are none" : text;
}

std::string Debugger::forget(const Words &words) {
    if (words.size() == 1) {
        points.events.clear();
        return "";
    }
    uint64_t number = 0;
    const bool is_there = words.size() == 2 && parse(words[1], number) && points.events.erase(static_cast<int>(number));
    return is_there ? "" : "there is no break " + words[1];
}

// ---- devices

std::string Debugger::bus_read(const Words &words) {
    uint64_t address = 0;
    if (words.size() != 2 || !parse(words[1], address))
        return "read ADDRESS";
    return bus(false, address, 0);
}

std::string Debugger::bus_write(const Words &words) {
    uint64_t address = 0, value = 0;
    if (words.size() != 3 || !parse(words[1], address) || !parse(words[2], value))
        return "write ADDRESS VALUE";
    return bus(true, address, value);
}

std::string Debugger::bus(bool write, uint64_t address, uint64_t value) {
    if (at != At::INSTRUCTION && at != At::BLOCK)
        return "only while the CPU is held before an instruction (stepi gets there)";
    uint32_t data = static_cast<uint32_t>(value);
    if (value >> 32)
        return format("0x%llX has more than 32 bits", static_cast<U64>(value));
    if (address % 4 || address >> 32 || !cpu.is_device(static_cast<uint32_t>(address)))
        return format("0x%08llX is no register of an accelerator's DMA", static_cast<U64>(address));
    if (!cpu.bus(write, static_cast<uint32_t>(address), data))
        return format("0x%08llX answers with an error", static_cast<U64>(address));
    return format("0x%08llX: 0x%08X", static_cast<U64>(address), data);
}

} // namespace axl
