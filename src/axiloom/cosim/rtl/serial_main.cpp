// The simulator's program for a board on a serial line: the board's top module, and a terminal as its line.
//
// The file descriptor is the master of a pseudo-terminal, whose other end a host opens as it opens a serial port.
// Time stands still while the board waits for a byte from the host, so that the number of cycles depends on the
// bytes alone, not on how fast the host is. A byte is put on the line when the bridge has nothing to do (led[0]
// is low), so host and board take turns.
//
// Arguments: +axl_terminal=FD  +axl_divisor=N (cycles a bit)  +axl_settle=N (cycles before the first byte)
//            +axl_trace=FILE
// When the host has closed its end, the number of cycles is written to standard output.

#include <unistd.h>
#include <verilated.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "Vtop.h"
#if VM_TRACE_FST
#include <verilated_fst_c.h>
#endif

namespace {

constexpr int BITS = 10;  // start, eight of data, stop
constexpr uint32_t DECIDES = 8;  // cycles after a byte until led[0] says whether the bridge has something to do

uint64_t argument(int argc, char **argv, const char *name, uint64_t otherwise) {
    const size_t length = std::strlen(name);
    for (int i = 1; i < argc; ++i) {
        if (!std::strncmp(argv[i], name, length)) return std::strtoull(argv[i] + length, nullptr, 10);
    }
    return otherwise;
}

// Bytes from the host; waits for the first of them. False at the end.
class Terminal {
public:
    explicit Terminal(int fd) : fd_(fd) {}

    bool take(uint8_t &byte) {
        if (at_ == filled_) {
            ssize_t got;
            do got = ::read(fd_, buffer_, sizeof buffer_);
            while (got < 0 && errno == EINTR);
            if (got <= 0) return false;  // EIO: nobody has the other end open
            at_ = 0;
            filled_ = size_t(got);
        }
        byte = buffer_[at_++];
        return true;
    }

    void give(uint8_t byte) {
        while (::write(fd_, &byte, 1) < 0 && (errno == EINTR || errno == EAGAIN)) {
        }
    }

private:
    int fd_;
    uint8_t buffer_[4096];
    size_t at_ = 0, filled_ = 0;
};

class Board {
public:
    Board(VerilatedContext *context, const char *trace) : context_(context), top_(new Vtop{context, ""}) {
#if VM_TRACE_FST
        if (trace) {
            trace_ = new VerilatedFstC;
            top_->trace(trace_, 99);
            trace_->open(trace);
        }
#else
        (void)trace;
#endif
        top_->clk_25mhz = 0;
        top_->btn = 1;  // the button of the power supply is low when pressed
        top_->ftdi_txd = 1;
        top_->eval();
    }

    ~Board() {
        top_->final();
#if VM_TRACE_FST
        if (trace_) {
            trace_->close();
            delete trace_;
        }
#endif
        delete top_;
    }

    void cycle() {
        for (int level : {1, 0}) {
            top_->clk_25mhz = level;
            top_->eval();
            context_->timeInc(1);
#if VM_TRACE_FST
            if (trace_) trace_->dump(context_->time());
#endif
        }
        ++cycles;
    }

    void line(bool level) { top_->ftdi_txd = level; }
    bool line() const { return top_->ftdi_rxd; }
    bool busy() const { return top_->led & 1; }

    uint64_t cycles = 0;

private:
    VerilatedContext *context_;
    Vtop *top_;
#if VM_TRACE_FST
    VerilatedFstC *trace_ = nullptr;
#endif
};

// The host's receiver: samples the line in the middle of its bits.
class Receiver {
public:
    explicit Receiver(uint32_t divisor) : divisor_(divisor) {}

    // True once a byte.
    bool sample(bool line) {
        if (bit_ < 0) {
            if (!line) bit_ = 0, wait_ = divisor_ / 2;
            return false;
        }
        if (wait_-- != 0) return false;
        wait_ = divisor_ - 1;
        if (bit_ > 0 && bit_ < BITS - 1) byte = uint8_t(byte >> 1 | line << 7);
        if (++bit_ < BITS) return false;
        bit_ = -1;
        return line;
    }

    bool receiving() const { return bit_ >= 0; }

    uint8_t byte = 0;

private:
    uint32_t divisor_, wait_ = 0;
    int bit_ = -1;
};

}  // namespace

void vl_finish(const char *, int, const char *) { Verilated::threadContextp()->gotFinish(true); }

int main(int argc, char **argv) {
    const char *trace = nullptr;
    for (int i = 1; i < argc; ++i) {
        if (!std::strncmp(argv[i], "+axl_trace=", 11)) trace = argv[i] + 11;
    }
    VerilatedContext *context = Verilated::threadContextp();
    context->commandArgs(argc, argv);
    if (trace) context->traceEverOn(true);
    const auto divisor = uint32_t(argument(argc, argv, "+axl_divisor=", 0));
    Terminal terminal{int(argument(argc, argv, "+axl_terminal=", 0))};
    Receiver receiver{divisor};
    Board board{context, trace};

    const auto step = [&] {
        board.cycle();
        if (receiver.sample(board.line())) terminal.give(receiver.byte);
    };
    for (uint64_t left = argument(argc, argv, "+axl_settle=", 1024); left; --left) step();
    uint8_t byte;
    for (;;) {
        while (board.busy() || receiver.receiving()) step();
        if (!terminal.take(byte)) break;
        const uint32_t frame = 1u << (BITS - 1) | uint32_t(byte) << 1;
        for (int bit = 0; bit < BITS; ++bit) {
            board.line(frame >> bit & 1);
            for (uint32_t left = divisor; left; --left) step();
        }
        for (uint32_t left = DECIDES; left; --left) step();
    }
    std::printf("{\"cycles\": %llu}\n", static_cast<unsigned long long>(board.cycles));
    return 0;
}
