// An accelerator alone under Verilator, its streams always valid and always ready: what it does with each cycle.
//
// bare_engine WORDS RESULT SKIP: sends the file's 32-bit words, BEAT_WORDS of them a beat; writes the words that come
// back to RESULT. Prints, over the cycles from the beat number SKIP on to the last beat but SKIP: cycles, cycles in which
// the array multiplied, beats in, beats out, cycles in which a beat had to wait.

#include <verilated.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "Vtop.h"

void vl_finish(const char *, int, const char *) {}

int main(int, char **argv) {
    std::vector<uint32_t> words, result;
    FILE *file = fopen(argv[1], "rb");
    for (uint32_t word; file && fread(&word, 4, 1, file) == 1;)
        words.push_back(word);
    fclose(file);
    const size_t beats = words.size() / BEAT_WORDS, skip = strtoull(argv[3], nullptr, 0);

    Vtop *top = new Vtop;
    top->aresetn = 0;
    for (int i = 0; i < 10; i++) {
        top->aclk = i & 1;
        top->eval();
    }
    top->aresetn = 1;
    top->m_axis_tready = 1;
    size_t sent = 0, received = 0;
    uint64_t cycles = 0, computing = 0, in = 0, out = 0, waiting = 0, quiet = 0;
    while (quiet < 1000) {
        const bool offer = sent < beats;
        top->s_axis_tvalid = offer;
        if (offer)
            memcpy(&top->s_axis_tdata, &words[sent * BEAT_WORDS], 4 * BEAT_WORDS);
        top->aclk = 0;
        top->eval();
        const bool taken = offer && top->s_axis_tready, came = top->m_axis_tvalid;
        if (sent >= skip && sent + skip < beats) {
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
            received++;
        }
        sent += taken;
        quiet = taken || came || top->debug_busy ? 0 : quiet + 1;
        top->aclk = 1;
        top->eval();
    }
    if (top->debug_error || sent < beats) {
        fprintf(stderr, "stopped with error %d after %zu of %zu beats\n", int(top->debug_error), sent, beats);
        return 1;
    }
    file = fopen(argv[2], "wb");
    fwrite(result.data(), 4, result.size(), file);
    fclose(file);
    printf("%llu %llu %llu %llu %llu\n", (unsigned long long)cycles, (unsigned long long)computing,
           (unsigned long long)in, (unsigned long long)out, (unsigned long long)waiting);
    return 0;
}
