/* The co-simulation core: one shared library that holds memory, CPU, caches and checkers of a simulated SoC.
 *
 * Two sides call it, in one process and one thread:
 *   - the RTL glue (DPI under Verilator, VPI under Icarus) once per bus access, memory word and stream beat;
 *   - Python (ctypes, cosim/core.py), between runs: configure, load, start, read the results.
 * The library is linked into the simulator's program and found again by ctypes under the same path, so both
 * sides see the same instance. There is one SoC per process; the functions are not thread safe.
 *
 * A job, as the session runs it (cosim/core.py wraps every step):
 *   axl_configure(&board)          once, or whenever the board's parameters change
 *   axl_protocol_clear(), ..._op() once per specification
 *   axl_job_begin()                zero RAM, counters, caches, reports; the CPU is held in reset
 *   memcpy to axl_ram()            program and inputs, by the back door
 *   axl_cpu_start(entry, ...)      the next axl_cpu_step runs the first instruction
 *   axl_cpu_step(...)              from the RTL, until it returns AXL_OP_HALT
 *   axl_state(), axl_counters()    and memory, by the back door
 *
 * Units: bytes for addresses and sizes, fabric cycles for everything the RTL sees, CPU cycles in counters.
 */
#ifndef AXL_CORE_H
#define AXL_CORE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- RTL side ------------------------------------------------------------------------------------------- */

enum axl_op {
    AXL_OP_HALT = 0,     /* program ended, faulted, or none was started: do not call again before axl_cpu_start */
    AXL_OP_READ = 1,     /* after `delay` cycles read 32 bits at *addr over AXI-Lite; hand rdata and resp back */
    AXL_OP_WRITE = 2,    /* after `delay` cycles write *wdata, all strobes, at *addr; hand resp back */
    AXL_OP_WAIT_IRQ = 3, /* after `delay` cycles wait until an interrupt line is high, then call again */
    AXL_OP_ADVANCE = 4,  /* only let `delay` cycles pass (the CPU's quantum is over), then call again */
    AXL_OP_SLEEP = 5     /* the same, but call at once when the interrupt lines differ from *wdata, bits 15:0; with bit 16 of
                            it the CPU waits for the fabric alone */
};

/* Resume the CPU until it needs the fabric again.
 *   rdata  data of the last READ, else ignored
 *   resp   bits 1:0 AXI response of the last READ or WRITE (0 is OKAY); anything else is an external abort: the run
 *          ends with AXL_FAULT_BUS at the instruction that made the access. Bits 3:2, of the DMA that was written to
 *          last: S2MM, MM2S had a transfer under way when the register got the value
 *   irq    the interrupt lines: bits 2i and 2i + 1 are mm2s_introut and s2mm_introut of accelerator i
 *   now    virtual time in fabric cycles; it never goes back. The first call of a job defines the job's zero.
 *   *addr  absolute address (the DMA's page; the AXI-Lite port takes the low bits), word aligned
 *   *delay fabric cycles (>= 0) to let pass before the operation. If the RTL is idle the wrapper may jump.
 *          The latency of the interconnect to and from the slave is already in it (board parameters
 *          mmio_request_cycles, mmio_response_cycles): the wrapper adds the slave's own handshake, no more.
 * Time the RTL takes is charged to the CPU as stall. Returns an axl_op. */
int axl_cpu_step(int rdata, int resp, int irq, long long now, int *addr, int *wdata, int *delay);

/* The DMA's side of memory: 32-bit words at word aligned physical addresses. Feeds the stale-data checker.
 * Outside RAM reads give 0xDEADBEEF, writes are dropped, and the run ends with AXL_FAULT_DMA. */
int axl_mem_read(int addr);
/* The same, of an accelerator's own master: see axl_pointers. */
int axl_master_read(int addr);
void axl_master_write(int addr, int data, int strb);
void axl_mem_write(int addr, int data, int strb); /* strb bits 0..3: bytes 0..3 */

/* With several accelerators: which one the next calls of either side are about that stand below under "one
 * accelerator", and axl_activity. 0 at the start, and where there is one. */
enum { AXL_ACCELERATORS = 8 };
void axl_accelerator(int number);

/* One accelerator: every beat it accepts (in) and every beat taken from it (out), in order: the protocol monitor. */
void axl_stream_in(int word, int last);
void axl_stream_out(int word, int last);

/* ---- Python side: configuration --------------------------------------------------------------------------- */

enum { AXL_REPLACE_RANDOM = 0, AXL_REPLACE_LRU = 1 };

/* A Cortex-A9 has one event for accesses and one for refills (0x04, 0x03); Linux names each of them twice. */
enum { AXL_L1D_SEPARATE = 0, AXL_L1D_ACCESSES = 1 };

/* Classes of instruction for the cost model, index of axl_config.cost. */
enum axl_class {
    AXL_CLASS_ALU,
    AXL_CLASS_MUL,
    AXL_CLASS_LOAD,
    AXL_CLASS_STORE,
    AXL_CLASS_MULTIPLE, /* LDM, STM, VLDM, VLD1..: per instruction; each word adds AXL_CLASS_WORD */
    AXL_CLASS_WORD,
    AXL_CLASS_BRANCH,
    AXL_CLASS_VFP,  /* VFP arithmetic, moves between core and VFP registers */
    AXL_CLASS_NEON, /* NEON arithmetic: for each pass through the 64-bit data path */
    AXL_CLASS_SYSTEM, /* MCR, MRC, barriers, MSR */
    AXL_CLASSES
};

/* What an operating system does that the guest does not see: added to the counters, its cycles to the CPU's time. */
typedef struct axl_os_cost {
    uint32_t cycles, instructions, loads, stores, branches;
} axl_os_cost;

/* Of memory, in whole MiB. */
enum { AXL_REGIONS = 8 };
typedef struct axl_region_t {
    uint32_t address, bytes;
} axl_region_t;

/* The board, as the core sees it (boards/<name>/profile.toml). Cache sizes are powers of two; lines are of 32 or 64 bytes. */
typedef struct axl_config {
    uint64_t cpu_hz, fabric_hz;
    uint32_t l1i_size, l1i_ways;
    uint32_t l1d_size, l1d_ways;
    uint32_t l2_size, l2_ways;       /* 0: no second level */
    uint32_t replacement;            /* AXL_REPLACE_* of all three caches */
    uint32_t pair_accesses;          /* 1: LDM, STM, VLD, VST access L1D once per aligned 8 bytes; 0: once per element */
    uint32_t predictor_bits;         /* the gshare table has 2^bits counters of 2 bits */
    uint32_t preloads;               /* lines that PLD may have on their way, 1 to 16 */
    uint32_t cost[AXL_CLASSES];      /* base cost of an instruction, 1/64 CPU cycle */
    uint32_t l2_hit_cycles;          /* penalty of a L1 refill that hits L2, CPU cycles */
    uint32_t ddr_cycles;             /* further penalty if it misses L2 */
    uint32_t writeback_cycles;       /* per dirty line that leaves for DDR */
    uint32_t branch_miss_cycles;
    uint32_t uncached_read_cycles;   /* a load from DDR that bypasses the caches */
    uint32_t uncached_write_cycles;  /* a buffered store that does */
    uint32_t private_read_cycles;    /* PL310 and timer registers */
    uint32_t private_write_cycles;
    uint32_t maintenance_cycles;     /* one CP15 cache operation by address */
    uint32_t ocm_cycles;             /* penalty of a L1 refill from the on-chip memory, which L2 does not cache */
    uint32_t line_gap_cycles;        /* between two such lines from L2 or on-chip memory */
    uint32_t ddr_gap_cycles;         /* from DDR */
    uint32_t mmio_request_cycles;    /* interconnect in front of the DMA's registers, fabric cycles */
    uint32_t mmio_response_cycles;   /* and the way back */
    uint32_t quantum_cycles;         /* the CPU runs ahead of the RTL by at most about this many CPU cycles; 0: no cap */
    uint32_t mmio_base[AXL_ACCELERATORS]; /* the page of each accelerator's DMA */
    uint32_t mmio_pages, mmio_size;  /* how many, and their size; pages 0: no RTL, an access there is a fault */
    uint32_t has_os;                 /* 0: bare metal; SVC is a fault, and the three costs below are not used */
    axl_os_cost start;               /* once a job, before its first instruction; no time of the fabric passes */
    axl_os_cost syscall;             /* each SVC */
    axl_os_cost page_fault;          /* first access to a cached page of 4 KiB */
    uint32_t dma_coherent;           /* 1: the DMA's ports look into the caches, no line is ever stale */
    uint32_t dma_allocates;          /* and 1: what the DMA reads and writes through them comes into L2 */
    uint32_t l1d_events;             /* AXL_L1D_*: what the events of loads and stores count */
    uint32_t count_uncached;         /* 1: uncached loads and stores are L1D accesses for the counters */
    char host[24];                   /* the CPU: the name under which one of hosts/ has registered itself */
    uint32_t line_bytes;             /* of all three caches */
    uint32_t ocm_bytes;              /* of memory on the chip, from address 0, that L2 does not cache; 0: none */
    axl_region_t uncached[AXL_REGIONS]; /* of a host without tables for it: RAM that it does not cache */
    uint32_t uncached_regions;
} axl_config;

uint8_t *axl_ram(void);     /* axl_ram_size() bytes at physical address 0, the same mapping for CPU, DMA and Python */
uint64_t axl_ram_size(void);
int axl_configure(const axl_config *config); /* 0, or -1 with the reason in axl_error() */
const char *axl_error(void);                 /* why the last axl_* call that returned -1 failed */

/* ---- Python side: jobs ------------------------------------------------------------------------------------- */

/* Stop whatever runs, zero RAM, counters, caches, predictor, reports, fault. The monitor's position in the
 * streams stays: call axl_protocol_reset when the RTL is reset (and only then). 0, or -1. */
int axl_job_begin(void);

/* Start at `entry`, with the CPU as after the boot ROM (ARM: ARM state, MMU and caches off; AArch64: in EL1). The run ends when the PC reaches
 * `exit_pc`; the exit code is the word at `exit_code_addr`. [text_start, text_end) is scanned for cache
 * maintenance instructions. 0, or -1. */
int axl_cpu_start(uint32_t entry, uint32_t exit_pc, uint32_t exit_code_addr, uint32_t text_start, uint32_t text_end);

/* ---- Python side: IP beside the accelerators: native/neighbours */

enum { AXL_NEIGHBOURS = 16, AXL_SETTINGS = 12 };
typedef struct axl_neighbour_t {
    char kind[24];
    uint32_t base, bytes, line;      /* line: bit of the interrupts of the fabric */
    uint32_t settings[AXL_SETTINGS]; /* what they mean says the kind's own file, and cosim/blocks */
} axl_neighbour_t;
typedef struct axl_drive_t {         /* somebody outside puts `levels` on the pins of a port */
    uint64_t cycle;                  /* of the fabric, since the job began */
    uint32_t base, port, levels, unused;
} axl_drive_t;
/* From the next axl_job_begin on; drives by cycle. 0, or -1. */
int axl_neighbours(const axl_neighbour_t *list, uint32_t n, const axl_drive_t *drives, uint32_t n_drives);

/* ---- Python side: Linux processes */

enum axl_file_kind {
    AXL_FILE_TEXT,        /* reads `text` */
    AXL_FILE_MAP,         /* mmap shows [address, address + size); RAM is cached unless opened with O_SYNC */
    AXL_FILE_SYNC_DEVICE, /* sync_for_device of u-dma-buf, for [address, address + size) */
    AXL_FILE_SYNC_CPU,
    AXL_FILE_UIO,         /* as MAP (size 0: shows nothing); its interrupt is high when one of the lines `irq` is */
    AXL_FILE_HEAP,        /* a dma-heap */
    AXL_FILE_PAGEMAP,     /* /proc/self/pagemap */
    AXL_FILE_SETTING      /* sync_offset and the like of u-dma-buf: a number, at first `text`, that is read and written */
};
/* A file that processes find; path NULL: there are none any more. */
void axl_file(const char *path, uint32_t kind, const char *text, uint64_t address, uint64_t size, uint32_t irq);

typedef struct axl_process_t {
    uint32_t entry, end;             /* end: of the program's memory, where brk begins */
    uint32_t text_start, text_end;
    uint32_t phdr, phent, phnum;     /* the ELF's program headers in memory */
    uint32_t stack_top, stack_bytes; /* maps that are not of files lie below the stack, down to map_low */
    uint32_t map_low;
    uint32_t arguments_bytes; /* argv: texts, each with a 0 behind it */
    const char *arguments;
} axl_process_t;
/* As axl_cpu_start, for a Linux process: user mode, caches on, system calls answered. Ends with exit_group. */
int axl_process_start(const axl_process_t *program);
const char *axl_waits(void);         /* what each of its threads waits for, and where; empty: none does */
const char *axl_console(void);       /* what it has written to standard output and error, or a board's UARTs */

/* ---- Python side: programs that other tools built for a board */

typedef struct axl_board_t {
    uint32_t entry, text_start, text_end;
    uint32_t exit_begin, exit_end;     /* the function that never returns from the end of a program; 0: none */
    uint32_t assert_begin, assert_end; /* that of a failed assertion: text and line are its arguments; 0: none */
    uint32_t input_bytes;
    uint64_t limit_ns;                 /* of the board's time; 0: none */
    const char *input;                 /* what a person types */
    const char *until;                 /* the program ends when it has printed this; NULL: it does not */
    int32_t reads, prints;             /* descriptors of a live terminal: what is typed after `input`, the text; or -1 */
} axl_board_t;
/* As axl_cpu_start, with the processing system around the CPU: registers, interrupts, timers. It ends in its exit function,
 * or in a loop that nothing can end. */
int axl_board_start(const axl_board_t *program);
/* What it has taken of what was typed. */
const char *axl_taken(uint32_t *bytes);
/* After axl_job_begin, before the start: the program is held before its first instruction until gdb, which calls at the
 * listening socket, lets it go on. 0, or -1. See debug/. `reversible`: this process is copied, so that gdb can go back. */
int axl_debug(int listener, int reversible);
int axl_is_orphan(void); /* 1: who started the simulator has ended */
void axl_debug_hang(const char *why); /* the run was ended from outside: gdb may look at it once more */

/* What a person should know of such a run: the instruction, and a text. NULL outside. */
int axl_note_count(void);
const char *axl_note(int index, uint32_t *pc);

/* ---- Python side: a live session: the CPU does what somebody asks for, over a socket */

enum axl_live_op {
    AXL_LIVE_READ,    /* 32 bits at `address` over AXI */
    AXL_LIVE_WRITE,   /* `value` there */
    AXL_LIVE_PASS,    /* `cycles` of the fabric, and two at least */
    AXL_LIVE_WAIT,    /* at most `cycles`: until one of the interrupt lines `value` is high. 0: until a line changes, or a DMA
                         begins or ends a transfer */
    AXL_LIVE_STREAM,  /* the last words, at most `value`, of stream `address`: 2i into accelerator i, 2i + 1 out of it */
    AXL_LIVE_SAYS,    /* axl_protocol_text of accelerator `address` */
    AXL_LIVE_PINS,    /* the levels at `port` of the neighbour at `address` */
    AXL_LIVE_DRIVE,   /* somebody outside puts `value` there; then as PINS */
    AXL_LIVE_NAMES,   /* registers and memories of the RTL, one a line: words or 0, bits, name */
    AXL_LIVE_STATE,   /* at most `cycles` words, from word `value` on, of number `address` of these; 32-bit parts */
    AXL_LIVE_UNTIL,   /* at most `cycles`: until word `port` of it was `value`; the answer's value: 1 if it was */
    AXL_LIVE_END      /* the job ends in order, as at the end of the socket's file */
};
typedef struct axl_live_request_t {
    uint32_t op, address, value, port;
    uint64_t cycles;
} axl_live_request_t;
typedef struct axl_live_answer_t {
    uint32_t failed, value; /* failed: the AXI response, or AXL_LIVE_REFUSED */
    uint64_t cycle;         /* of the fabric, now */
    uint32_t lines, bytes;  /* interrupt lines; bytes that follow: words, or a text */
} axl_live_answer_t;
enum axl_live { AXL_LIVE_REFUSED = 4, AXL_LIVE_WORDS = 4096 };
/* As axl_cpu_start, without a program: requests come from `socket` and are answered there. While nobody asks, axl_cpu_step
 * blocks: no time passes. RAM is the file `memory`, which the other side maps, too. */
int axl_live_start(int socket, int memory);

/* The first call of the function at `address` is measured: from its first instruction to the one behind the call, in
 * fabric cycles. axl_job_begin forgets the address. 0 if it did not come to an end. With `clean` caches and predictor
 * are empty when it begins, and a cycle of both clocks begins with it: nothing of what ran before shows. */
void axl_section_at(uint32_t address, int clean);
int axl_section_calls(void);               /* that have returned */
const uint64_t *axl_section_cycles(void);  /* of each, fabric cycles */
uint32_t axl_section_stack(void);          /* the stack pointer when the first began */
void axl_section_keep(uint32_t address, uint32_t bytes); /* copied when a call returns: axl_section_kept, call by call */
const uint8_t *axl_section_kept(void);

/* Without RTL: run to the end, or until about `max_instructions` (0: no limit). WFI without an interrupt source
 * is a fault. 0 when the program ended, 1 at the limit or at a fault (see axl_state). */
int axl_cpu_run(uint64_t max_instructions);

enum axl_run { AXL_RUN_RESET, AXL_RUN_RUNNING, AXL_RUN_EXITED, AXL_RUN_FAULT };

enum axl_fault {
    AXL_FAULT_NONE,
    AXL_FAULT_UNMAPPED,   /* load, store or fetch outside RAM and devices (or outside the guest's own table) */
    AXL_FAULT_UNDEFINED,  /* undefined instruction */
    AXL_FAULT_EXCEPTION,  /* another exception taken by the guest (SVC, abort from the MMU, ...) */
    AXL_FAULT_BUS,        /* AXI error response */
    AXL_FAULT_ACCESS,     /* device access of a wrong size or alignment, or to no register */
    AXL_FAULT_DMA,        /* the DMA left RAM */
    AXL_FAULT_PROTOCOL,   /* words nobody asked for, or a burst that the port does not take: see text */
    AXL_FAULT_NO_IRQ,     /* WFI in a CPU-only run */
    AXL_FAULT_LIMIT,      /* max_instructions reached */
    AXL_FAULT_STALE,      /* axl_stop_at_stale */
    AXL_FAULT_TLAST,      /* TLAST at a wrong place: see text */
    AXL_FAULT_WAITS,      /* all threads of a process wait for what cannot happen: axl_waits */
    AXL_FAULT_KILLED      /* by the debugger: axl_debug */
};

typedef struct axl_state_t {
    uint32_t run;       /* axl_run */
    uint32_t fault;     /* axl_fault */
    uint32_t pc;        /* of the fault; else the block last entered */
    uint32_t address;   /* that the faulting access used */
    int32_t exit_code;  /* valid when EXITED */
    uint32_t waiting;   /* axl_op the CPU now waits for (READ, WRITE, WAIT_IRQ, ADVANCE), 0 if none */
    uint32_t wait_addr; /* address of that READ or WRITE */
    uint32_t mmio_pc;   /* instruction of the last device access */
    char text[200];     /* one line on the fault, without symbols */
} axl_state_t;
const axl_state_t *axl_state(void);
uint32_t axl_called_from(void); /* the instruction of the program's own code that called what runs now; 0: own code runs */

typedef struct axl_counters_t {
    uint64_t instructions, cpu_cycles, task_clock_ns;
    uint64_t branch_instructions, branch_misses;
    uint64_t l1d_loads, l1d_load_misses, l1d_stores, l1d_store_misses; /* cacheable accesses, by line touched */
    uint64_t cache_references, cache_misses; /* events 0x04 and 0x03 of a Cortex-A9: L1D accesses and refills */
    uint64_t l1i_misses;
    uint64_t l2_references, l2_misses, writebacks;
    uint64_t stall_cycles;                   /* CPU cycles spent waiting for the fabric */
    uint64_t uncached_loads, uncached_stores;
    uint64_t mmio_reads, mmio_writes;        /* of the DMA's page */
    uint64_t polls;                          /* reads that repeat one of the two before them, nothing in between */
    uint64_t maintenance;                    /* cache operations by the guest: CP15 and PL310 */
    uint64_t switches;                       /* between CPU and RTL (simulation cost, not the guest's) */
    uint64_t dma_words_read, dma_words_written;
    uint64_t syscalls, page_faults;
} axl_counters_t;
const axl_counters_t *axl_counters(void);    /* brought up to date by the call */

/* How often each class of instruction was executed: what base costs are multiplied with. AXL_CLASSES values. */
void axl_class_counts(uint64_t *counts);

/* ---- Python side: stale data ------------------------------------------------------------------------------- */

enum axl_stale_kind {
    AXL_STALE_MISSING_FLUSH,      /* the DMA read bytes that the CPU has stored and no cache has written back */
    AXL_STALE_MISSING_INVALIDATE, /* the CPU read cached bytes of which the DMA has written other ones since */
    AXL_STALE_LOST_WRITE,         /* a line was written back over other bytes that the DMA had written */
    AXL_STALE_THROWN_AWAY         /* bytes were read that the CPU had stored and an invalidate has thrown away */
};
typedef struct axl_stale_t {
    uint32_t kind;
    uint32_t first, last; /* address of the first byte concerned, and of the last one */
    uint32_t pc, call;    /* that stored (MISSING_FLUSH), loaded (MISSING_INVALIDATE), wrote back (LOST_WRITE), invalidated
                             (THROWN_AWAY); the program's own code that called it, or 0 */
    uint32_t other_pc, other_call; /* that started the DMA, or stored (LOST_WRITE), or read (THROWN_AWAY) */
    uint32_t store_pc, store_call; /* THROWN_AWAY: that had stored */
    uint32_t by_dma;      /* 1: the DMA has read it */
    uint64_t count;       /* events: words for the DMA, accesses for the CPU, lines for lost writes */
    uint64_t cycle;       /* fabric cycle of the first one, from the start of the job */
} axl_stale_t;
/* After the program's end: whoever reads [address, address + bytes) does so by the CPU's caches. */
void axl_stale_left(uint32_t address, uint32_t bytes);
/* From here to the end of the job: the first one is a fault. */
void axl_stop_at_stale(void);
int axl_stale_count(void);                     /* distinct (kind, pc, call), oldest first, at most 64 are kept */
const axl_stale_t *axl_stale(int index);       /* NULL outside */

/* ---- Python side: mistakes of drivers ---------------------------------------------------------------------- */

enum { AXL_REGISTERS_AT = 0x8000 }; /* of the accelerator's own registers, in the page of its DMA */

/* A DMA: bits of LENGTH (0: there is none, and no rule for it), bytes of a beat of its streams, whether it takes descriptors, and whether the accelerator has
 * registers of its own. Of the accelerator that is selected; until the next call. */
typedef struct axl_dma_t {
    uint32_t length_bits, beat_bytes, scatter_gather, registers;
} axl_dma_t;
void axl_dma(const axl_dma_t *dma);

enum axl_mistake_kind {
    AXL_MISTAKE_LENGTH_CUT,       /* detail: the bits that LENGTH has */
    AXL_MISTAKE_LENGTH_ZERO,
    AXL_MISTAKE_LENGTH_SMALL,     /* S2MM: less than a beat of `detail` bytes */
    AXL_MISTAKE_BUSY,             /* LENGTH written while a transfer is under way */
    AXL_MISTAKE_NOT_RUNNING,      /* LENGTH or TAILDESC written while DMACR (detail) has RS 0 */
    AXL_MISTAKE_UNALIGNED,        /* SA or DA is no multiple of `detail` bytes */
    AXL_MISTAKE_RECEIVE_SHORT,    /* the packet goes on behind the `detail` words of LENGTH */
    AXL_MISTAKE_RESET_BUSY,       /* value: the channel whose packet is broken off */
    AXL_MISTAKE_CURRENT_RUNNING,  /* CURDESC written while RS is 1 */
    AXL_MISTAKE_NO_CURRENT,       /* TAILDESC without CURDESC since the reset */
    AXL_MISTAKE_DESCRIPTOR_PLACE, /* CURDESC, TAILDESC: no multiple of 64 */
    AXL_MISTAKE_TAIL_UNREACHED,   /* NXTDESC does not lead from `detail` to TAILDESC */
    AXL_MISTAKE_DESCRIPTOR_DONE,  /* STATUS (detail) of the descriptor at `value` has Cmplt already */
    AXL_MISTAKE_DESCRIPTOR_EMPTY, /* length 0 */
    AXL_MISTAKE_DESCRIPTOR_BUFFER, /* its buffer (detail) is not aligned */
    AXL_MISTAKE_NO_REGISTER,
    AXL_MISTAKE_READ_ONLY,
    AXL_MISTAKE_EARLY_LOAD,       /* the CPU reads at `value`, in the buffer at `detail` of a transfer under way */
    AXL_MISTAKE_EARLY_STORE,
    AXL_MISTAKE_NO_ADDRESS        /* a transfer begins, and SA or DA was not written since the reset */
};
typedef struct axl_mistake_t {
    uint32_t kind, dma, at; /* at: the register, bytes from the DMA's */
    uint32_t value, detail;
    uint32_t pc, call, unused;
    uint64_t count, cycle;
} axl_mistake_t;
int axl_mistake_count(void);                  /* distinct (kind, register, pc, call), oldest first, at most 64 are kept */
const axl_mistake_t *axl_mistake(int index);  /* NULL outside */

typedef struct axl_dma_state_t {
    uint32_t control[2], started[2]; /* of MM2S, S2MM: DMACR as last written; 1: LENGTH or TAILDESC ever was */
} axl_dma_state_t;
const axl_dma_state_t *axl_dma_state(int dma);

/* ---- Python side: accesses outside ------------------------------------------------------------------------- */

typedef struct axl_range_t {
    uint32_t begin, end;
} axl_range_t;
/* After axl_job_begin, until the next: the program has nothing in [low, high) but these arrays, by address. */
void axl_watch(const axl_range_t *arrays, uint32_t n, uint32_t low, uint32_t high);

enum axl_outside_kind { AXL_OUTSIDE_LOAD, AXL_OUTSIDE_STORE, AXL_OUTSIDE_DMA_READ, AXL_OUTSIDE_DMA_WRITE };
typedef struct axl_outside_t {
    uint32_t kind;
    uint32_t array;      /* the nearest one */
    uint32_t first, end; /* of all accesses */
    uint32_t pc;         /* the instruction; of a DMA the last access to its registers */
    uint32_t call;       /* where the program's own code called the one that did it; 0: it did so itself */
    uint64_t count;
    uint64_t cycle;      /* fabric cycle of the first one */
} axl_outside_t;
int axl_outside_count(void);                     /* distinct (kind, pc, call, array), at most 64 are kept */
const axl_outside_t *axl_outside(int index);     /* NULL outside */

/* An accelerator that reads and writes memory itself: the address of the register that takes a pointer, the bytes that
 * it points to, and whether the accelerator writes them. Until the next call; n 0: none. */
typedef struct axl_pointer_t {
    uint32_t at, bytes, writes;
} axl_pointer_t;
void axl_pointers(const axl_pointer_t *pointers, uint32_t n);

typedef struct axl_strayed_t {
    uint32_t pointer;      /* the nearest one; as many as there are: none was written */
    uint32_t writes;
    int64_t first, last;   /* bytes from where it points to, or from 0 */
    uint32_t address, unused; /* that it points to */
    uint64_t count, cycle; /* words; the fabric cycle of the first one */
} axl_strayed_t;
int axl_strayed_count(void);
const axl_strayed_t *axl_strayed(int index);     /* NULL outside */

/* ---- rules of the buses: who breaks one ----------------------------------------------------------------------- */

enum axl_channel { AXL_CHANNEL_T, AXL_CHANNEL_AR, AXL_CHANNEL_R, AXL_CHANNEL_AW, AXL_CHANNEL_W, AXL_CHANNEL_B };
enum axl_port { AXL_PORT_MASTER = 33 }; /* the others: cosim/referee.py */
enum axl_rule {          /* `a` and `b` of a breach; macros for rtl/axl_watch.v, too */
    AXL_RULE_HELD,       /* VALID falls before READY */
    AXL_RULE_STABLE,     /* what comes with it changes */
    AXL_RULE_RESET,      /* VALID is high in reset */
    AXL_RULE_WAITS,      /* VALID waits for READY */
    AXL_RULE_KEEP_ZERO,  /* TKEEP of a beat: 0; bytes of a beat */
    AXL_RULE_KEEP_GAP,
    AXL_RULE_KEEP_EARLY, /* not all bytes, and not the last beat */
    AXL_RULE_W_WAITS,    /* WVALID waits for AWREADY */
    AXL_RULE_B_ASKED,    /* an answer that nobody asked for */
    AXL_RULE_R_ASKED,
    AXL_RULE_4K,         /* address; bytes */
    AXL_RULE_BURST,      /* kind; beats */
    AXL_RULE_LENGTH,     /* kind; beats */
    AXL_RULE_WRAP,       /* address; bytes of a beat */
    AXL_RULE_LAST,       /* 1: missing, 0: too early */
    AXL_RULE_STROBES,    /* bytes of an operand that are left out: address of the word; its strobes */
    AXL_RULE_DONE_EARLY, /* a register says done while writes are not answered: its address; how many */
    AXL_RULE_KEEP_WORDS, /* TKEEP leaves out bytes of the result: kept; bytes of the beat */
    AXL_RULE_ID          /* of an answer: no burst with it is under way; the ID */
};
typedef struct axl_breach_t {
    uint32_t port, channel, rule, a, b, unused;
    uint64_t count, cycle; /* how often; the fabric cycle of the first one */
} axl_breach_t;
typedef struct axl_access_t {
    uint32_t writes, address, last, unused; /* the data of the last one */
    uint64_t count;
} axl_access_t;
typedef struct axl_wait_t {
    uint32_t offset, mask;
} axl_wait_t;

/* From the RTL: */
void axl_breach(int port, int channel, int rule, long long now, int a, int b);
void axl_kept(int port, long long now, int kept, int bytes); /* of the last beat of a packet */
/* An address was taken; `bytes` of a beat that the port has. The user's master may ask for whole beats of kind INCR. */
void axl_burst(int port, int writes, int addr, int len, int size, int burst, int bytes, long long now);
void axl_answered(int port, int writes);
void axl_last(int port, int writes, int missing, long long now);
void axl_register(int writes, int address, int data, long long now); /* of a user's module, behind its watch */
/* From Python: */
void axl_referee_begin(const axl_wait_t *waits, uint32_t n); /* forgets all breaches and accesses */
void axl_referee_end(void);                                  /* the program has ended */
int axl_breach_count(void);
const axl_breach_t *axl_breach_at(int index);                /* NULL outside */
int axl_access_count(void);
const axl_access_t *axl_access_at(int index);
uint64_t axl_answers_due(int writes);                        /* of the user's master */

/* ---- Python side: accelerators ------------------------------------------------------------------------------- */

/* How many there are, and their names: with several, faults begin with the name. Selects the first. 0, or -1. */
int axl_accelerators(const char *const *names, uint32_t n);

/* ---- Python side: laps ----------------------------------------------------------------------------------------- */

/* Each store of the CPU to this word of RAM is a lap: what the streams have moved so far is kept.
 * axl_job_begin forgets laps and address. */
void axl_lap_at(uint32_t address);
typedef struct axl_lap_t {
    uint64_t words_in[AXL_ACCELERATORS], words_out[AXL_ACCELERATORS]; /* since axl_job_begin */
} axl_lap_t;
int axl_lap_count(void);             /* the first 65,536 are kept */
const axl_lap_t *axl_laps(void);

/* ---- Python side: protocol monitor, of one accelerator --------------------------------------------------------------------------- */

enum axl_action_kind { AXL_ACT_SKIP, AXL_ACT_DIMS, AXL_ACT_LOAD, AXL_ACT_STORE, AXL_ACT_SAVE, AXL_ACT_CLEAR };
typedef struct axl_action_t {
    uint32_t kind;
    char operand[16];      /* LOAD, STORE */
    uint32_t element_bits; /* LOAD, STORE */
    uint32_t lines;        /* LOAD, STORE: of so many of the first dims, each index begins on a new unit */
    uint32_t unit_words;   /* LOAD, STORE: a line is filled up with zeros to a multiple of it */
    uint32_t saved;        /* STORE: 1: of all results saved since the last CLEAR, 0: of one */
    uint32_t n;            /* LOAD, STORE: dims of the operand; DIMS: fields of the word */
    uint32_t dim[8];       /* which size (index in the specification's dims and settings) */
    uint32_t shift[8], bits[8]; /* DIMS: where it is in the word */
} axl_action_t;

/* Dims and settings at reset, and words in a beat: an instruction, and a tile in it, begin on a beat.
 * Forgets all opcodes: without opcodes the monitor only counts. */
void axl_protocol_clear(const uint32_t *sizes, uint32_t n_sizes, uint32_t beat_words);
/* One opcode: what happens after its opcode word, in order. has_literal 0: executed for ever, without opcode word.
 * place: in the order in which a word that combines bits executes them, or -1.
 * 0, or -1 (too many opcodes or actions). */
int axl_protocol_op(const char *name, int has_literal, uint32_t literal, int place, const axl_action_t *actions,
                    uint32_t n);
/* The accelerator was reset: the next word in is an opcode, nothing is expected out. */
void axl_protocol_reset(void);

typedef struct axl_protocol_t {
    uint64_t words_in, words_out;      /* since axl_job_begin */
    uint64_t payload_left;             /* words that the last opcode still waits for */
    uint64_t store_left;               /* words of stores decoded so far that have not come out */
    uint32_t unknown;                  /* 1: stopped at a word that is no opcode (unknown_word) */
    uint32_t unknown_word;
    char last_opcode[32];              /* name, empty before the first */
} axl_protocol_t;
const axl_protocol_t *axl_protocol(void);
/* How often an opcode (by its place among axl_protocol_op's calls) has begun since axl_job_begin. */
uint64_t axl_protocol_begun(uint32_t op);
/* Where both streams stand, in words for a person: for the watchdog's diagnosis. */
const char *axl_protocol_text(void);

#ifdef __cplusplus
}
#endif
#endif
