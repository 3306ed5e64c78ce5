// What a program prints, and what a person types to it: kept for the report, and passed on while it runs.
//
// Several ports (UARTs) print to one terminal: text of the first that prints comes as it is, of the others by whole lines,
// with their names before them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace axl {

class Console {
  public:
    static constexpr size_t MOST_BYTES = 1 << 20;

    std::string text;  // all of it
    std::string taken; // of what was typed

    // `typed`: before the rest. `reads`, `prints`: descriptors of a live terminal, or -1.
    void begin(std::string typed, int reads, int prints, std::string until);
    // False: there is no more room for it.
    bool print(const char *port, const char *characters, size_t size);
    bool ended() const { return saw_end; } // the text that ends the program was printed
    void flush();
    void finish(); // lines without an end, too

    // The next character, if there is one.
    bool take(char &c);
    // What was typed meanwhile may be looked at: not at each of the program's looks, each is a system call.
    void look_again() { may_look = true; }
    size_t available() const { return typed.size() - next; }
    // Somebody may still type something.
    bool is_open() const { return reads >= 0; }
    // Until somebody types, or no longer can; or until `milliseconds` are over (-1: without end).
    void wait(double milliseconds);

  private:
    struct Port {
        std::string name, line, last; // a part of a line that is not shown yet; its last characters
    };
    std::string typed, until, waiting; // waiting: to be shown
    size_t next = 0;
    int reads = -1, prints = -1;
    bool may_look = true, saw_end = false, is_new_line = true, was_return = false;
    std::vector<Port> ports;

    Port &port(const char *name);
    bool show_line(Port &from);
    bool show(const char *characters, size_t size);
    bool read_more(int milliseconds);
};

} // namespace axl
