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
    if (!(status & DMASR_SGINCLD) != !AXL_DMA_SG)
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

/* Proves: the way to the accelerator, and that it knows an opcode. Its first word (of a wider stream, its first beat)
 * goes alone: any word is taken as an opcode, but only a known one has the words taken that follow. An accelerator
 * without opcodes takes its first operand. What it holds then is gone with the reset before the next step. */
static int step_stream(void) {
    static const uint32_t head[] = LADDER_LOAD;
    begin(3, LADDER_LOAD_WHAT);
    for (uint32_t i = 0; i < LADDER_LOAD_WORDS; i++)
        dma_put_word(i < sizeof head / sizeof *head ? head[i] : 0, i);
    if (dma_start_send(LADDER_BEAT, 0) != DMA_OK || dma_wait_send() != DMA_OK)
        return failed(3, "the accelerator takes no word: its stream is stuck (in reset, without a clock, or not connected)");
    if (LADDER_LOAD_WORDS > LADDER_BEAT && (dma_start_send(LADDER_LOAD_WORDS - LADDER_BEAT, LADDER_BEAT) != DMA_OK || dma_wait_send() != DMA_OK))
        return failed(3, LADDER_OPCODES ? "the accelerator takes an opcode and not what belongs to it: wrong encoding, the driver is of another specification"
                                        : "the accelerator takes the first words of an operand and not the rest: the driver is of another specification");
    return 0;
}

/* --- 4 to 6: results --------------------------------------------------------------------------------------------- */

#define LARGER(what) (LADDER_TILE_##what > LADDER_KERNEL_##what ? LADDER_TILE_##what : LADDER_KERNEL_##what)
static LADDER_TYPE first[LARGER(FIRST)], second[LARGER(SECOND) + 1];
static int32_t result[LARGER(RESULT)], right[LARGER(RESULT)];
#if LADDER_ONE
#define ON(function, to) function(first, to)
#else
#define ON(function, to) function(first, second, to)
#endif

static uint32_t state;
static uint32_t number(void) { return state = state * 1664525u + 1013904223u; }

static void fill(int identity, uint32_t firsts, uint32_t seconds, uint32_t results) {
    state = firsts;
    for (uint32_t i = 0; i < firsts; i++)
        first[i] = LADDER_ONE && identity ? (LADDER_TYPE)i : (LADDER_TYPE)(number() >> 16);
    for (uint32_t i = 0; i < seconds; i++)
        second[i] = identity ? ladder_identity(i) : (LADDER_TYPE)(number() >> 16);
    for (uint32_t i = 0; i < results; i++)
        result[i] = right[i] = 0;
}

static uint32_t wrong(uint32_t elements) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < elements; i++)
        count += result[i] != right[i];
    return count;
}

static void mark_window(void) {
    volatile uint32_t *const out = dma_out_buffer();
    for (uint32_t i = 0; i < LADDER_TILE_RESULT; i++)
        out[i] = PATTERN;
}

/* Why a driver has come back with `status`; what lies in the output window tells how far a tile got. */
static int stopped(int step, dma_status status) {
    volatile const uint32_t *const out = dma_out_buffer();
    uint32_t came = 0;
    for (uint32_t i = 0; i < LADDER_TILE_RESULT; i++)
        came += out[i] != PATTERN;
    say_number(came, 10);
    say(" of ");
    say_number(LADDER_TILE_RESULT, 10);
    say(" words of a tile are in memory\n");
    if (status == DMA_ERR_TIMEOUT && came == LADDER_TILE_RESULT)
        return failed(step, "the tile is there, but its transfer does not end: TLAST is missing on its last word");
    if (status == DMA_ERR_TIMEOUT && came == 0)
        return failed(step, "no result comes: wrong encoding of compute or store, or an operand was not sent whole");
    if (status == DMA_ERR_SHORT)
        return failed(step, "TLAST comes too early, or LENGTH cuts the transfer");
    return failed(step, dma_status_text(status));
}

static int step_tile(int step, int identity) {
    begin(step, identity ? LADDER_BY_IDENTITY ", one tile" : LADDER_PRODUCT ", one tile");
    fill(identity, LADDER_TILE_FIRST, LADDER_TILE_SECOND, LADDER_TILE_RESULT);
    dma_status status = ladder_tile_init();
    if (status != DMA_OK)
        return failed(step, dma_status_text(status));
    mark_window();
    status = ON(ladder_tile, result);
    if (status != DMA_OK)
        return stopped(step, status);
    ON(ladder_tile_on_cpu, right);
    const uint32_t bad = wrong(LADDER_TILE_RESULT);
    if (!bad)
        return 0;
    say_number(bad, 10);
    say(" of ");
    say_number(LADDER_TILE_RESULT, 10);
    say(" elements are wrong\n");
#if LADDER_SQUARE
    for (uint32_t i = 0; i < LADDER_TILE_RESULT; i++)
        right[i] = 0;
    ladder_tile_on_cpu(second, first, right);
    if (!wrong(LADDER_TILE_RESULT))
        return failed(step, "the result is B A in place of A B: the operands are swapped");
#endif
    return failed(step, identity ? LADDER_BY_IDENTITY ": that is not what comes back: words are lost, doubled, or not written back from the caches (missing flush)"
                                 : "the result is wrong: compare the specification's opcodes with the hardware's");
}

static int step_kernel(void) {
    begin(6, LADDER_PRODUCT ", all tiles");
    fill(0, LADDER_KERNEL_FIRST, LADDER_KERNEL_SECOND, LADDER_KERNEL_RESULT);
    dma_status status = ladder_kernel_init();
    if (status != DMA_OK)
        return failed(6, dma_status_text(status));
    mark_window();
    const uint64_t begun = axl_timer();
    status = ON(ladder_kernel, result);
    const uint64_t ticks = axl_timer() - begun;
    if (status != DMA_OK)
        return stopped(6, status);
    ON(ladder_kernel_on_cpu, right);
    const uint32_t bad = wrong(LADDER_KERNEL_RESULT);
    if (bad) {
        say_number(bad, 10);
        say(" of ");
        say_number(LADDER_KERNEL_RESULT, 10);
        say(" elements are wrong\n");
        return failed(6, "one tile is right and many are not: what stays on the device between them, or what it adds up");
    }
    uint32_t sum = 0;
    for (uint32_t i = 0; i < LADDER_KERNEL_RESULT; i++)
        sum = sum * 31 + (uint32_t)result[i];
    say("whole kernel: checksum ");
    say_number(sum, 16);
    say(", ");
    say_number((uint32_t)(ticks * 10 / (AXL_CPU_HZ / 2 / 100000)), 10);
    say(" us\n");
    return 0;
}

int main(void) {
    int step = step_registers();
    if (!step)
        step = step_memory();
    if (!step)
        step = step_stream();
    if (!step)
        step = step_tile(4, 1);
    if (!step)
        step = step_tile(5, 0);
    if (!step)
        step = step_kernel();
    if (!step)
        say("all steps are passed\n");
    return step;
}
