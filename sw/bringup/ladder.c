/* The bring-up ladder: from a register to a whole kernel, each step on what the ones before it have proved.
 *
 * The same program runs on the board (Linux) and on the simulated SoC. It says what it is about to do before it does
 * it, so that the last line tells where a machine stands still that answers nothing any more, and stops at the first
 * step that fails, with what is the most likely reason. ladder_config.h comes with the drivers, from the
 * specification. Exit status: 0, or the number of the step that failed. */
#include "ladder_config.h"

#include "../src/dma_internal.h"

#include <stdint.h>
#include <unistd.h>

#define PATTERN 0xA5C3F00Du
#define LENGTH_MASK ((1u << AXL_LENGTH_BITS) - 1)
enum { ADDRESS = 0x18, LENGTH = 0x28, SG_INCLUDED = 1u << 3 };

/* --- what is said --------------------------------------------------------------------------------------------- */

static void say(const char *text) {
    uint32_t n = 0;
    while (text[n])
        n++;
    if (write(STDOUT_FILENO, text, n) != (ssize_t)n)
        return;
}

static void say_number(uint32_t value, uint32_t base) {
    char text[12], *at = text + sizeof text - 1;
    for (*at = 0; value || !*at; value /= base)
        *--at = "0123456789abcdef"[value % base];
    say(base == 16 ? "0x" : "");
    say(at);
}

static const char *const names[] = {"", "registers", "memory", "stream", "identity", "one tile", "whole kernel"};

static void begin(int step, const char *what) {
    say("step ");
    say_number((uint32_t)step, 10);
    say(", ");
    say(names[step]);
    say(": ");
    say(what);
    say("\n");
}

static int failed(int step, const char *why) {
    say("FAILED at step ");
    say_number((uint32_t)step, 10);
    say(" (");
    say(names[step]);
    say("): ");
    say(why);
    say("\n");
    return step;
}

/* --- 1 and 2: the processor's side ------------------------------------------------------------------------------ */

/* Proves: the address map, clock and reset of the DMA, and that it is the DMA the driver was compiled for. */
static int step_registers(void) {
    uintptr_t registers = LADDER_DMA, in = LADDER_IN, out = LADDER_OUT;
    begin(1, "the DMA's registers (if nothing follows: no clock there, or the DMA is held in reset)");
    if (axl_open_dma(&registers, &in, LADDER_IN_BYTES, &out, LADDER_OUT_BYTES) != DMA_OK)
        return failed(1, "registers or memory cannot be opened: wrong address, or the device tree does not fit the driver");
    dma_registers = registers;
    dma_write_register(MM2S + DMACR, DMACR_RESET);
    for (uint32_t polls = 0; dma_read_register(MM2S + DMACR) & DMACR_RESET; polls++)
        if (polls == 1000)
            return failed(1, "the DMA does not come out of reset: a wrong address, or one of its clocks stands still");
    const uint32_t status = dma_read_register(MM2S + DMASR);
    if (status == 0xFFFFFFFFu || !(status & DMASR_HALTED))
        return failed(1, "what answers there is no AXI DMA after reset (DMASR must say halted): wrong address");
    if (!(status & SG_INCLUDED) != !AXL_DMA_SG)
        return failed(1, AXL_DMA_SG ? "this DMA has no scatter-gather; the driver needs it" : "this DMA has scatter-gather; the driver uses direct registers");
    if (AXL_DMA_SG)
        return 0;
    dma_write_register(MM2S + ADDRESS, PATTERN & ~63u);
    if (dma_read_register(MM2S + ADDRESS) != (PATTERN & ~63u))
        return failed(1, "a register does not keep what is written to it");
    dma_write_register(MM2S + LENGTH, LENGTH_MASK); /* halted: nothing starts */
    const uint32_t width = dma_read_register(MM2S + LENGTH);
    dma_write_register(MM2S + LENGTH, 0);
    if ((width & LENGTH_MASK) != LENGTH_MASK) {
        say("LENGTH holds ");
        say_number(width, 16);
        say(" of ");
        say_number(LENGTH_MASK, 16);
        say("\n");
        return failed(1, "LENGTH is narrower than the driver was compiled for: long transfers would be cut");
    }
    return 0;
}

/* Proves: the windows are memory, and two different ones. */
static int step_memory(void) {
    begin(2, "the DMA's windows in memory");
    if (dma_init(LADDER_DMA, LADDER_IN, LADDER_IN_BYTES, LADDER_OUT, LADDER_OUT_BYTES) != DMA_OK)
        return failed(2, "dma_init: the DMA does not start");
    volatile uint32_t *const in = dma_in_buffer(), *const out = dma_out_buffer();
    for (uint32_t i = 0; i < LADDER_IN_BYTES / 4; i++)
        in[i] = i * 2654435761u;
    for (uint32_t i = 0; i < LADDER_OUT_BYTES / 4; i++)
        out[i] = ~(i * 2654435761u);
    for (uint32_t i = 0; i < LADDER_IN_BYTES / 4; i++)
        if (in[i] != i * 2654435761u)
            return failed(2, "the input window does not keep its words: no memory there, or the windows overlap");
    for (uint32_t i = 0; i < LADDER_OUT_BYTES / 4; i++)
        if (out[i] != ~(i * 2654435761u))
            return failed(2, "the output window does not keep its words");
    return 0;
}

/* --- 3: the accelerator's side ----------------------------------------------------------------------------------- */

/* Proves: the way to the accelerator, and that it knows the opcode of a load. Its first word (of a wider stream, its
 * first beat) goes alone: any word is taken as an opcode, but only a known one has the words taken that follow. */
static int step_stream(void) {
    static const uint32_t words[] = LADDER_LOAD;
    const uint32_t count = sizeof words / sizeof *words;
    begin(3, "an instruction goes to the accelerator");
    for (uint32_t i = 0; i < count; i++)
        dma_put_word(words[i], i);
    if (dma_start_send(LADDER_BEAT, 0) != DMA_OK || dma_wait_send() != DMA_OK)
        return failed(3, "the accelerator takes no word: its stream is stuck (in reset, without a clock, or not connected)");
    if (count > LADDER_BEAT && (dma_start_send(count - LADDER_BEAT, LADDER_BEAT) != DMA_OK || dma_wait_send() != DMA_OK))
        return failed(3, "the accelerator takes an opcode and not what belongs to it: wrong encoding, the driver is of another specification");
    return 0;
}

/* --- 4 to 6: results --------------------------------------------------------------------------------------------- */

static LADDER_TYPE a[LADDER_M * LADDER_K], b[LADDER_K * LADDER_N];
static int32_t c[LADDER_M * LADDER_N], right[LADDER_M * LADDER_N];
_Static_assert(LADDER_M >= LADDER_TILE && LADDER_N >= LADDER_TILE && LADDER_K >= LADDER_TILE, "the kernel holds a tile");

static uint32_t state;
static uint32_t number(void) { return state = state * 1664525u + 1013904223u; }

static void fill(int identity, uint32_t m, uint32_t n, uint32_t k) {
    state = m;
    for (uint32_t i = 0; i < m * k; i++)
        a[i] = (LADDER_TYPE)(number() >> 16);
    for (uint32_t i = 0; i < k * n; i++)
        b[i] = identity ? i / n == i % n : (LADDER_TYPE)(number() >> 16);
    for (uint32_t i = 0; i < m * n; i++)
        c[i] = 0;
}

static void multiply(const LADDER_TYPE *left, const LADDER_TYPE *up, uint32_t m, uint32_t n, uint32_t k) {
    for (uint32_t i = 0; i < m; i++)
        for (uint32_t j = 0; j < n; j++) {
            uint32_t sum = 0;
            for (uint32_t l = 0; l < k; l++)
                sum += (uint32_t)((int32_t)left[i * k + l] * (int64_t)up[l * n + j]);
            right[i * n + j] = (int32_t)sum;
        }
}

static uint32_t wrong(uint32_t elements) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < elements; i++)
        count += c[i] != right[i];
    return count;
}

static void mark_window(void) {
    volatile uint32_t *const out = dma_out_buffer();
    for (uint32_t i = 0; i < LADDER_TILE * LADDER_TILE; i++)
        out[i] = PATTERN;
}

/* Why a driver has come back with `status`; what lies in the output window tells how far a tile got. */
static int stopped(int step, dma_status status) {
    volatile const uint32_t *const out = dma_out_buffer();
    uint32_t came = 0;
    for (uint32_t i = 0; i < LADDER_TILE * LADDER_TILE; i++)
        came += out[i] != PATTERN;
    say_number(came, 10);
    say(" of ");
    say_number(LADDER_TILE * LADDER_TILE, 10);
    say(" words of a tile are in memory\n");
    if (status == DMA_ERR_TIMEOUT && came == LADDER_TILE * LADDER_TILE)
        return failed(step, "the tile is there, but its transfer does not end: TLAST is missing on its last word");
    if (status == DMA_ERR_TIMEOUT && came == 0)
        return failed(step, "no result comes: wrong encoding of compute or store, or an operand was not sent whole");
    if (status == DMA_ERR_SHORT)
        return failed(step, "TLAST comes too early, or LENGTH cuts the transfer");
    return failed(step, dma_status_text(status));
}

static int step_product(int step, int identity, dma_status (*init)(void),
                        dma_status (*driver)(const LADDER_TYPE *, const LADDER_TYPE *, int32_t *), uint32_t m, uint32_t n, uint32_t k) {
    fill(identity, m, n, k);
    dma_status status = init();
    if (status != DMA_OK)
        return failed(step, dma_status_text(status));
    mark_window();
    status = driver(a, b, c);
    if (status != DMA_OK)
        return stopped(step, status);
    multiply(a, b, m, n, k);
    const uint32_t bad = wrong(m * n);
    if (!bad)
        return 0;
    say_number(bad, 10);
    say(" of ");
    say_number(m * n, 10);
    say(" elements are wrong\n");
    if (m == n && n == k) {
        multiply(b, a, m, n, k);
        if (!wrong(m * n))
            return failed(step, "the result is B A in place of A B: the operands are swapped");
    }
    return failed(step, identity ? "A times the identity is not A: words are lost, doubled, or not written back from the caches (missing flush)"
                                 : "the result is wrong: compare the specification's opcodes with the hardware's");
}

int main(void) {
    int step = step_registers();
    if (!step)
        step = step_memory();
    if (!step && sizeof((uint32_t[])LADDER_LOAD) > 4)
        step = step_stream();
    if (!step) {
        begin(4, "A times the identity, one tile");
        step = step_product(4, 1, ladder_tile_init, ladder_tile, LADDER_TILE, LADDER_TILE, LADDER_TILE);
    }
    if (!step) {
        begin(5, "A times B, one tile");
        step = step_product(5, 0, ladder_tile_init, ladder_tile, LADDER_TILE, LADDER_TILE, LADDER_TILE);
    }
    if (!step) {
        begin(6, "A times B, all tiles");
        step = step_product(6, 0, ladder_kernel_init, ladder_kernel, LADDER_M, LADDER_N, LADDER_K);
    }
    if (!step)
        say("all steps are passed\n");
    return step;
}
