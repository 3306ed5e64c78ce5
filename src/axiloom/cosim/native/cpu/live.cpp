#include "cpu/live.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "cpu/cpu.hpp"

namespace axl {

namespace {

constexpr uint64_t CHUNK = 1u << 20;   // fabric cycles between two looks whether anybody still waits
constexpr uint64_t CLOSE_LOOK = 64;    // ... whether a DMA has ended

bool whole(int socket, void *data, size_t size, ssize_t (*move)(int, void *, size_t)) {
    auto *at = static_cast<char *>(data);
    while (size) {
        const ssize_t moved = move(socket, at, size);
        if (moved < 0 && errno == EINTR)
            continue;
        if (moved <= 0)
            return false;
        at += moved;
        size -= static_cast<size_t>(moved);
    }
    return true;
}

ssize_t take(int socket, void *data, size_t size) { return recv(socket, data, size, 0); }
ssize_t give(int socket, void *data, size_t size) { return ::send(socket, data, size, MSG_NOSIGNAL); }

} // namespace

std::string RecentWords::last(uint64_t most) const {
    std::string bytes;
    for (uint64_t i = count - std::min({most, count, static_cast<uint64_t>(AXL_LIVE_WORDS)}); i < count; i++)
        bytes.append(reinterpret_cast<const char *>(&words[i % AXL_LIVE_WORDS]), sizeof words[0]);
    return bytes;
}

// One a line: words of a memory or 0, bits, name.
std::string Live::names() const {
    std::string text;
    for (const States::Element &element : rtl->all())
        text += std::to_string(element.words) + " " + std::to_string(element.bits) + " " + element.name + "\n";
    return text;
}

bool Live::receive(axl_live_request_t &asked) const { return whole(socket, &asked, sizeof asked, take); }

void Live::send(const axl_live_answer_t &told, const std::string &more) const {
    std::string bytes(reinterpret_cast<const char *>(&told), sizeof told);
    bytes += more;
    whole(socket, bytes.data(), bytes.size(), give); // who is gone asks no more
}

bool Live::alone() const {
    pollfd look{socket, 0, 0};
    return poll(&look, 1, 0) > 0 && (look.revents & (POLLHUP | POLLERR));
}

int Cpu::start_live(int socket) {
    if (state.run != AXL_RUN_RESET) {
        error = "axl_live_start: call axl_job_begin first";
        return -1;
    }
    timeline.program(nullptr, 0, 0, 0);
    live.begin(socket);
    state.run = AXL_RUN_RUNNING;
    return 0;
}

// In the CPU's fibre, as a program would run.
void Cpu::serve() {
    axl_live_request_t asked;
    while (state.run == AXL_RUN_RUNNING && !aborting) {
        if (!live.receive(asked) || asked.op == AXL_LIVE_END)
            state.run = AXL_RUN_EXITED;
        else {
            axl_live_answer_t told{};
            std::string more;
            answer_live(asked, told, more);
            if (state.run != AXL_RUN_RUNNING || aborting)
                return; // the other side hears why from the session
            told.cycle = to_fabric(cycles());
            told.lines = static_cast<uint32_t>(irq_line) | neighbours.lines();
            told.bytes = static_cast<uint32_t>(more.size());
            live.send(told, more);
        }
    }
}

void Cpu::answer_live(const axl_live_request_t &asked, axl_live_answer_t &told, std::string &more) {
    const uint64_t begin = to_fabric(cycles()), end = begin + std::min(asked.cycles, NEVER - begin);
    const auto left = [&] { return state.run == AXL_RUN_RUNNING && !aborting && to_fabric(cycles()) < end && !live.alone(); };
    // Of the CPU's clock, when the fabric has come so far.
    const auto until = [&](uint64_t most) {
        const uint64_t target = std::min(end, to_fabric(cycles()) + most);
        return std::max(std::min(to_cpu(target), next_of_neighbours()), cycles() + 1);
    };
    const auto lines = [&] { return static_cast<uint32_t>(irq_line) | neighbours.lines(); };
    uint32_t page = 0;
    switch (asked.op) {
    case AXL_LIVE_READ:
    case AXL_LIVE_WRITE:
        if (Neighbour *block = asked.address % 4 ? nullptr : neighbours.at(asked.address)) {
            told.value = neighbour_access(*block, asked.address, asked.op == AXL_LIVE_WRITE, asked.value);
            return;
        }
        if (asked.address % 4 || !is_page(asked.address, page)) {
            told.failed = AXL_LIVE_REFUSED;
            return;
        }
        if (asked.op == AXL_LIVE_READ)
            told.value = bus_read(asked.address);
        else
            bus_write(asked.address, asked.value);
        told.failed = static_cast<uint32_t>(response);
        return;
    case AXL_LIVE_PASS:
        while (left()) {
            const uint64_t target = until(CHUNK);
            memory.penalty += target > cycles() ? target - cycles() : 0;
            yield(AXL_OP_ADVANCE, 0, 0);
            run_neighbours();
        }
        return;
    case AXL_LIVE_WAIT: {
        last_read = read_before = NO_ACCESS;
        const uint32_t before = lines();
        const uint32_t busy_before = busy;
        const auto over = [&] {
            return asked.value ? (lines() & asked.value) != 0 : lines() != before || busy != busy_before;
        };
        while (left() && !over()) {
            yield(AXL_OP_SLEEP, 0, static_cast<uint32_t>(irq_line) | 1u << 16, until(asked.value || !busy ? CHUNK : CLOSE_LOOK));
            run_neighbours();
        }
        return;
    }
    case AXL_LIVE_PINS:
    case AXL_LIVE_DRIVE: {
        Neighbour *block = neighbours.at(asked.address);
        if (!block) {
            told.failed = AXL_LIVE_REFUSED;
            return;
        }
        run_neighbours();
        if (asked.op == AXL_LIVE_DRIVE)
            block->drive(asked.port, asked.value);
        told.value = block->pins(asked.port);
        return;
    }
    case AXL_LIVE_STREAM:
        more = live.stream(asked.address, asked.value);
        return;
    case AXL_LIVE_NAMES:
        more = live.names();
        return;
    case AXL_LIVE_STATE:
        if (const States::Element *element = live.element(asked.address))
            more = States::read(*element, asked.value, asked.cycles);
        else
            told.failed = AXL_LIVE_REFUSED;
        return;
    case AXL_LIVE_UNTIL: {
        live.until = {live.element(asked.address), asked.port, asked.value, false};
        live.cycle();
        while (left() && !live.until.is_seen) {
            memory.penalty += (cpu_ratio + fabric_ratio - 1) / fabric_ratio;
            yield(AXL_OP_ADVANCE, 0, 0);
        }
        told.value = live.until.is_seen;
        live.until = {};
        return;
    }
    case AXL_LIVE_SAYS:
        more = live.says(asked.address);
        return;
    default:
        told.failed = AXL_LIVE_REFUSED;
    }
}

} // namespace axl
