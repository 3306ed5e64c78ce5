/* Where the time of a run went: a part of axl_core.h. docs/report.md has the rules by which cycles are classed. */
#ifndef AXL_PROFILE_H
#define AXL_PROFILE_H

#include <stdint.h>

#include "axl_core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- RTL side */

/* Bits of axl_activity: the hardware in one fabric cycle. */
enum {
    AXL_BIT_COMPUTE = 1,    /* multiply-adds are active */
    AXL_BIT_IN_BEAT = 2,    /* a beat of the input stream is taken */
    AXL_BIT_IN_VALID = 4,   /* one is offered */
    AXL_BIT_OUT_BEAT = 8,
    AXL_BIT_MM2S_BUSY = 16, /* a transfer is under way */
    AXL_BIT_S2MM_BUSY = 32,
    AXL_BIT_MM2S_DONE = 64, /* with scatter-gather: the last word of a descriptor */
    AXL_BIT_S2MM_DONE = 128
};
/* The bits of one accelerator (axl_accelerator) are `bits` from cycle `now` on. Call it when they change, before that cycle's words and CPU step. */
void axl_activity(long long now, int bits);
void axl_cycle(long long now); /* it begins; only of a build that shows its state */

/* ---- Python side */

/* What the hardware does in a cycle: the first that applies. */
enum {
    AXL_HW_COMPUTE,
    AXL_HW_LOAD_NEW,     /* a beat of a tile comes in */
    AXL_HW_LOAD_AGAIN,   /* one of a tile that equals the last one sent of this operand */
    AXL_HW_LOAD_HEAD,    /* opcode words, dims, padding */
    AXL_HW_STORE,        /* a beat goes out */
    AXL_HW_IN_STALLED,   /* the device does not take the beat that is offered */
    AXL_HW_IN_STARVED,   /* MM2S has a transfer, and offers nothing */
    AXL_HW_RECEIVING,    /* S2MM has a transfer, and nothing comes */
    AXL_HW_QUIET,
    AXL_HW_STATES
};
/* What the CPU does meanwhile. */
enum {
    AXL_CPU_STARTUP,     /* before main is entered and after it has returned */
    AXL_CPU_CODE,
    AXL_CPU_PACK,        /* stores into the DMA's input window */
    AXL_CPU_UNPACK,      /* loads from its output window */
    AXL_CPU_MAINTENANCE, /* cleans or invalidates caches */
    AXL_CPU_ACCESS,      /* an access to the DMA's registers is under way */
    AXL_CPU_POLL,        /* reads the same register again and again */
    AXL_CPU_SLEEP,       /* WFI */
    AXL_CPU_STATES
};

typedef struct axl_function_t {
    uint64_t cycles;  /* CPU cycles inside it, without what it calls */
    uint64_t waiting; /* of these: for the fabric */
} axl_function_t;

typedef struct axl_transfer_t { /* all transfers of one size over one channel */
    uint32_t channel;  /* 0 MM2S, 1 S2MM */
    uint32_t bytes;
    uint64_t count;
    uint64_t cycles;   /* fabric cycles from their start to their end, together */
} axl_transfer_t;

enum {
    AXL_TRACK_CPU,     /* kind: AXL_CPU_*; name: index of the function; begin and end in CPU cycles */
    AXL_TRACK_MM2S,    /* address, bytes */
    AXL_TRACK_S2MM,
    AXL_TRACK_STREAM,  /* kind: 0 beats, 1 stalled, 2 starved */
    AXL_TRACK_LOAD,    /* kind: 1 sent again; name: opcode << 8 | action; bytes */
    AXL_TRACK_COMPUTE,
    AXL_TRACK_STORE,   /* as LOAD */
    AXL_TRACKS
};
typedef struct axl_interval_t {
    uint64_t begin, end; /* fabric cycles, but for AXL_TRACK_CPU */
    uint64_t bytes;
    uint32_t track, kind, name, address;
    uint32_t count;      /* intervals that were merged into this one, with itself */
    uint32_t unused;
} axl_interval_t;

typedef struct axl_profile_t {
    uint64_t cells[AXL_HW_STATES][AXL_CPU_STATES]; /* fabric cycles; they add up to the run. Of several accelerators:
                                                      the first row that applies to any of them */
    uint64_t resolution;       /* fabric cycles; 0: all intervals are there. Else shorter ones were merged */
    const axl_function_t *functions; /* as many as axl_functions got, and one for what none of them covers */
    const axl_transfer_t *transfers;
    const axl_interval_t *intervals; /* by track, then time */
    uint64_t n_transfers, n_intervals;
} axl_profile_t;

/* The program's functions by ascending address, those of `entry` and `main` (n: none). Before axl_cpu_start. */
void axl_functions(const uint32_t *addresses, uint32_t n, uint32_t entry, uint32_t main);
/* Of the functions that axl_functions got, which are the program's own (1) and which a library's (0). */
void axl_own_functions(const uint8_t *own);
/* The DMA's windows, and the words of a stream's beat, of one accelerator. */
void axl_windows(uint32_t in, uint32_t in_bytes, uint32_t out, uint32_t out_bytes, uint32_t words_per_beat);
/* Record intervals from the next job on, about `limit` at most; 0: none. Only with one accelerator. */
void axl_timeline(uint32_t limit);
/* After a run of `now` fabric cycles. Pointers hold until the next job. */
const axl_profile_t *axl_profile(uint64_t now);

/* What was counted until a lap (axl_lap_at), since axl_job_begin; after axl_profile. `counters` are those of
 * axl_counters, `classes` those of axl_class_counts, `profile` has the cells, functions and transfers of axl_profile. */
typedef struct axl_lap_counts_t {
    axl_counters_t counters;
    uint64_t classes[AXL_CLASSES];
    axl_profile_t profile;
} axl_lap_counts_t;
const axl_lap_counts_t *axl_lap_counts(int lap);   /* NULL outside */

/* From here to the end of the job: keep which basic blocks are executed, for axl_blocks. */
void axl_keep_blocks(void);
typedef struct axl_block_t {
    uint32_t address, bytes;
    uint64_t runs;       /* how often it was entered; a fault leaves it before its end */
} axl_block_t;
/* They overlap where a branch goes into the middle of one, and may come twice. Holds until the next call. */
const axl_block_t *axl_blocks(uint64_t *count);

#ifdef __cplusplus
}
#endif
#endif
