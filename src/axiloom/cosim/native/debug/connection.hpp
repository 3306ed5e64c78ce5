// The packets of gdb's remote serial protocol, over a socket (gdb's manual, appendix E).
#pragma once

#include <string>

namespace axl {

std::string to_hex(const void *bytes, size_t size);
std::string to_hex(const std::string &text);
// Stops at the first character that is no digit.
std::string from_hex(const std::string &digits);

class Connection {
  public:
    static constexpr size_t PACKET = 0x4000; // bytes of the longest that is taken

    // `listener` is a listening socket: waits for who calls. It is closed then.
    explicit Connection(int listener);
    ~Connection() { close(); }
    Connection(const Connection &) = delete;
    Connection &operator=(const Connection &) = delete;

    bool open() const { return socket >= 0; }
    void close();
    // Waits for the next packet; false: nobody is there any more.
    bool receive(std::string &payload);
    void send(const std::string &payload);
    // While the program runs: whether gdb wants it to stop.
    bool interrupted();
    bool acknowledges = true;
    bool mute = false; // nothing is sent
    void forget() { input.clear(); }

  private:
    int socket = -1;
    std::string input; // has come, and was not read

    bool fill();
    bool next(char &c);
    void write(const std::string &bytes);
};

} // namespace axl
