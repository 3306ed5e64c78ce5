#include "debug/past.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <poll.h>
#include <sys/mman.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

namespace axl {

namespace {

constexpr int LOOK_MS = 200;
constexpr size_t MOST = 40, NEWEST = 12; // snapshots; those that stay

pid_t parent = getppid();

// What all processes of a job know.
struct Shared {
    volatile pid_t first, present, traveller, failed, left;
    volatile uint64_t serial;
} *shared = nullptr;

class Message {
  public:
    void put(uint64_t value) { bytes.append(reinterpret_cast<const char *>(&value), sizeof value); }
    void put(const std::string &text) {
        put(text.size());
        bytes += text;
    }
    void put(const Moment &moment) {
        put(moment.kind);
        put(moment.count);
        put(moment.pc);
    }
    void put(const Stop &stop) {
        put(stop.moment);
        put(stop.reply);
        put(stop.told);
    }
    void get(uint64_t &value) { std::copy_n(take(sizeof value), sizeof value, reinterpret_cast<char *>(&value)); }
    void get(std::string &text) {
        uint64_t size = 0;
        get(size);
        text.assign(take(size), size);
    }
    void get(Moment &moment) {
        uint64_t kind = 0;
        get(kind);
        moment.kind = static_cast<Moment::Kind>(kind);
        get(moment.count);
        get(moment.pc);
    }
    void get(Stop &stop) {
        get(stop.moment);
        get(stop.reply);
        get(stop.told);
    }
    bool send(int socket) const {
        uint64_t size = bytes.size();
        return whole(socket, &size, sizeof size, give) && whole(socket, const_cast<char *>(bytes.data()), size, give);
    }
    bool receive(int socket) {
        uint64_t size = 0;
        if (!whole(socket, &size, sizeof size, take_part))
            return false;
        bytes.resize(size);
        at = 0;
        return whole(socket, bytes.data(), size, take_part);
    }

  private:
    std::string bytes;
    size_t at = 0;

    const char *take(size_t size) {
        const char *const from = bytes.data() + at;
        at += size;
        return from;
    }
    static ssize_t give(int socket, void *data, size_t size) { return ::send(socket, data, size, MSG_NOSIGNAL); }
    static ssize_t take_part(int socket, void *data, size_t size) { return recv(socket, data, size, 0); }
    static bool whole(int socket, void *data, size_t size, ssize_t (*move)(int, void *, size_t)) {
        for (char *next = static_cast<char *>(data); size;) {
            const ssize_t n = move(socket, next, size);
            if (n < 0 && errno == EINTR)
                continue;
            if (n <= 0)
                return false;
            next += n;
            size -= static_cast<size_t>(n);
        }
        return true;
    }
};

Message packed(const Quest &quest) {
    Message message;
    message.put(quest.serial);
    message.put(quest.lands);
    message.put(quest.steps);
    message.put(quest.end);
    message.put(quest.said.size());
    for (const Said &entry : quest.said) {
        message.put(entry.kind);
        message.put(entry.packet);
        message.put(entry.moment);
    }
    message.put(quest.points.size());
    for (const std::string &packet : quest.points)
        message.put(packet);
    message.put(quest.stop);
    return message;
}

Quest unpacked(Message &message) {
    Quest quest;
    uint64_t number = 0;
    message.get(quest.serial);
    message.get(number);
    quest.lands = number;
    message.get(number);
    quest.steps = number;
    message.get(quest.end);
    message.get(number);
    quest.said.resize(number);
    for (Said &entry : quest.said) {
        message.get(number);
        entry.kind = static_cast<Said::Kind>(number);
        message.get(entry.packet);
        message.get(entry.moment);
    }
    message.get(number);
    quest.points.resize(number);
    for (std::string &packet : quest.points)
        message.get(packet);
    message.get(quest.stop);
    return quest;
}

// The first process ends as the present does.
void end_as(int status) {
    if (WIFSIGNALED(status)) {
        signal(WTERMSIG(status), SIG_DFL);
        raise(WTERMSIG(status));
    }
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

void reap() {
    int status = 0;
    for (pid_t process; (process = waitpid(-1, &status, WNOHANG)) > 0;) {
        if (process == shared->present)
            end_as(status);
        if (process == shared->traveller)
            shared->failed = process;
    }
}

} // namespace

namespace {

// Other threads were not copied (Verilator has one that does nothing), and what is done at exit would wait for them.
void become_copy() {
    parent = shared->first;
#ifdef __linux__
    on_exit(
        [](int status, void *) {
            fflush(nullptr);
            _exit(status);
        },
        nullptr);
#endif
}

} // namespace

bool is_orphan() { return getppid() != parent; }

bool Past::begin() {
    int pair[2];
    void *const memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
        return false;
    shared = static_cast<Shared *>(memory);
    shared->first = getpid();
#ifdef __linux__
    prctl(PR_SET_CHILD_SUBREAPER, 1);
#else
    return false; // orphans would not come to this process
#endif
    snapshots.push_back({0, 0, getpid(), pair[1]});
    const pid_t present = fork();
    if (present == 0) {
        become_copy();
        shared->present = getpid();
        return false;
    }
    if (present < 0) {
        snapshots.clear();
        return false;
    }
    return wait(pair[0]);
}

bool Past::snapshot(uint64_t number, uint64_t cycle) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
        return false;
    const pid_t child = fork();
    if (child == 0) {
        snapshots.push_back({number, cycle, getpid(), pair[1]});
        return wait(pair[0]);
    }
    close(pair[0]);
    if (child < 0) {
        close(pair[1]);
        return false;
    }
    snapshots.push_back({number, cycle, child, pair[1]});
    thin();
    return false;
}

// Of older ones there are fewer.
void Past::thin() {
    if (snapshots.size() <= MOST)
        return;
    const uint64_t now = snapshots.back().cycle;
    size_t least = 1;
    double smallest = 2;
    for (size_t i = 1; i + NEWEST < snapshots.size(); i++) {
        const double gap = static_cast<double>(snapshots[i + 1].cycle - snapshots[i - 1].cycle) /
                           static_cast<double>(now - snapshots[i].cycle + 1);
        if (gap < smallest) {
            smallest = gap;
            least = i;
        }
    }
    kill(snapshots[least].process, SIGKILL);
    waitpid(snapshots[least].process, nullptr, 0);
    close(snapshots[least].socket);
    snapshots.erase(snapshots.begin() + static_cast<long>(least));
}

// A snapshot waits for quests; true in the traveller of one.
bool Past::wait(int socket) {
    const bool is_first = getpid() == shared->first;
    for (;;) {
        pollfd look{socket, POLLIN, 0};
        const int ready = poll(&look, 1, is_first ? LOOK_MS / 10 : LOOK_MS);
        if (is_first) {
            reap();
            if (is_orphan() && shared->present)
                kill(shared->present, SIGKILL);
        } else if (kill(shared->first, 0) != 0) {
            _exit(1);
        } else {
            waitpid(-1, nullptr, WNOHANG); // of a present that this was, and that has left snapshots
        }
        if (ready > 0 && travels(socket))
            return true;
    }
}

// Its parent is the first process, which takes children that have lost theirs.
bool Past::travels(int socket) {
    Message message;
    if (!message.receive(socket))
        _exit(1);
    const pid_t between = fork();
    if (between > 0)
        waitpid(between, nullptr, 0);
    if (between != 0)
        return false;
    if (fork() != 0)
        _exit(0);
    while (getppid() != shared->first) { // until `between` has ended
        if (kill(shared->first, 0) != 0)
            _exit(1);
        usleep(200);
    }
    become_copy();
    shared->traveller = getpid();
    answers = socket;
    quest = unpacked(message);
    return true;
}

Past::Answer Past::ask(size_t index, Quest &asked, Stop &stop, bool (*gives_up)(void *), void *self) {
    const int socket = snapshots[index].socket;
    shared->traveller = shared->failed = 0;
    asked.serial = ++*const_cast<uint64_t *>(&shared->serial);
    if (!packed(asked).send(socket))
        return Answer::FAILED;
    for (;;) {
        pollfd look{socket, POLLIN, 0};
        if (poll(&look, 1, LOOK_MS / 10) > 0) {
            Message message;
            uint64_t serial = 0, good = 0;
            if (!message.receive(socket))
                return Answer::FAILED;
            message.get(serial);
            message.get(good);
            message.get(stop);
            if (serial == asked.serial)
                return good ? Answer::STOP : Answer::FAILED;
            continue; // to an earlier one
        }
        if (is_orphan())
            _exit(1);
        if (shared->failed)
            return Answer::FAILED;
        if (shared->traveller && gives_up(self)) {
            kill(shared->traveller, SIGKILL);
            return Answer::INTERRUPTED;
        }
    }
}

void Past::tell(bool good, const Stop &stop) {
    Message message;
    message.put(quest.serial);
    message.put(good);
    message.put(stop);
    shared->traveller = 0;
    message.send(answers);
    _exit(0);
}

void Past::arrive() {
    Message message;
    message.put(quest.serial);
    message.put(true);
    message.put(Stop());
    shared->traveller = 0;
    const pid_t before = shared->present;
    shared->present = getpid();
    message.send(answers);
    close(answers);
    // Until then it reads from the same sockets, its answer as well as what gdb says.
    while (shared->left != before && kill(before, 0) == 0)
        usleep(200);
}

void Past::leave(size_t index) {
    for (size_t i = index + 1; i < snapshots.size(); i++)
        kill(snapshots[i].process, SIGKILL);
    shared->left = getpid();
    _exit(0);
}

void Past::end() {
    for (size_t i = 1; i < snapshots.size(); i++)
        kill(snapshots[i].process, SIGKILL);
    for (const Snapshot &entry : snapshots)
        close(entry.socket);
    snapshots.clear();
}

} // namespace axl
