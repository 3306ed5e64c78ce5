// What gdb's packets ask for (gdb's manual, appendix E.2 ff.). Numbers are in hex.
#include <algorithm>
#include <cstdlib>

#include "cpu/cpu.hpp"
#include "debug/debugger.hpp"
#include "text.hpp"

namespace axl {

namespace {

constexpr char OK[] = "OK", WRONG[] = "E01", REFUSED[] = "E0e";

bool starts_with(const std::string &text, const char *with) { return text.rfind(with, 0) == 0; }

// Takes a number and the character behind it from the front of `text`.
uint64_t number(std::string &text) {
    char *end = nullptr;
    const uint64_t value = strtoull(text.c_str(), &end, 16);
    text.erase(0, std::min(text.size(), static_cast<size_t>(end - text.c_str()) + 1));
    return value;
}

} // namespace

Debugger::Then Debugger::answer(const std::string &packet) {
    const char kind = packet.empty() ? 0 : packet[0];
    const std::string rest = packet.substr(std::min<size_t>(packet.size(), 1));
    std::string arguments = rest;
    switch (kind) {
    case '?':
        link.send(reply);
        break;
    case 'g':
        link.send(registers());
        break;
    case 'G': {
        std::string bytes = from_hex(rest);
        bool is_written = true;
        for (size_t i = 0; const Target::Register *entry = find_register(i); i++) {
            is_written &= write_register(i, bytes.substr(0, entry->bits / 8));
            bytes.erase(0, std::min<size_t>(bytes.size(), entry->bits / 8));
        }
        link.send(is_written ? OK : WRONG);
        break;
    }
    case 'p':
        link.send(register_at(number(arguments)));
        break;
    case 'P': {
        const size_t which = number(arguments);
        link.send(write_register(which, from_hex(arguments)) ? OK : WRONG);
        break;
    }
    case 'm':
        read_memory(rest);
        break;
    case 'M':
    case 'X':
        write_memory(rest, kind == 'X');
        break;
    case 'Z':
    case 'z':
        point(rest, kind == 'Z');
        break;
    case 'H':
    case 'T':
        link.send(OK);
        break;
    case 'c':
    case 'C':
    case 's':
    case 'S':
        return go_on(kind, kind == 'c' || kind == 's' ? rest : rest.substr(std::min(rest.size(), rest.find(';') + 1)));
    case 'b':
        if (past.has_begun() && !travels && (rest == "c" || rest == "s"))
            return rest == "c" ? Then::BACK : Then::STEP_BACK;
        link.send("");
        break;
    case '@': // our own: see as_packets
        rest.empty() ? static_cast<void>(points = {}) : static_cast<void>(points.next_event = atoi(rest.c_str()));
        link.send("");
        break;
    case 'D':
        link.send(OK);
        detach();
        return Then::GO_ON;
    case 'k':
        cpu.end_by_debugger();
        detach();
        return Then::GO_ON;
    case 'v':
        if (packet == "vCont?")
            link.send("vCont;c;C;s;S");
        else if (starts_with(packet, "vCont;"))
            return go_on(packet[6]);
        else if (starts_with(packet, "vKill")) {
            link.send(OK);
            cpu.end_by_debugger();
            detach();
            return Then::GO_ON;
        } else
            link.send("");
        break;
    case 'q':
    case 'Q':
        query(packet);
        break;
    default:
        link.send("");
    }
    return Then::WAIT;
}

// From `address`, if there is one.
Debugger::Then Debugger::go_on(char how, const std::string &address) {
    const uint64_t target = strtoull(address.c_str(), nullptr, 16);
    for (size_t i = 0; const Target::Register *entry = address.empty() ? nullptr : find_register(i); i++)
        if (entry->id == cpu.kind().registers().pc &&
            !write_register(i, std::string(reinterpret_cast<const char *>(&target), entry->bits / 8))) {
            link.send(WRONG);
            return Then::WAIT;
        }
    return how == 's' || how == 'S' ? Then::STEP : Then::GO_ON;
}

void Debugger::query(const std::string &packet) {
    if (starts_with(packet, "qSupported"))
        link.send(format("PacketSize=%zx;QStartNoAckMode+;qXfer:features:read+;vContSupported+%s", Connection::PACKET,
                         past.has_begun() ? ";ReverseContinue+;ReverseStep+" : ""));
    else if (packet == "QStartNoAckMode") {
        link.send(OK);
        link.acknowledges = false;
    } else if (starts_with(packet, "qXfer:features:read:target.xml:"))
        send_target(packet.substr(packet.rfind(':') + 1));
    else if (packet == "qC")
        link.send("QC1");
    else if (packet == "qfThreadInfo")
        link.send("m1");
    else if (packet == "qsThreadInfo")
        link.send("l");
    else if (starts_with(packet, "qAttached"))
        link.send("1");
    else if (starts_with(packet, "qSymbol"))
        link.send(OK);
    else if (starts_with(packet, "qRcmd,")) {
        const std::string text = monitor(from_hex(packet.substr(6)));
        link.send(text.empty() ? OK : to_hex(text + "\n"));
    } else
        link.send("");
}

void Debugger::send_target(const std::string &arguments) {
    std::string rest = arguments;
    const uint64_t offset = strtoull(rest.c_str(), nullptr, 16), size = strtoull(rest.substr(rest.find(',') + 1).c_str(), nullptr, 16);
    const std::string xml = cpu.kind().target()->xml();
    if (offset >= xml.size())
        return link.send("l");
    const std::string part = xml.substr(offset, size);
    link.send((offset + part.size() < xml.size() ? "m" : "l") + part);
}

// ---- registers

const Target::Register *Debugger::find_register(size_t number) const {
    for (const Target::Feature &feature : cpu.kind().target()->features) {
        if (number < feature.registers.size())
            return &feature.registers[number];
        number -= feature.registers.size();
    }
    return nullptr;
}

std::string Debugger::register_at(size_t number) const {
    const Target::Register *entry = find_register(number);
    if (!entry)
        return WRONG;
    uint8_t bytes[16] = {};
    uc_reg_read(cpu.engine, entry->id, bytes);
    if (entry->id == cpu.kind().registers().pc) {
        const uint64_t value = pc();
        std::copy_n(reinterpret_cast<const uint8_t *>(&value), sizeof value, bytes);
    }
    return to_hex(bytes, entry->bits / 8);
}

std::string Debugger::registers() const {
    std::string text;
    for (size_t i = 0; find_register(i); i++)
        text += register_at(i);
    return text;
}

// While the CPU waits in an access, its instruction is not done: its registers stay as they are.
bool Debugger::write_register(size_t number, const std::string &bytes) {
    const Target::Register *entry = find_register(number);
    if (!entry || bytes.size() != entry->bits / 8 || cpu.waits_in_access())
        return false;
    uint8_t value[16] = {};
    std::copy(bytes.begin(), bytes.end(), value);
    if (entry->id == cpu.kind().registers().pc) {
        uint64_t target = 0;
        std::copy_n(value, sizeof target, reinterpret_cast<uint8_t *>(&target));
        if (target == pc())
            return true;
        if (at != At::START && at != At::INSTRUCTION && at != At::BLOCK)
            return false;
        target = cpu.kind().resume_at(static_cast<uint32_t>(target)) | (target & 1);
        std::copy_n(reinterpret_cast<const uint8_t *>(&target), sizeof target, value);
        moved = true;
    }
    return uc_reg_write(cpu.engine, entry->id, value) == UC_ERR_OK;
}

// ---- memory

// What reads and writes without an effect: RAM, and memory on the chip.
bool Debugger::is_memory(uint32_t address, uint32_t size) const {
    if (address < RAM_SIZE)
        return size <= RAM_SIZE - address;
    return cpu.kind().is_memory(address, size);
}

void Debugger::read_memory(const std::string &text) {
    std::string rest = text;
    const uint64_t address = number(rest), size = std::min<uint64_t>(number(rest), Connection::PACKET / 2);
    std::string bytes(size, 0);
    if (address >> 32 || !is_memory(static_cast<uint32_t>(address), static_cast<uint32_t>(size)) ||
        uc_mem_read(cpu.engine, address, bytes.data(), size) != UC_ERR_OK)
        return link.send(REFUSED);
    link.send(to_hex(bytes));
}

void Debugger::write_memory(const std::string &text, bool binary) {
    const size_t colon = text.find(':');
    std::string rest = text.substr(0, colon);
    const uint64_t address = number(rest), size = number(rest);
    const std::string data = colon == std::string::npos ? "" : text.substr(colon + 1);
    const std::string bytes = binary ? data : from_hex(data);
    if (bytes.size() != size)
        return link.send(WRONG);
    if (!size)
        return link.send(OK);
    if (address >> 32 || !is_memory(static_cast<uint32_t>(address), static_cast<uint32_t>(size)) ||
        uc_mem_write(cpu.engine, address, bytes.data(), size) != UC_ERR_OK)
        return link.send(REFUSED);
    uc_ctl_remove_cache(cpu.engine, address, address + size); // it may be code
    link.send(OK);
}

// ---- breakpoints and watchpoints

void Debugger::point(const std::string &packet, bool set) {
    const char kind = packet.empty() ? 0 : packet[0];
    std::string rest = packet.substr(std::min<size_t>(packet.size(), 2));
    const uint32_t address = static_cast<uint32_t>(number(rest)), size = static_cast<uint32_t>(number(rest));
    if (kind == '0' || kind == '1') {
        set ? static_cast<void>(points.breaks.insert(address)) : static_cast<void>(points.breaks.erase(address));
        points.near = 0;
        for (const uint32_t place : points.breaks)
            points.near |= 1ull << (place >> 1 & 63);
        return link.send(OK);
    }
    if (kind < '2' || kind > '4')
        return link.send("");
    const auto same = [&](const Watchpoint &point) { return point.address == address && point.size == size && point.kind == kind; };
    if (!size || size > ~0u - address)
        return link.send(WRONG);
    auto &list = points.watchpoints;
    list.erase(std::remove_if(list.begin(), list.end(), same), list.end());
    if (set)
        list.push_back({address, size, kind});
    watch();
    link.send(OK);
}

// The CPU tells of accesses near what is watched.
void Debugger::watch() {
    uint64_t first = ~0u, end = 0;
    for (const auto *list : {&points.watchpoints, &probes.watchpoints})
        for (const Watchpoint &point : *list) {
            cpu.attributes.watch(point.address, point.size);
            first = std::min<uint64_t>(first, point.address);
            end = std::max<uint64_t>(end, static_cast<uint64_t>(point.address) + point.size);
        }
    constexpr uint64_t WIDEST = 16; // of an access that begins before it
    first -= std::min(first, WIDEST);
    cpu.observe(static_cast<uint32_t>(first), static_cast<uint32_t>(end > first ? end - first : 0));
}

} // namespace axl
