// What a Linux process finds under its descriptors: text, memory, UIO, u-dma-buf, dma-heap, timers.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <set>

#include "cpu/process.hpp"
#include "text.hpp"

namespace axl {

namespace {

constexpr uint64_t PAGE = 4096, O_SYNC_BITS = 04010000, O_NONBLOCK = 04000;
constexpr uint32_t POLL_BAD = 0x20; // POLLNVAL

uint64_t value_of(const uint8_t *from, uint64_t bytes) {
    uint64_t value = 0;
    memcpy(&value, from, std::min<uint64_t>(bytes, sizeof value));
    return value;
}

int64_t part_of(const std::string &text, Node::Open &from, uint8_t *to, uint64_t bytes) {
    const uint64_t begin = std::min<uint64_t>(from.position, text.size()), n = std::min<uint64_t>(bytes, text.size() - begin);
    memcpy(to, text.data() + begin, n);
    from.position += n;
    return static_cast<int64_t>(n);
}

// Standard input, output and error. Nobody types.
class Console : public Node {
  public:
    using Node::Node;
    int64_t read(Process &, Open &, uint8_t *, uint64_t) override { return 0; }
    int64_t write(Process &process, Open &, const char *from, uint64_t bytes) override {
        process.machine.print(from, bytes);
        return static_cast<int64_t>(bytes);
    }
    bool is_console() const override { return true; }
};

class Text : public Node {
  public:
    explicit Text(const Process::File &file) : Node(file.path), text(file.text) {}
    uint32_t mode() const override { return 0100444; } // S_IFREG
    uint64_t size() const override { return text.size(); }
    bool seeks() const override { return true; }
    int64_t read(Process &, Open &from, uint8_t *to, uint64_t bytes) override { return part_of(text, from, to, bytes); }

  private:
    const std::string text;
};

// A folder above files: the names in it, each once.
class Folder : public Node {
  public:
    Folder(const std::string &path, std::set<std::string> names) : Node(path), names(names.begin(), names.end()) {}
    const std::vector<std::string> names;
    uint32_t mode() const override { return 0040755; } // S_IFDIR
    bool seeks() const override { return true; }
};

class Range : public Node {
  public:
    Range(std::string name, uint64_t address, uint64_t bytes) : Node(std::move(name)), address(address), bytes(bytes) {}
    bool range(uint64_t &at, uint64_t &size) const override {
        at = address;
        size = bytes;
        return bytes != 0;
    }
    bool seeks() const override { return true; } // as /dev/mem; it has nothing to read

  protected:
    const uint64_t address, bytes;
};

// drivers/uio/uio.c and uio_pdrv_genirq.c: an interrupt counts one event and masks itself until 1 is written. It is high
// as long as the device wants it, so one that the program has not cleared comes again at once.
class Uio : public Range {
  public:
    explicit Uio(const Process::File &file) : Range(file.path, file.address, file.size), own(file.lines) {}

    int64_t read(Process &process, Open &from, uint8_t *to, uint64_t size) override {
        if (size != 4)
            return INVALID;
        process.interrupt(process.machine.lines());
        if (from.position == event)
            return AGAIN;
        from.position = event;
        memcpy(to, &event, 4);
        return 4;
    }
    int64_t write(Process &process, Open &, const char *from, uint64_t size) override {
        if (size != 4)
            return INVALID;
        uint32_t value = 0;
        memcpy(&value, from, 4);
        enabled = value != 0;
        process.interrupt(process.machine.lines());
        return 4;
    }
    uint32_t events(Process &, const Open &from) override { return from.position != event ? CAN_READ : 0; }
    void interrupt(uint32_t lines) override {
        high = lines & own;
        if (!enabled || !high)
            return;
        event++;
        enabled = false;
    }
    bool seeks() const override { return false; }
    uint32_t count() const { return event; }
    std::string why_not() const override {
        if (!enabled)
            return format("its interrupt is masked since event %u: nothing has written 1 to enable it again", event);
        return "its interrupt is enabled, and its line is low: has the device an enabled interrupt (IOC_IrqEn in DMACR), and a transfer?";
    }

  private:
    const uint32_t own;
    uint32_t event = 0;
    bool enabled = true, high = false; // it is requested when the driver finds the device
};

class Setting : public Node {
  public:
    explicit Setting(const Process::File &file) : Node(file.path), value(strtoull(file.text.c_str(), nullptr, 0)) {}
    uint64_t value;
    int64_t read(Process &, Open &from, uint8_t *to, uint64_t bytes) override {
        return part_of(std::to_string(value) + "\n", from, to, bytes);
    }
    bool seeks() const override { return true; }
    int64_t write(Process &, Open &, const char *from, uint64_t bytes) override {
        value = strtoull(std::string(from, bytes).c_str(), nullptr, 0);
        return static_cast<int64_t>(bytes);
    }
};

// u-dma-buf: offset in bits 63:32, size in 31:4, direction in 3:2, and bit 0 to do it. Without the others, those are
// what was written to sync_offset and sync_size.
class Sync : public Node {
  public:
    Sync(const Process::File &file, bool to_device) : Node(file.path), address(file.address), bytes(file.size), to_device(to_device) {}
    int64_t write(Process &process, Open &, const char *from, uint64_t length) override {
        const uint64_t value = strtoull(std::string(from, length).c_str(), nullptr, 0);
        const bool set = value >> 1 == 0;
        const uint64_t offset = set ? setting(process, "sync_offset") : value >> 32;
        const uint64_t size = set ? setting(process, "sync_size") : value & 0xFFFFFFF0;
        if (!(value & 1) || offset > bytes || size > bytes - offset)
            return INVALID;
        process.machine.maintain(static_cast<uint32_t>(address + offset), static_cast<uint32_t>(size), to_device);
        return static_cast<int64_t>(length);
    }

  private:
    uint64_t setting(Process &process, const std::string &which) const {
        const auto *entry = dynamic_cast<Setting *>(process.named[name.substr(0, name.rfind('/') + 1) + which].get());
        return entry ? entry->value : 0;
    }
    const uint64_t address, bytes;
    const bool to_device;
};

// <linux/dma-buf.h>, with the accelerator's DMA attached to it. What arch_sync_dma_for_device does before a device
// writes depends on the architecture: ARMv7 throws lines away, ARMv8 cleans them.
class DmaBuffer : public Range {
  public:
    using Range::Range;
    uint64_t size() const override { return bytes; }
    int64_t control(Process &process, uint64_t request, uint64_t argument) override {
        constexpr uint64_t SYNC = 0x40086200, READ = 1, WRITE = 2, END = 4;
        if (static_cast<uint32_t>(request) != SYNC)
            return NO_TERMINAL;
        if (!process.in_ram(argument, 8))
            return BAD_ADDRESS;
        const uint64_t flags = value_of(process.at_ram(argument), 8), direction = flags & 3;
        if (flags > 7 || !direction)
            return INVALID;
        const auto at = static_cast<uint32_t>(address), size = static_cast<uint32_t>(bytes);
        if (flags & END)
            process.machine.maintain(at, size, direction & WRITE || process.abi.word_bytes == 8);
        else if (direction & READ)
            process.machine.maintain(at, size, false);
        return 0;
    }
};

// <linux/dma-heap.h>, of memory in one piece.
class Heap : public Node {
  public:
    using Node::Node;
    int64_t control(Process &process, uint64_t request, uint64_t argument) override {
        constexpr uint64_t ALLOC = 0xC0184800, FD_FLAGS = 02000003; // O_CLOEXEC and the mode of access
        if (static_cast<uint32_t>(request) != ALLOC)
            return NO_TERMINAL;
        if (!process.in_ram(argument, 24))
            return BAD_ADDRESS;
        uint8_t *data = process.at_ram(argument);
        const uint64_t bytes = (value_of(data, 8) + PAGE - 1) & ~(PAGE - 1);
        if (!bytes || value_of(data + 8, 4) || value_of(data + 12, 4) & ~FD_FLAGS || value_of(data + 16, 8))
            return INVALID;
        const uint64_t place = process.take_pages(bytes);
        if (!place)
            return NO_MEMORY;
        const auto buffer = std::make_shared<DmaBuffer>("a buffer of " + name, place, bytes);
        process.are_of(place, buffer);
        const int64_t descriptor = process.new_descriptor(buffer, true);
        if (descriptor < 0)
            return descriptor;
        memcpy(data + 8, &descriptor, 4);
        return 0;
    }
};

// /proc/PID/pagemap: 64 bits a page; memory is where the process sees it.
class PageMap : public Node {
  public:
    using Node::Node;
    int64_t read(Process &process, Open &from, uint8_t *to, uint64_t bytes) override {
        if (bytes % 8 || from.position % 8)
            return INVALID;
        for (uint64_t done = 0; done < bytes; done += 8, from.position += 8) {
            const uint64_t page = from.position / 8, entry = page < process.machine.ram_size / PAGE ? 1ull << 63 | page : 0;
            memcpy(to + done, &entry, 8);
        }
        return static_cast<int64_t>(bytes);
    }
    bool seeks() const override { return true; }
};

class Timer : public Node {
  public:
    using Node::Node;
    uint64_t at = Process::NEVER, every = 0;
    uint64_t passed(uint64_t now) const { return now < at ? 0 : 1 + (every ? (now - at) / every : 0); }
    int64_t read(Process &process, Open &, uint8_t *to, uint64_t bytes) override {
        const uint64_t n = passed(process.now());
        if (bytes < 8)
            return INVALID;
        if (!n)
            return AGAIN;
        at = every ? at + n * every : Process::NEVER;
        memcpy(to, &n, 8);
        return 8;
    }
    uint32_t events(Process &process, const Open &) override { return passed(process.now()) ? CAN_READ : 0; }
    uint64_t due() const override { return at; }
    std::string why_not() const override { return "it is not set"; }
};

class Event : public Node {
  public:
    Event(uint64_t value, bool single) : Node("eventfd"), value(value), single(single) {}
    int64_t read(Process &, Open &, uint8_t *to, uint64_t bytes) override {
        if (bytes < 8)
            return INVALID;
        if (!value)
            return AGAIN;
        const uint64_t n = single ? 1 : value;
        value -= n;
        memcpy(to, &n, 8);
        return 8;
    }
    int64_t write(Process &, Open &, const char *from, uint64_t bytes) override {
        const uint64_t more = bytes < 8 ? MOST + 1 : value_of(reinterpret_cast<const uint8_t *>(from), 8);
        if (more > MOST)
            return INVALID;
        if (more > MOST - value)
            return AGAIN;
        value += more;
        return 8;
    }
    uint32_t events(Process &, const Open &) override { return (value ? +CAN_READ : 0) | (value < MOST ? +CAN_WRITE : 0); }
    std::string why_not() const override { return "nothing was written to it"; }

  private:
    static constexpr uint64_t MOST = ~0ull - 1;
    uint64_t value;
    const bool single;
};

// What epoll watches, by descriptor, with the program's own word.
class Epoll : public Node {
  public:
    struct Watch {
        uint32_t events;
        uint64_t data;
    };
    using Node::Node;
    std::map<uint32_t, Watch> watches;
};

} // namespace

std::shared_ptr<Node> make_console() { return std::make_shared<Console>("the terminal"); }

std::shared_ptr<Node> make_node(const Process::File &file) {
    switch (file.kind) {
    case AXL_FILE_MAP:
        return std::make_shared<Range>(file.path, file.address, file.size);
    case AXL_FILE_SYNC_DEVICE:
    case AXL_FILE_SYNC_CPU:
        return std::make_shared<Sync>(file, file.kind == AXL_FILE_SYNC_DEVICE);
    case AXL_FILE_UIO:
        return std::make_shared<Uio>(file);
    case AXL_FILE_HEAP:
        return std::make_shared<Heap>(file.path);
    case AXL_FILE_SETTING:
        return std::make_shared<Setting>(file);
    case AXL_FILE_PAGEMAP:
        return std::make_shared<PageMap>(file.path);
    default:
        return std::make_shared<Text>(file);
    }
}

// ---- descriptors

Node::Open *Process::at(uint64_t descriptor) {
    const auto index = static_cast<uint32_t>(descriptor); // an int
    return index < open.size() && open[index].node ? &open[index] : nullptr;
}

int64_t Process::new_descriptor(std::shared_ptr<Node> node, bool blocks, bool sync, uint64_t position) {
    const auto place = std::find_if(open.begin(), open.end(), [](const Node::Open &other) { return !other.node; });
    const int64_t descriptor = place - open.begin();
    if (open.size() == MOST_OPEN && place == open.end())
        return TOO_MANY;
    if (place == open.end())
        open.emplace_back();
    open[static_cast<size_t>(descriptor)] = Node::Open{std::move(node), sync, blocks, position};
    return descriptor;
}

// A file, or a folder above some.
std::shared_ptr<Node> Process::find(const std::string &path) const {
    const auto file = named.find(path);
    if (file != named.end())
        return file->second;
    const std::string above = path.substr(0, path.find_last_not_of('/') + 1) + "/";
    std::set<std::string> names;
    for (auto at = named.lower_bound(above); at != named.end() && at->first.compare(0, above.size(), above) == 0; at++)
        names.insert(at->first.substr(above.size(), at->first.find('/', above.size()) - above.size()));
    return names.empty() ? nullptr : std::make_shared<Folder>(path, std::move(names));
}

int64_t Process::open_file(uint64_t path, uint64_t flags) {
    const std::shared_ptr<Node> node = find(text(path));
    if (!node)
        return NOT_THERE;
    const Uio *uio = dynamic_cast<Uio *>(node.get()); // what came before is not for this reader
    return new_descriptor(node, !(flags & O_NONBLOCK), (flags & O_SYNC_BITS) != 0, uio ? uio->count() : 0);
}

int64_t Process::open_path(const uint64_t *a) { return open_file(a[0], a[1]); }
int64_t Process::open_at(const uint64_t *a) { return open_file(a[1], a[2]); }

int64_t Process::close(const uint64_t *a) {
    Node::Open *of = at(a[0]);
    if (!of)
        return BAD_FILE;
    *of = Node::Open{};
    for (const Node::Open &other : open) // what was watched is so no longer
        if (auto *epoll = dynamic_cast<Epoll *>(other.node.get()))
            epoll->watches.erase(static_cast<uint32_t>(a[0]));
    return 0;
}

int64_t Process::read_into(Node::Open &from, uint64_t buffer, uint64_t bytes) {
    if (!in_ram(buffer, bytes))
        return BAD_ADDRESS;
    const int64_t n = from.node->read(*this, from, at_ram(buffer), bytes);
    if (n != AGAIN || !from.blocks)
        return n;
    Thread::Wait until;
    until.restarts = true;
    until.what = "read of " + from.node->name;
    const std::shared_ptr<Node> node = from.node;
    const auto descriptor = static_cast<uint64_t>(&from - open.data());
    until.over = [=](int64_t &result) {
        Node::Open *of = at(descriptor);
        if (!of || of->node != node) {
            result = BAD_FILE;
            return true;
        }
        if (!(node->events(*this, *of) & Node::CAN_READ))
            return false;
        result = node->read(*this, *of, at_ram(buffer), bytes);
        return result != AGAIN;
    };
    return wait(until);
}

int64_t Process::write_from(Node::Open &to, uint64_t buffer, uint64_t bytes) {
    return in_ram(buffer, bytes) ? to.node->write(*this, to, reinterpret_cast<const char *>(at_ram(buffer)), bytes) : +BAD_ADDRESS;
}

int64_t Process::read(const uint64_t *a) { return at(a[0]) ? read_into(*at(a[0]), a[1], a[2]) : +BAD_FILE; }
int64_t Process::write(const uint64_t *a) { return at(a[0]) ? write_from(*at(a[0]), a[1], a[2]) : +BAD_FILE; }

// 32-bit ARM has the offset in a pair of registers that begins with an even one.
int64_t Process::pread(const uint64_t *a) {
    if (!at(a[0]))
        return BAD_FILE;
    Node::Open there = *at(a[0]);
    there.position = abi.word_bytes == 4 ? a[5] << 32 | a[4] : a[3];
    if (!there.node->seeks())
        return read(a);
    if (!in_ram(a[1], a[2]))
        return BAD_ADDRESS;
    return there.node->read(*this, there, at_ram(a[1]), a[2]);
}

int64_t Process::pwrite(const uint64_t *a) { return write(a); } // only whole attributes of sysfs are written so, from their start

int64_t Process::vector(const uint64_t *a, bool writes) {
    Node::Open *of = at(a[0]);
    if (!of)
        return BAD_FILE;
    const uint64_t size = abi.word_bytes;
    if (a[2] > MOST_OPEN)
        return INVALID;
    if (!in_ram(a[1], a[2] * 2 * size))
        return BAD_ADDRESS;
    int64_t sum = 0;
    for (uint64_t i = 0, part = a[1]; i < a[2]; i++, part += 2 * size) {
        const uint64_t length = word(part + size);
        if (!length)
            continue;
        const int64_t n = writes ? write_from(*of, word(part), length) : read_into(*of, word(part), length);
        if (n < 0 || current().wait)
            return sum ? sum : n;
        sum += n;
        if (!writes && (n < static_cast<int64_t>(length) || !of->node->seeks()))
            break; // the next part would be waited for
    }
    return sum;
}

int64_t Process::readv(const uint64_t *a) { return vector(a, false); }
int64_t Process::writev(const uint64_t *a) { return vector(a, true); }

int64_t Process::seek_to(Node::Open *of, int64_t offset, uint64_t whence) {
    enum { SET, CURRENT, END };
    if (!of)
        return BAD_FILE;
    if (of->node->is_console())
        return ILLEGAL_SEEK;
    if (!of->node->seeks())
        return 0;
    const uint64_t from = whence == SET ? 0 : whence == CURRENT ? of->position : of->node->size();
    if (whence > END || static_cast<int64_t>(from) + offset < 0)
        return INVALID;
    of->position = from + static_cast<uint64_t>(offset);
    return static_cast<int64_t>(of->position);
}

int64_t Process::seek(const uint64_t *a) {
    return seek_to(at(a[0]), abi.word_bytes == 4 ? static_cast<int32_t>(a[1]) : static_cast<int64_t>(a[1]), a[2]);
}

int64_t Process::seek_wide(const uint64_t *a) {
    const int64_t offset = seek_to(at(a[0]), static_cast<int64_t>(a[1] << 32 | a[2]), a[4]);
    if (offset >= 0)
        put(a[3], static_cast<uint64_t>(offset), 8);
    return std::min<int64_t>(offset, 0);
}

int64_t Process::ioctl(const uint64_t *a) { return at(a[0]) ? at(a[0])->node->control(*this, a[1], a[2]) : +BAD_FILE; }

int64_t Process::fcntl(const uint64_t *a) {
    constexpr uint64_t GET_FD = 1, SET_FD = 2, GET = 3, SET = 4;
    Node::Open *of = at(a[0]);
    if (!of)
        return BAD_FILE;
    if (a[1] == SET)
        of->blocks = !(a[2] & O_NONBLOCK);
    if (a[1] == GET)
        return static_cast<int64_t>(2 | (of->blocks ? 0 : O_NONBLOCK));
    return a[1] == GET_FD || a[1] == SET_FD || a[1] == SET ? 0 : refuse(format("fcntl %u is not simulated", static_cast<uint32_t>(a[1])));
}

// struct stat of both architectures has its mode at byte 16, its size at 48.
int64_t Process::stat_to(const Node *node, uint64_t to) {
    if (!node)
        return NOT_THERE;
    const uint64_t bytes = abi.word_bytes == 4 ? 104 : 128;
    if (!in_ram(to, bytes))
        return BAD_ADDRESS;
    memset(at_ram(to), 0, bytes);
    put(to + 16, node->mode(), 4);
    put(to + 48, node->size(), 8);
    put(to + 56, PAGE, 4);
    return 0;
}

int64_t Process::stat_of(const uint64_t *a) { return at(a[0]) ? stat_to(at(a[0])->node.get(), a[1]) : +BAD_FILE; }

int64_t Process::stat_at(const uint64_t *a) {
    const std::string path = text(a[1]);
    if (!path.empty())
        return stat_to(find(path).get(), a[2]);
    const uint64_t of[2] = {a[0], a[2]};
    return stat_of(of);
}

int64_t Process::stat_path(const uint64_t *a) { return stat_to(find(text(a[0])).get(), a[1]); }

int64_t Process::access(const uint64_t *a) { return find(text(a[0])) ? 0 : +NOT_THERE; }
int64_t Process::access_at(const uint64_t *a) { return find(text(a[1])) ? 0 : +NOT_THERE; }

// getdents64: number, place of the next, bytes of this one, kind, name.
int64_t Process::entries(const uint64_t *a) {
    constexpr uint64_t HEAD = 19, FOLDER = 4, OTHER = 0;
    Node::Open *of = at(a[0]);
    const auto *folder = of ? dynamic_cast<Folder *>(of->node.get()) : nullptr;
    if (!folder)
        return of ? +INVALID : +BAD_FILE;
    if (!in_ram(a[1], a[2]))
        return BAD_ADDRESS;
    uint64_t used = 0;
    while (of->position < folder->names.size()) {
        const std::string &name = folder->names[of->position];
        const uint64_t bytes = (HEAD + name.size() + 8) & ~7ull, entry = a[1] + used;
        if (used + bytes > a[2])
            return used ? static_cast<int64_t>(used) : +INVALID;
        memset(at_ram(entry), 0, bytes);
        put(entry, ++of->position, 8);
        put(entry + 8, of->position, 8);
        put(entry + 16, bytes, 2);
        put(entry + 18, named.count(folder->name + "/" + name) ? OTHER : FOLDER, 1);
        memcpy(at_ram(entry + HEAD), name.data(), name.size());
        used += bytes;
    }
    return static_cast<int64_t>(used);
}

int64_t Process::timerfd(const uint64_t *a) { return new_descriptor(std::make_shared<Timer>("timerfd"), !(a[1] & O_NONBLOCK)); }

int64_t Process::eventfd(const uint64_t *a) {
    return new_descriptor(std::make_shared<Event>(a[0] & 0xFFFFFFFF, a[1] & 1), !(a[1] & O_NONBLOCK));
}

int64_t Process::set_timer(const uint64_t *a, uint32_t field_bytes) {
    constexpr uint64_t ABSOLUTE = 1;
    Timer *timer = at(a[0]) ? dynamic_cast<Timer *>(at(a[0])->node.get()) : nullptr;
    if (!timer)
        return at(a[0]) ? +INVALID : +BAD_FILE;
    if (!in_ram(a[2], 4 * field_bytes) || (a[3] && !in_ram(a[3], 4 * field_bytes)))
        return BAD_ADDRESS;
    const uint64_t left = timer->at == NEVER ? 0 : timer->at - std::min(timer->at, now()), before[4] = {
        timer->every / 1000000000, timer->every % 1000000000, left / 1000000000, left % 1000000000};
    for (uint64_t i = 0; a[3] && i < 4; i++)
        put(a[3] + i * field_bytes, before[i], field_bytes);
    const uint64_t first = nanoseconds_at(a[2] + 2 * field_bytes, field_bytes);
    timer->every = nanoseconds_at(a[2], field_bytes);
    timer->at = first ? first + (a[1] & ABSOLUTE ? 0 : now()) : +NEVER;
    return 0;
}

int64_t Process::timerfd_set(const uint64_t *a) { return set_timer(a, 8); }
int64_t Process::timerfd_set_narrow(const uint64_t *a) { return set_timer(a, 4); }

// ---- several descriptors

// struct pollfd: descriptor, 16 bits of what is wanted, 16 of what is there.
int64_t Process::poll_until(uint64_t set, uint64_t count, uint64_t until) {
    if (count > MOST_OPEN)
        return INVALID;
    if (!in_ram(set, 8 * count))
        return BAD_ADDRESS;
    interrupt(machine.lines());
    Thread::Wait waits;
    waits.until = until;
    waits.what = "poll";
    for (uint64_t i = 0; i < count; i++)
        if (const Node::Open *of = at(number(set + 8 * i, 4)))
            waits.what += (i ? ", " : " of ") + of->node->name;
    waits.over = [=](int64_t &result) {
        result = 0;
        for (uint64_t i = 0; i < count; i++) {
            const auto descriptor = static_cast<int32_t>(number(set + 8 * i, 4));
            const auto wanted = static_cast<uint32_t>(number(set + 8 * i + 4, 2));
            const Node::Open *of = descriptor < 0 ? nullptr : at(static_cast<uint64_t>(descriptor));
            const uint32_t there = descriptor < 0 ? 0 : of ? of->node->events(*this, *of) & wanted : +POLL_BAD;
            put(set + 8 * i + 6, there, 2);
            result += there != 0;
        }
        return result != 0;
    };
    int64_t result = 0;
    return waits.over(result) || until <= now() ? result : wait(waits);
}

int64_t Process::poll(const uint64_t *a) {
    const auto milliseconds = static_cast<int32_t>(a[2]);
    return poll_until(a[0], a[1], milliseconds < 0 ? +NEVER : now() + static_cast<uint64_t>(milliseconds) * 1000000);
}

// Which signals come meanwhile (the fourth argument) is not changed: a driver waits with those that it has.
int64_t Process::ppoll(const uint64_t *a) { return poll_until(a[0], a[1], after(a[2], 8)); }
int64_t Process::ppoll_narrow(const uint64_t *a) { return poll_until(a[0], a[1], after(a[2], 4)); }

int64_t Process::epoll_create(const uint64_t *) { return new_descriptor(std::make_shared<Epoll>("epoll"), true); }

// struct epoll_event: 32 bits of events, and from byte 8 on the program's own.
int64_t Process::epoll_change(const uint64_t *a) {
    enum { ADD = 1, REMOVE = 2, MODIFY = 3 };
    constexpr uint32_t EDGE = 1u << 31;
    auto *epoll = at(a[0]) ? dynamic_cast<Epoll *>(at(a[0])->node.get()) : nullptr;
    const Node::Open *of = at(a[2]);
    if (!at(a[0]) || !of)
        return BAD_FILE;
    if (!epoll || a[1] < ADD || a[1] > MODIFY)
        return INVALID;
    if (dynamic_cast<Epoll *>(of->node.get()))
        return refuse("an epoll that watches an epoll is not simulated");
    auto &watches = epoll->watches;
    const auto descriptor = static_cast<uint32_t>(a[2]);
    const bool is_there = watches.count(descriptor);
    if (is_there == (a[1] == ADD))
        return is_there ? +EXISTS : +NOT_THERE;
    if (a[1] == REMOVE)
        return watches.erase(descriptor), 0;
    if (!in_ram(a[3], 16))
        return BAD_ADDRESS;
    const auto events = static_cast<uint32_t>(number(a[3], 4));
    if (events & EDGE)
        return refuse("EPOLLET is not simulated: epoll tells what is there as long as it is there");
    watches[descriptor] = {events, number(a[3] + 8, 8)};
    return 0;
}

int64_t Process::epoll_wait(const uint64_t *a) {
    constexpr uint32_t ONCE = 1u << 30;
    const auto node = at(a[0]) ? std::dynamic_pointer_cast<Epoll>(at(a[0])->node) : nullptr;
    const auto most = static_cast<int32_t>(a[2]), milliseconds = static_cast<int32_t>(a[3]);
    if (!node)
        return at(a[0]) ? +INVALID : +BAD_FILE;
    if (most <= 0 || most > 1 << 26)
        return INVALID;
    if (!in_ram(a[1], 16ull * static_cast<uint32_t>(most)))
        return BAD_ADDRESS;
    interrupt(machine.lines());
    Thread::Wait waits;
    waits.until = milliseconds < 0 ? +NEVER : now() + static_cast<uint64_t>(milliseconds) * 1000000;
    waits.what = "epoll";
    for (const auto &[descriptor, watch] : node->watches)
        waits.what += (waits.what == "epoll" ? " of " : ", ") + at(descriptor)->node->name;
    const uint64_t to = a[1];
    waits.over = [=](int64_t &result) {
        result = 0;
        for (auto &[descriptor, watch] : node->watches) {
            const Node::Open *of = at(descriptor);
            const uint32_t there = of->node->events(*this, *of) & watch.events;
            if (!there || result == most)
                continue;
            const uint64_t event = to + 16 * static_cast<uint64_t>(result++);
            put(event, there, 4);
            put(event + 8, watch.data, 8);
            if (watch.events & ONCE)
                watch.events = 0;
        }
        return result != 0;
    };
    int64_t result = 0;
    return waits.over(result) || waits.until <= now() ? result : wait(waits);
}

// Three sets of bits: to read, to write, exceptions (there are none).
int64_t Process::select_until(const uint64_t *a, uint64_t until) {
    if (static_cast<int32_t>(a[0]) < 0)
        return INVALID;
    const auto count = std::min(static_cast<uint32_t>(a[0]), static_cast<uint32_t>(MOST_OPEN));
    const uint32_t bytes = (count + 63) / 64 * 8;
    std::vector<uint8_t> wanted[3];
    Thread::Wait waits;
    waits.until = until;
    waits.what = "select";
    interrupt(machine.lines());
    for (int i = 0; i < 3; i++) {
        const uint64_t set = a[1 + i];
        if (set && !in_ram(set, bytes))
            return BAD_ADDRESS;
        wanted[i].assign(bytes, 0);
        if (set)
            memcpy(wanted[i].data(), at_ram(set), (count + 7) / 8);
        for (uint32_t bit = 0; bit < count; bit++) {
            if (!(wanted[i][bit / 8] >> bit % 8 & 1))
                continue;
            if (!at(bit))
                return BAD_FILE;
            waits.what += (waits.what == "select" ? " of " : ", ") + at(bit)->node->name;
        }
    }
    const uint64_t sets[3] = {a[1], a[2], a[3]};
    waits.over = [=](int64_t &result) {
        result = 0;
        std::vector<uint8_t> there[3];
        for (int i = 0; i < 3; i++) {
            there[i].assign(bytes, 0);
            for (uint32_t bit = 0; bit < count; bit++) {
                const Node::Open *of = wanted[i][bit / 8] >> bit % 8 & 1 ? at(bit) : nullptr;
                const uint32_t mask = i == 0 ? Node::CAN_READ : i == 1 ? +Node::CAN_WRITE : 0;
                if (!of || !(of->node->events(*this, *of) & mask))
                    continue;
                there[i][bit / 8] |= static_cast<uint8_t>(1 << bit % 8);
                result++;
            }
        }
        for (int i = 0; i < 3 && (result || until <= now()); i++)
            if (sets[i])
                memcpy(at_ram(sets[i]), there[i].data(), (count + 7) / 8);
        return result != 0;
    };
    int64_t result = 0;
    return waits.over(result) || until <= now() ? result : wait(waits);
}

int64_t Process::select(const uint64_t *a) { // a timeval
    const uint64_t size = abi.word_bytes;
    return select_until(a, a[4] ? now() + seconds(word(a[4])) + word(a[4] + size) * 1000 : +NEVER);
}
int64_t Process::pselect(const uint64_t *a) { return select_until(a, after(a[4], 8)); }
int64_t Process::pselect_narrow(const uint64_t *a) { return select_until(a, after(a[4], 4)); }

} // namespace axl
