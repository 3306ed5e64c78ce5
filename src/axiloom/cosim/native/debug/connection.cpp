#include "debug/connection.hpp"

#include <cerrno>
#include <cstdint>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "debug/past.hpp"

namespace axl {

namespace {

constexpr char INTERRUPT = 0x03, ESCAPE = '}';
constexpr int LOOK_MS = 500;

const char DIGITS[] = "0123456789abcdef";

int digit(char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// False if who started the simulator has ended: then nobody is there to wait for.
bool wait_for(int descriptor) {
    for (;;) {
        pollfd look{descriptor, POLLIN, 0};
        const int ready = poll(&look, 1, LOOK_MS);
        if (ready > 0)
            return true;
        if (is_orphan() || (ready < 0 && errno != EINTR))
            return false;
    }
}

} // namespace

std::string to_hex(const void *bytes, size_t size) {
    std::string text;
    for (size_t i = 0; i < size; i++) {
        const uint8_t byte = static_cast<const uint8_t *>(bytes)[i];
        text += DIGITS[byte >> 4];
        text += DIGITS[byte & 15];
    }
    return text;
}

std::string to_hex(const std::string &text) { return to_hex(text.data(), text.size()); }

std::string from_hex(const std::string &digits) {
    std::string bytes;
    for (size_t i = 0; i + 1 < digits.size() && digit(digits[i]) >= 0 && digit(digits[i + 1]) >= 0; i += 2)
        bytes += static_cast<char>(digit(digits[i]) << 4 | digit(digits[i + 1]));
    return bytes;
}

Connection::Connection(int listener) {
    if (listen(listener, 1) == 0 && wait_for(listener))
        socket = accept(listener, nullptr, nullptr);
    ::close(listener);
    const int yes = 1;
    if (socket >= 0)
        setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

void Connection::close() {
    if (socket >= 0) {
        shutdown(socket, SHUT_RDWR); // other processes have it, too
        ::close(socket);
    }
    socket = -1;
}

bool Connection::fill() {
    char bytes[4096];
    if (!open() || !wait_for(socket))
        return false;
    const ssize_t n = recv(socket, bytes, sizeof bytes, 0);
    if (n <= 0)
        return false;
    input.append(bytes, static_cast<size_t>(n));
    return true;
}

bool Connection::next(char &c) {
    if (input.empty() && !fill()) {
        close();
        return false;
    }
    c = input.front();
    input.erase(0, 1);
    return true;
}

bool Connection::receive(std::string &payload) {
    char c = 0;
    for (;;) {
        do { // acknowledgements, and an interrupt of a program that stands
            if (!next(c))
                return false;
        } while (c != '$');
        payload.clear();
        uint8_t sum = 0;
        bool escaped = false;
        while (next(c) && c != '#') {
            sum = static_cast<uint8_t>(sum + static_cast<uint8_t>(c));
            if (c == ESCAPE && !escaped) {
                escaped = true;
                continue;
            }
            if (payload.size() < PACKET)
                payload += escaped ? static_cast<char>(c ^ 0x20) : c;
            escaped = false;
        }
        char high = 0, low = 0;
        if (!open() || !next(high) || !next(low))
            return false;
        const bool right = !acknowledges || (digit(high) << 4 | digit(low)) == sum;
        if (acknowledges)
            write(right ? "+" : "-");
        if (right)
            return open();
    }
}

void Connection::send(const std::string &payload) {
    if (mute)
        return;
    uint8_t sum = 0;
    std::string packet = "$";
    for (char c : payload) {
        if (c == '$' || c == '#' || c == ESCAPE || c == '*') {
            packet += ESCAPE;
            sum = static_cast<uint8_t>(sum + ESCAPE);
            c = static_cast<char>(c ^ 0x20);
        }
        packet += c;
        sum = static_cast<uint8_t>(sum + static_cast<uint8_t>(c));
    }
    packet += '#';
    packet += DIGITS[sum >> 4];
    packet += DIGITS[sum & 15];
    write(packet);
}

void Connection::write(const std::string &bytes) {
    for (size_t done = 0; open() && done < bytes.size();) {
        const ssize_t n = ::send(socket, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return close();
        done += static_cast<size_t>(n);
    }
}

bool Connection::interrupted() {
    char bytes[256];
    ssize_t n = -1;
    while (open() && input.size() < PACKET && (n = recv(socket, bytes, sizeof bytes, MSG_DONTWAIT)) > 0)
        input.append(bytes, static_cast<size_t>(n));
    if (open() && n == 0)
        close();
    // Acknowledgements of what was sent may lie before it.
    const size_t at = input.find(INTERRUPT);
    if (at == std::string::npos || input.find('$') < at)
        return false;
    input.erase(0, at + 1);
    return true;
}

} // namespace axl
