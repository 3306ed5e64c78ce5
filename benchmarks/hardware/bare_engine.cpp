// An accelerator alone under Verilator, its streams always valid and always ready: what it does with each cycle.
//
// bare_engine WORDS RESULT [FIRST LAST]: sends the file's (or pipe's) 32-bit words, BEAT_WORDS of them a beat; writes the
// words that come back to RESULT. Prints, over the cycles from beat number FIRST on to beat number LAST (without them,
// all): cycles, cycles in which the array multiplied, beats in, beats out, cycles in which a beat had to wait.

#include <verilated.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "Vtop.h"

void vl_finish(const char *, int, const char *) {}

// The beats of a file, a chunk of them in memory: a layer's may be half a gigabyte.
struct Beats {
    FILE *file;
    std::vector<uint32_t> chunk;
    size_t next = 0;

    explicit Beats(FILE *from) : file(from) { refill(); }
    bool more() const { return next < chunk.size(); }
    const uint32_t *front() const { return &chunk[next]; }
    void pop() {
        next += BEAT_WORDS;
        if (!more())
            refill();
    }
    void refill() {
        chunk.resize(BEAT_WORDS << 16);
        chunk.resize(fread(chunk.data(), 4 * BEAT_WORDS, chunk.size() / BEAT_WORDS, file) * BEAT_WORDS);
        next = 0;
    }
};

int main(int argc, char **argv) {
    FILE *file = fopen(argv[1], "rb");
    if (!file) {
        perror(argv[1]);
        return 1;
    }
    Beats beats(file);
    std::vector<uint32_t> result;
    const size_t first = argc > 3 ? strtoull(argv[3], nullptr, 0) : 0;
    const size_t last = argc > 4 ? strtoull(argv[4], nullptr, 0) : SIZE_MAX;

    Vtop *top = new Vtop;
    top->aresetn = 0;
    for (int i = 0; i < 10; i++) {
        top->aclk = i & 1;
        top->eval();
    }
    top->aresetn = 1;
    top->m_axis_tready = 1;
    size_t sent = 0;
    uint64_t cycles = 0, computing = 0, in = 0, out = 0, waiting = 0, quiet = 0;
    while (quiet < 1000) {
        const bool offer = beats.more();
        top->s_axis_tvalid = offer;
        if (offer)
            memcpy(&top->s_axis_tdata, beats.front(), 4 * BEAT_WORDS);
        top->aclk = 0;
        top->eval();
        const bool taken = offer && top->s_axis_tready, came = top->m_axis_tvalid;
        if (sent >= first && sent < last) {
            cycles++;
            computing += top->debug_compute;
            in += taken;
            out += came;
            waiting += offer && !taken;
        }
        if (came) {
            uint32_t beat[BEAT_WORDS];
            memcpy(beat, &top->m_axis_tdata, sizeof beat);
            result.insert(result.end(), beat, beat + BEAT_WORDS);
        }
        if (taken) {
            beats.pop();
            sent++;
        }
        quiet = taken || came || top->debug_busy ? 0 : quiet + 1;
        top->aclk = 1;
        top->eval();
    }
    if (top->debug_error || beats.more()) {
        fprintf(stderr, "stopped with error %d after %zu beats\n", int(top->debug_error), sent);
        return 1;
    }
    fclose(file);
    file = fopen(argv[2], "wb");
    fwrite(result.data(), 4, result.size(), file);
    fclose(file);
    printf("%llu %llu %llu %llu %llu\n", (unsigned long long)cycles, (unsigned long long)computing,
           (unsigned long long)in, (unsigned long long)out, (unsigned long long)waiting);
    return 0;
}
