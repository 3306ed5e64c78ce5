// Around a device: beats in, packets out, pauses on both sides, resets. See streams.py for the files.
#include "Vtop.h"
#include "verilated.h"
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

void vl_finish(const char *, int, const char *) {}

namespace {

uint64_t state;

unsigned random_byte() { // xorshift64
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state >> 32 & 255;
}

uint64_t number(FILE *file) {
    uint64_t word;
    if (std::fread(&word, 8, 1, file) != 1)
        std::exit(2);
    return word;
}

constexpr unsigned WORDS = (WIDTH + 63) / 64;
struct Beat {
    uint64_t word[WORDS];
};

// Ports up to 64 bits are integers, wider ones arrays of 32 bits.
template <typename T> void put(T &port, const Beat &beat) { std::memcpy(&port, beat.word, sizeof port); }
template <typename T> Beat get(const T &port) {
    Beat beat{};
    std::memcpy(beat.word, &port, sizeof port);
    return beat;
}

void cycle(Vtop &top) {
    top.aclk = 1, top.eval(), top.aclk = 0, top.eval();
}

} // namespace

int main(int, char **argv) {
    FILE *in = std::fopen(argv[1], "rb"), *out = std::fopen(argv[2], "wb");
    state = number(in) * 0x9E3779B97F4A7C15ull + 1;
    const unsigned pause_in = number(in), pause_out = number(in);
    Vtop top;
    for (uint64_t segments = number(in); segments; segments--) {
        const uint64_t limit = number(in), stops = number(in), resets = number(in);
        std::vector<Beat> beats(number(in));
        for (Beat &beat : beats)
            for (uint64_t &word : beat.word)
                word = number(in);
        if (resets) {
            top.aresetn = 0, top.s_axis_tvalid = 0, top.m_axis_tready = 0;
            for (int n = 0; n < 4; n++)
                cycle(top);
            top.aresetn = 1;
        }
        std::vector<Beat> taken;
        std::vector<uint64_t> ends;
        size_t sent = 0;
        bool offered = false;
        uint64_t now = 0, last = 0, idle = 0;
        for (; now < limit && idle < 64; now++) {
            offered = offered || (sent < beats.size() && random_byte() >= pause_in);
            top.s_axis_tvalid = offered;
            if (offered)
                put(top.s_axis_tdata, beats[sent]);
            top.m_axis_tready = random_byte() >= pause_out;
            top.eval();
            if (top.m_axis_tvalid && top.m_axis_tready) {
                taken.push_back(get(top.m_axis_tdata));
                if (top.m_axis_tlast)
                    ends.push_back(taken.size());
            }
            const bool busy = top.debug_busy || top.m_axis_tvalid || (offered && top.s_axis_tready);
            idle = busy ? 0 : idle + 1;
            if (busy)
                last = now + 1;
            if (offered && top.s_axis_tready)
                sent++, offered = false;
            cycle(top);
            if (stops && now + 1 == stops)
                break;
        }
        const uint64_t head[] = {last, now, top.debug_error, sent, ends.size(), taken.size()};
        std::fwrite(head, sizeof head, 1, out);
        std::fwrite(ends.data(), 8, ends.size(), out);
        std::fwrite(taken.data(), sizeof(Beat), taken.size(), out);
    }
    if (std::ferror(out) | std::fclose(out)) {
        std::printf("%s\n", std::strerror(errno));
        return 74; // EX_IOERR
    }
    return 0;
}
