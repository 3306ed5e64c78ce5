// Going backwards. A simulation depends on its program and on what gdb says, and on nothing else; so the past is executed
// again, by a copy of this process from before (fork, which copies what is written later, page by page).
//
// The first process keeps the begin of the program and waits; another runs, the present. From time to time the present leaves
// a snapshot, a process that waits, too. To go back, the newest snapshot before the present makes a traveller that repeats
// what gdb has said since, and notes the last place at which something holds the program; a second traveller goes there and
// is the present from then on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace axl {

// Whether who started the simulator has ended.
bool is_orphan();

// A place in time. It does not depend on where the program was held before.
struct Moment {
    enum Kind : uint64_t { NOWHERE, BEGIN, INSTRUCTION, FABRIC } kind = NOWHERE;
    uint64_t count = 0; // instructions at the end of its block; or what the fabric has told of
    uint64_t pc = 0;
    bool operator==(const Moment &other) const { return kind == other.kind && count == other.count && pc == other.pc; }
};

// What came from outside, in order.
struct Said {
    enum Kind : uint64_t { PACKET, INTERRUPT, LANDING } kind = PACKET;
    std::string packet;
    Moment moment; // LANDING: the program was held there, because somebody went back; INTERRUPT: count of looks
};

struct Stop {
    Moment moment;
    std::string reply, told; // to gdb, to a person
};

struct Quest {
    uint64_t serial = 0; // its answer has it, too
    bool lands = false; // at `stop`; else it is to be found
    bool steps = false; // every instruction is a stop
    uint64_t end = 0;   // the snapshot at which a search ends; 0: where all that was said is repeated
    std::vector<Said> said;
    std::vector<std::string> points; // as packets: what holds the program
    Stop stop;
};

class Past {
  public:
    enum class Answer { STOP, INTERRUPTED, FAILED };

    // True in a traveller: `quest` says what it is for. All others go on, or wait.
    bool begin();
    bool snapshot(uint64_t number, uint64_t cycle);
    Quest quest;

    // ---- the present
    bool has_begun() const { return !snapshots.empty(); }
    size_t size() const { return snapshots.size(); }
    uint64_t number(size_t index) const { return snapshots[index].number; }
    // Sends a traveller from a snapshot; `wanted` asks whether the answer still is.
    Answer ask(size_t index, Quest &quest, Stop &stop, bool (*gives_up)(void *), void *self);
    // Another process is the present now.
    [[noreturn]] void leave(size_t index);
    void end(); // nobody goes back any more

    // ---- a traveller
    [[noreturn]] void tell(bool good, const Stop &stop);
    void arrive();

  private:
    struct Snapshot {
        uint64_t number, cycle;
        int process, socket;
    };
    std::vector<Snapshot> snapshots; // oldest first
    int answers = -1;                // a traveller's

    bool wait(int socket);
    bool travels(int socket);
    void thin();
};

} // namespace axl
