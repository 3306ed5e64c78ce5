#include "cpu/console.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>

namespace axl {

namespace {

constexpr size_t LONG_LINE = 1000, SHOWN_AT_ONCE = 4096;
constexpr int SLICE_MS = 250;
const pid_t parent = getppid();

} // namespace

void Console::begin(std::string typed_, int reads_, int prints_, std::string until_) {
    *this = Console();
    typed = std::move(typed_), until = std::move(until_);
    reads = reads_, prints = prints_;
    if (prints >= 0)
        signal(SIGPIPE, SIG_IGN);
}

// ---- printing

Console::Port &Console::port(const char *name) {
    const auto known = std::find_if(ports.begin(), ports.end(), [name](const Port &port) { return port.name == name; });
    if (known != ports.end())
        return *known;
    ports.push_back({name, "", ""});
    return ports.back();
}

bool Console::print(const char *name, const char *characters, size_t size) {
    Port &from = port(name);
    if (!until.empty()) {
        from.last.append(characters, size);
        saw_end |= from.last.find(until) != std::string::npos;
        from.last.erase(0, from.last.size() - std::min(from.last.size(), until.size()));
    }
    if (&from == &ports.front())
        return show(characters, size);
    bool has_room = true;
    for (size_t i = 0; i < size; i++) {
        from.line += characters[i];
        if (characters[i] == '\n' || from.line.size() >= LONG_LINE)
            has_room &= show_line(from);
    }
    return has_room;
}

bool Console::show_line(Port &from) {
    const std::string whole = (is_new_line ? "[" : "\n[") + from.name + "] " + from.line + (from.line.back() == '\n' ? "" : "\n");
    from.line.clear();
    return show(whole.data(), whole.size());
}

void Console::finish() {
    for (Port &from : ports)
        if (!from.line.empty())
            show_line(from);
    flush();
}

// A terminal needs no CR before its LF.
bool Console::show(const char *characters, size_t size) {
    const size_t room = MOST_BYTES - std::min(text.size(), MOST_BYTES);
    text.append(characters, std::min(size, room));
    is_new_line = size && characters[size - 1] == '\n';
    if (prints < 0)
        return size <= room;
    for (size_t i = 0; i < size; i++) {
        if (was_return && characters[i] != '\n')
            waiting += '\r';
        was_return = characters[i] == '\r';
        if (!was_return)
            waiting += characters[i];
    }
    if (is_new_line || waiting.size() >= SHOWN_AT_ONCE)
        flush();
    return size <= room;
}

void Console::flush() {
    size_t begin = 0;
    while (prints >= 0 && begin < waiting.size()) {
        const ssize_t written = write(prints, waiting.data() + begin, waiting.size() - begin);
        if (written > 0) {
            begin += static_cast<size_t>(written);
        } else if (errno == EAGAIN) {
            pollfd ready{prints, POLLOUT, 0};
            poll(&ready, 1, SLICE_MS);
        } else if (errno != EINTR) {
            prints = -1; // nobody reads it any more
        }
    }
    waiting.clear();
}

// ---- typing

bool Console::take(char &c) {
    if (next >= typed.size()) {
        if (!may_look)
            return false;
        may_look = false;
        flush(); // a question before its answer
        if (!read_more(0))
            return false;
    }
    c = typed[next++];
    taken += c;
    return true;
}

void Console::wait(double milliseconds) {
    flush();
    while (reads >= 0) {
        const bool has_end = milliseconds >= 0;
        const int slice = has_end ? static_cast<int>(std::min<double>(milliseconds, SLICE_MS)) : SLICE_MS;
        if (read_more(slice))
            return;
        if (getppid() != parent)
            _exit(1); // whoever started this process is gone
        milliseconds -= has_end ? slice : 0;
        if (has_end && milliseconds < 1)
            return;
    }
}

// Something was typed. After the end of what is typed there is nobody.
bool Console::read_more(int milliseconds) {
    if (reads < 0)
        return false;
    pollfd ready{reads, POLLIN, 0};
    if (poll(&ready, 1, milliseconds) <= 0)
        return false;
    char characters[4096];
    const ssize_t size = read(reads, characters, sizeof characters);
    if (size > 0)
        typed.append(characters, static_cast<size_t>(size));
    else if (size == 0 || (errno != EAGAIN && errno != EINTR))
        reads = -1;
    return size > 0;
}

} // namespace axl
