/* Drivers of a loopback with one mistake each, on bare metal, without the runtime. `which` says the one that runs; the
 * line that ends with its name in a comment is the one that a report has to name. See driver_mistakes.py. */
#include <stdint.h>

#define R(o) (*(volatile uint32_t *)(uintptr_t)(0x40400000u + (o)))
#define ADDRESS(p) ((uint32_t)(uintptr_t)(p))
#define CASE(name) static __attribute__((noinline)) void name(void)
enum { N = 64, BYTES = 4 * N };
#define CMPLT (1u << 31)

int32_t which;
int32_t seen[N]; /* what the CPU has of the result */
volatile int32_t A[N] __attribute__((aligned(64))), B[N] __attribute__((aligned(64))), C[N] __attribute__((aligned(64)));
struct {
    volatile int32_t words[N];
    volatile int32_t count; /* in a line of their own, but for this */
    volatile int32_t more[15];
} shared __attribute__((aligned(64)));
struct descriptor {
    volatile uint32_t next, next_upper, buffer, buffer_upper, rows, unused, control, status, app[8];
} tx[4] __attribute__((aligned(64))), rx[4] __attribute__((aligned(64)));

static void barrier(void) { __asm__ volatile("dsb sy" ::: "memory"); }

#ifdef __aarch64__
#define MAINTAIN(a, own, outer) __asm__ volatile("dc " own ", %0" ::"r"((uint64_t)(a)) : "memory")
#define CLEAN "cvac"
#define INVALIDATE "ivac"
#define FLUSH "civac"
#else
#define MAINTAIN(a, own, outer)                                        \
    __asm__ volatile("mcr p15, 0, %0, c7, " own ", 1" ::"r"(a) : "memory"); \
    barrier();                                                         \
    *(volatile uint32_t *)(0xF8F02000u + (outer)) = a
#define CLEAN "c10"
#define INVALIDATE "c6"
#define FLUSH "c14"
#endif
/* Macros, so that what they do is at the line that has them. */
#define EACH_LINE(p, n, what, outer)                                                            \
    do {                                                                                        \
        for (uint32_t a = ADDRESS(p) & ~31u; a < ADDRESS(p) + (uint32_t)(n); a += 32) {         \
            MAINTAIN(a, what, outer);                                                           \
        }                                                                                       \
        barrier();                                                                              \
    } while (0)
#define clean(p, n) EACH_LINE(p, n, CLEAN, 0x7B0)
#define invalidate(p, n) EACH_LINE(p, n, INVALIDATE, 0x770)
#define flush(p, n) EACH_LINE(p, n, FLUSH, 0x7F0)
#define send(p, n) (R(0x18) = ADDRESS(p), R(0x28) = n)
#define receive(p, n) (R(0x48) = ADDRESS(p), R(0x58) = n)
#define sent() while (!(R(0x04) & 2)) {}
#define received() while (!(R(0x34) & 2)) {}
#define fill(p, times) for (int32_t i = 0; i < N; i++) (p)[i] = (times) * (i + 1)

static void reset(void) {
    R(0x00) = 4;
    while (R(0x00) & 4) {}
}
static void run(void) {
    reset();
    R(0x00) = 1;
    R(0x30) = 1;
}
static void look(void) {
    for (int i = 0; i < N; i++) seen[i] = C[i];
}
/* A is 1, 2, 3, ... and C -1, both in memory; nothing is cached. */
static void ready(void) {
    for (int i = 0; i < N; i++) {
        A[i] = i + 1;
        C[i] = -1;
    }
    flush(A, BYTES);
    flush(C, BYTES);
    run();
}
static void round_trip(void) {
    receive(C, BYTES);
    send(A, BYTES);
    sent();
    received();
}

/* ---- right ones */

CASE(right) {
    ready();
    round_trip();
    invalidate(C, BYTES);
    look();
}
CASE(right_again) {
    right();
    fill(A, 3);
    clean(A, BYTES);
    R(0x04) = 0x7000;
    round_trip();
    invalidate(C, BYTES);
    look();
}
CASE(right_late) { /* the loopback keeps the words until a receive is started */
    ready();
    send(A, BYTES);
    sent();
    receive(C, BYTES);
    received();
    invalidate(C, BYTES);
    look();
}
CASE(right_dirty_before) { /* the CPU's own words in C are worth nothing, and are thrown away */
    ready();
    fill(C, 9);
    invalidate(C, BYTES);
    round_trip();
    look();
}
CASE(right_beside) { /* a variable behind the buffer is read, and written when the transfer is over */
    ready();
    shared.count = 7;
    flush(&shared, sizeof shared);
    receive(shared.words, BYTES);
    send(A, BYTES);
    sent();
    received();
    invalidate(shared.words, BYTES);
    shared.count++;
    for (int i = 0; i < N; i++) seen[i] = shared.words[i];
}

/* ---- caches */

CASE(no_clean) {
    ready();
    fill(A, 2);  /* no_clean */
    round_trip();
    invalidate(C, BYTES);
    look();
}
CASE(clean_before_a_store) {
    ready();
    fill(A, 2);
    clean(A, BYTES);
    A[5] = 500;  /* clean_before_a_store */
    round_trip();
    invalidate(C, BYTES);
    look();
}
CASE(clean_too_short) {
    ready();
    fill(A, 2);  /* clean_too_short */
    clean(A, BYTES / 2);
    round_trip();
    invalidate(C, BYTES);
    look();
}
CASE(clean_too_late) {
    ready();
    fill(A, 2);  /* clean_too_late */
    round_trip();
    clean(A, BYTES);
    invalidate(C, BYTES);
    look();
}
CASE(clean_of_another) {
    ready();
    fill(A, 2);  /* clean_of_another */
    clean(B, BYTES);
    round_trip();
    invalidate(C, BYTES);
    look();
}
CASE(invalidate_for_clean) {
    ready();
    fill(A, 2);
    invalidate(A, BYTES);  /* invalidate_for_clean */
    round_trip();
    invalidate(C, BYTES);
    look();
}
CASE(second_send_not_cleaned) {
    right();
    fill(A, 5);  /* second_send_not_cleaned */
    round_trip();
    invalidate(C, BYTES);
    look();
}
CASE(no_invalidate) {
    ready();
    look();
    round_trip();
    for (int i = 0; i < N; i++) seen[i] = C[i];  /* no_invalidate */
}
CASE(invalidate_too_early) {
    ready();
    invalidate(C, BYTES);
    look();
    round_trip();
    for (int i = 0; i < N; i++) seen[i] = C[i];  /* invalidate_too_early */
}
CASE(invalidate_too_short) {
    ready();
    look();
    round_trip();
    invalidate(C, BYTES / 2);
    for (int i = 0; i < N; i++) seen[i] = C[i];  /* invalidate_too_short */
}
CASE(second_receive_not_invalidated) {
    right();
    fill(A, 5);
    clean(A, BYTES);
    round_trip();
    for (int i = 0; i < N; i++) seen[i] = C[i];  /* second_receive_not_invalidated */
}
CASE(flush_of_a_dirty_result) {
    ready();
    fill(C, 9);
    round_trip();
    flush(C, BYTES);  /* flush_of_a_dirty_result */
    look();
}
static void beside(void) { /* receives behind words[0..3], and words[0] is the CPU's own */
    ready();
    for (int i = 0; i < N; i++) shared.words[i] = -1;
    flush(&shared, sizeof shared);
    receive(shared.words + 4, BYTES);
    shared.words[0] = 77;
    send(A, BYTES);
    sent();
    received();
}
CASE(shared_line_invalidated) {
    beside();
    invalidate(&shared, sizeof shared);  /* shared_line_invalidated */
    seen[0] = shared.words[0];
}
CASE(shared_line_flushed) {
    beside();
    flush(&shared, sizeof shared);  /* shared_line_flushed */
    for (int i = 0; i < N; i++) seen[i] = shared.words[4 + i];
}

/* ---- order */

CASE(read_before_the_wait) {
    ready();
    receive(C, BYTES);
    send(A, BYTES);
    seen[N - 1] = C[N - 1];  /* read_before_the_wait */
}
CASE(read_after_the_send) {
    ready();
    receive(C, BYTES);
    send(A, BYTES);
    sent();
    seen[N - 1] = C[N - 1];  /* read_after_the_send */
}
CASE(write_before_it_is_sent) {
    ready();
    receive(C, BYTES);
    send(A, BYTES);
    A[N - 1] = 500;  /* write_before_it_is_sent */
    sent();
    received();
    look();
}
CASE(receive_never_started) {
    ready();
    send(A, BYTES);
    sent();
    while (!(R(0x34) & 2)) {}  /* receive_never_started */
}
CASE(send_never_started) {
    ready();
    receive(C, BYTES);
    while (!(R(0x34) & 2)) {}  /* send_never_started */
}
CASE(result_before_the_send) {
    ready();
    receive(C, BYTES);
    while (!(R(0x34) & 2)) {}  /* result_before_the_send */
    send(A, BYTES);
}

/* ---- lengths */

CASE(length_cut) {
    ready();
    R(0x48) = ADDRESS(C);
    R(0x58) = BYTES;
    R(0x18) = ADDRESS(A);
    R(0x28) = 0x4000000u + BYTES;  /* length_cut */
    sent();
    received();
    look();
}
CASE(length_cut_to_nothing) {
    ready();
    R(0x48) = ADDRESS(C);
    R(0x58) = 0x4000000u;  /* length_cut_to_nothing */
    received();
}
CASE(length_zero) {
    ready();
    R(0x18) = ADDRESS(A);
    R(0x28) = 0;  /* length_zero */
    sent();
}
CASE(length_in_words) {
    ready();
    receive(C, BYTES);
    send(A, N);
    sent();
    while (!(R(0x34) & 2)) {}  /* length_in_words */
}
CASE(receive_too_short) {
    ready();
    R(0x48) = ADDRESS(C);
    R(0x58) = BYTES / 2;  /* receive_too_short */
    send(A, BYTES);
    while (!(R(0x34) & 0x12)) {}
    look();
}
CASE(receive_of_half_a_word) {
    ready();
    R(0x48) = ADDRESS(C);
    R(0x58) = 2;  /* receive_of_half_a_word */
}
CASE(send_restarted) {
    ready();
    receive(C, BYTES);
    send(A, BYTES);
    R(0x28) = BYTES;  /* send_restarted */
    sent();
    received();
    look();
}
CASE(receive_restarted) {
    ready();
    receive(C, BYTES);
    R(0x58) = BYTES;  /* receive_restarted */
    send(A, BYTES);
    sent();
    received();
    look();
}

/* ---- registers */

CASE(send_not_running) {
    ready();
    reset();
    R(0x18) = ADDRESS(A);
    R(0x28) = BYTES;  /* send_not_running */
}
CASE(receive_not_running) {
    ready();
    R(0x30) = 0;
    R(0x48) = ADDRESS(C);
    R(0x58) = BYTES;  /* receive_not_running */
}
CASE(source_unaligned) {
    ready();
    R(0x18) = ADDRESS(A) + 2;
    R(0x28) = BYTES;  /* source_unaligned */
}
CASE(destination_unaligned) {
    ready();
    R(0x48) = ADDRESS(C) + 1;
    R(0x58) = BYTES;  /* destination_unaligned */
}
CASE(address_in_the_other_channel) {
    ready();
    R(0x48) = ADDRESS(A);
    R(0x28) = BYTES;  /* address_in_the_other_channel */
}
CASE(reset_in_a_transfer) {
    ready();
    receive(C, BYTES);
    send(A, BYTES);
    R(0x00) = 4;  /* reset_in_a_transfer */
}
CASE(register_of_the_other_mode) {
    ready();
    R(0x08) = ADDRESS(A);  /* register_of_the_other_mode */
}
CASE(wrong_offset) {
    ready();
    R(0x18) = ADDRESS(A);
    R(0x2C) = BYTES;  /* wrong_offset */
}
CASE(register_of_no_accelerator) {
    ready();
    R(0x8000) = 1;  /* register_of_no_accelerator */
}
CASE(status_written) {
    ready();
    R(0x04) = 0x100;  /* status_written */
}
CASE(upper_address) {
    ready();
    R(0x1C) = 1;  /* upper_address */
}
CASE(no_memory_there) {
    ready();
    receive((uintptr_t)0xF0000000u, BYTES);
    send(A, BYTES);
    while (!(R(0x34) & 2)) {}  /* no_memory_there */
}
CASE(wrong_base) {
    *(volatile uint32_t *)0x41E00000u = 4;  /* wrong_base */
}
CASE(byte_to_a_register) {
    ready();
    *(volatile uint8_t *)0x40400000u = 1;  /* byte_to_a_register */
}

/* ---- descriptors */

static void chain(struct descriptor *d, volatile int32_t *buffer, uint32_t control) {
    for (int i = 0; i < 4; i++) {
        d[i].next = ADDRESS(&d[(i + 1) % 4]);
        d[i].next_upper = d[i].buffer_upper = d[i].rows = d[i].unused = d[i].status = 0;
        d[i].buffer = ADDRESS(buffer + 16 * i);
        d[i].control = 64 | (i == 0 ? control & 1u << 27 : 0) | (i == 3 ? control & 1u << 26 : 0);
    }
    flush(d, 4 * sizeof *d);
}
static void chains(void) {
    for (int i = 0; i < N; i++) {
        A[i] = i + 1;
        C[i] = -1;
    }
    flush(A, BYTES);
    flush(C, BYTES);
    chain(tx, A, 3u << 26);
    chain(rx, C, 0);
    reset();
}
static void queue_run(void) {
    R(0x38) = ADDRESS(rx);
    R(0x30) = 1;
    R(0x40) = ADDRESS(&rx[3]);
    R(0x08) = ADDRESS(tx);
    R(0x00) = 1;
    R(0x10) = ADDRESS(&tx[3]);
}
CASE(sg_right) {
    chains();
    queue_run();
    sent();
    received();
    invalidate(C, BYTES);
    look();
}
CASE(sg_right_again) {
    sg_right();
    fill(A, 3);
    clean(A, BYTES);
    chain(tx, A, 3u << 26);
    chain(rx, C, 0);
    R(0x40) = ADDRESS(&rx[3]);
    R(0x10) = ADDRESS(&tx[3]);
    sent();
    received();
    invalidate(C, BYTES);
    look();
}
CASE(sg_tail_not_running) {
    chains();
    R(0x08) = ADDRESS(tx);
    R(0x10) = ADDRESS(&tx[3]);  /* sg_tail_not_running */
}
CASE(sg_no_current) {
    chains();
    R(0x00) = 1;
    R(0x10) = ADDRESS(&tx[3]);  /* sg_no_current */
}
CASE(sg_current_while_running) {
    chains();
    R(0x00) = 1;
    R(0x08) = ADDRESS(tx);  /* sg_current_while_running */
}
CASE(sg_tail_unaligned) {
    chains();
    R(0x08) = ADDRESS(tx);
    R(0x00) = 1;
    R(0x10) = ADDRESS(&tx[3]) + 32;  /* sg_tail_unaligned */
}
CASE(sg_tail_not_in_the_chain) {
    chains();
    R(0x08) = ADDRESS(tx);
    R(0x00) = 1;
    R(0x10) = ADDRESS(rx);  /* sg_tail_not_in_the_chain */
}
CASE(sg_descriptor_used) {
    sg_right();
    R(0x10) = ADDRESS(&tx[1]);  /* sg_descriptor_used */
}
CASE(sg_length_zero) {
    chains();
    tx[1].control = 0;
    flush(tx, sizeof tx);
    R(0x08) = ADDRESS(tx);
    R(0x00) = 1;
    R(0x10) = ADDRESS(&tx[3]);  /* sg_length_zero */
}
CASE(sg_buffer_unaligned) {
    chains();
    tx[1].buffer = ADDRESS(A) + 1;
    flush(tx, sizeof tx);
    R(0x08) = ADDRESS(tx);
    R(0x00) = 1;
    R(0x10) = ADDRESS(&tx[3]);  /* sg_buffer_unaligned */
}
CASE(sg_descriptor_not_cleaned) {
    chains();
    for (int i = 0; i < 4; i++) tx[i].buffer = ADDRESS(B + 16 * i);  /* sg_descriptor_not_cleaned */
    queue_run();
    sent();
    received();
    invalidate(C, BYTES);
    look();
}
CASE(sg_status_not_invalidated) {
    chains();
    uint32_t looks = rx[3].status;
    queue_run();
    sent();
    received();
    looks += rx[3].status & CMPLT;  /* sg_status_not_invalidated */
    seen[0] = (int32_t)looks;
}
CASE(sg_length_written) {
    chains();
    R(0x28) = BYTES;  /* sg_length_written */
}

int main(void) {
    static void (*const all[])(void) = {CASES};
    all[which]();
    return 0;
}
