/* The rare parts of the queues of axiloom_sg.h: waiting, telling the DMA, and what happens once a tile. */
#define DMA_PUSH /* where they are no inline functions, dma_queue_rows and dma_queue_first_word are here */
#include "dma_look.h"

#if AXL_DMA_SG

#define LINE AXL_CACHE_LINE
#define ROOM (AXL_SEND_RING / 4) /* descriptors that are waited for where the ring is full */
#define BROUGHT (AXL_SEND_RING < 8 ? AXL_SEND_RING : 8)
#define SLOT_WORDS 2048u         /* in all slots: some small tiles, two large ones */
#define AT_ONCE (512u << 10)     /* bytes */
#define TOLD_BEFORE 2048u        /* bytes whose discarding takes longer than telling the DMA of what is queued */
#define AHEAD_BYTES (16u << 10)   /* half of L1: the places of tiles, beside the tiles themselves */
#define PART_BYTES 512u          /* of a tile that is taken in parts, at least */
/* A tile for which there is no slot yet does not hold up what is sent. Without a coherent port what is sent is cleaned
 * meanwhile, and there is no time to be won. */
#define HOLDS_BACK AXL_DMA_COHERENT
#define HAS_OCM (AXL_OCM && !AXL_PROCESS)
#define OCM_WORDS (8192u / AXL_DMAS & ~7u)
#define MAINTAINED (AXL_DMA_CACHED && !AXL_DMA_COHERENT) /* windows */
/* What happens once a tile begins on a line of its own. Else what stands before it decides whether its branches share
 * counters of the branch predictor, for up to 3 % of the time with small tiles. Behind a coherent port code is short of lines. */
#if AXL_DMA_COHERENT
#define ON_LINE
#else
#define ON_LINE __attribute__((aligned(LINE)))
#endif

typedef struct {
    uintptr_t to;
    uint32_t rows, cols;  /* straight to memory: rows, row_bytes */
    uint32_t stride;
} destination;

/* Slots in on-chip memory: the CPU reads a tile from there three times faster than from DDR, and it is not in L2. */
static int32_t DMA_EACH(ocm_slots)[OCM_WORDS] __attribute__((section(".axl_ocm"), aligned(LINE)));

static struct {
    dma_take *take;
    int32_t *slots;  /* on-chip, or in the output window where they are too large for that */
    int on_chip;
    uint32_t tile_bytes;
    uint32_t limit;  /* tiles expected at a time, and slots: a power of two */
    uint32_t begun;  /* dma_recvs.posted when it was opened */
    uint32_t named;  /* as dma_recvs.posted would be, had all tiles that have a place a slot as well */
    uint32_t rows, row_bytes; /* of what one descriptor receives, a tile or a part of it, if dma_queue_open_ahead was told */
    uint32_t stride; /* bytes from row to row of its place; 0: the place is not brought into the caches */
    uint32_t last_part; /* parts of a tile but one: a power of two but one */
    uint32_t brought, brought_row; /* the place that is brought next, and its row */
    uintptr_t own;   /* bytes that only the DMA writes to */
    uint32_t own_bytes;
    int at_once;     /* they are taken out of the caches at the beginning and at the end, not by tiles */
    int clean;       /* so is all that the caches held, and nobody writes to what is sent since then */
    int open;
    int lent;        /* the DMA is at the descriptors of a table, and `open` */
    /* Input window: two halves, so that one can be packed while the other is sent. */
    uint32_t half, half_words, half_used, half_last[2];
    int whole; /* a tile larger than a half lies in it */
} DMA_EACH(queue) __attribute__((aligned(LINE)));
#define NAMED (HOLDS_BACK ? queue.named : dma_recvs.posted) /* with another port each has a slot */
static destination DMA_EACH(destinations)[AXL_RECV_RING]; /* of the tile with the same number in the ring */

#if AXL_DMAS > 1
#define ocm_slots ocm_slots_of[dma_now]
#define queue queue_of[dma_now]
#define destinations destinations_of[dma_now]
#endif

/* --- waiting ------------------------------------------------------------------------------------------------ */

static const dma_descriptor *awaited;
static uint32_t looks;

/* A row of a place, into the caches. */
static inline void bring(const char *row) {
    for (uint32_t at = 0; at < queue.row_bytes; at += LINE)
        __builtin_prefetch(row + at, 1);
}

/* The row that is needed next. */
static __attribute__((noinline)) void bring_row(void) {
    if (!queue.stride || queue.brought == queue.named)
        return;
    if ((queue.brought - dma_recvs.taken) * queue.tile_bytes >= AHEAD_BYTES)
        return;
    const destination *to = &destinations[queue.brought & (AXL_RECV_RING - 1)];
    if (queue.brought_row < to->rows)
        bring((const char *)to->to + queue.brought_row * queue.stride);
    if (++queue.brought_row >= to->rows) {
        queue.brought_row = 0;
        queue.brought++;
    }
}

static dma_status look(int *done) { return dma_descriptor_look(awaited, &looks, bring_row, done); }

static dma_status wait_for(const dma_channel *channel, const dma_descriptor *descriptor) {
    awaited = descriptor;
    looks = channel->base == S2MM;
    return dma_wait_until(channel, look);
}

static dma_status take_oldest(void);
static void post_slots(void);

/* Until the descriptor before number `end` was sent. */
static dma_status wait_sent(uint32_t end) {
    if ((int32_t)(end - dma_sends.done) <= 0)
        return DMA_OK;
    const dma_descriptor *last = &dma_send_ring[(end - 1) & (AXL_SEND_RING - 1)];
    if (!AXL_DMA_COHERENT || dma_sends.told != dma_sends.pushed || !(last->status & DMA_COMPLETE)) {
        TRY(dma_queue_tell());
        while (HOLDS_BACK && queue.named != dma_recvs.posted) /* else the device would wait for ever */
            TRY(take_oldest());
        TRY(wait_for(&dma_send_channel, last));
    }
    dma_sends.done = end;
    return DMA_OK;
}

/* What is received first, as the device may wait for that; at the beginning of a queue it waits for words. */
dma_status dma_queue_tell(void) {
    dma_queue_end_words();
    const int begins = HOLDS_BACK && dma_recvs.told == queue.begun;
    if (begins)
        dma_tell_sends();
    if (HOLDS_BACK)
        post_slots();
    if (dma_recvs.told != dma_recvs.posted)
        dma_tell_recvs();
    if (!begins)
        dma_tell_sends();
    return DMA_OK;
}

dma_status dma_queue_make_room(void) { return wait_sent(dma_sends.done + ROOM); }

/* --- what comes back ---------------------------------------------------------------------------------------- */

static int32_t *slot(uint32_t number) {
    return queue.slots + ((number - queue.begun) & (queue.limit - 1)) * (queue.tile_bytes / sizeof(int32_t));
}

/* A slot for the next tile. */
static void post_slot(void) {
    const uint32_t number = dma_recvs.posted, used = number - queue.begun;
    /* The window's last user may have written to it; from now on nobody does. Nobody ever writes to slots on-chip: start.S
     * has emptied L1, and take_oldest drops what it reads. */
    if (used < queue.limit && !queue.on_chip && MAINTAINED)
        axl_cache_discard((uintptr_t)slot(number), queue.tile_bytes);
    if (used < AXL_RECV_RING)
        dma_post_recv((uintptr_t)slot(number), queue.tile_bytes, 0);
    else /* as often as there are slots in the ring, the descriptor is that of the same slot again */
        dma_post_again(queue.tile_bytes);
}

/* For as many tiles as there are slots. */
static void post_slots(void) {
    while (dma_recvs.posted != queue.named && dma_recvs.posted - dma_recvs.taken < queue.limit)
        post_slot();
}

/* The tile of this number, or the part of one, is there. */
static dma_status came(uint32_t number, uint32_t status, uint32_t bytes) {
    dma_recvs.taken = number + 1;
    if ((status & DMA_BYTES) < bytes)
        return DMA_ERR_SHORT;
    const int ends = !SPINS || ((number - queue.begun) & queue.last_part) == queue.last_part;
    if (ends != ((status & DMA_RXEOF) != 0))
        return ends ? DMA_ERR_LONG : DMA_ERR_SHORT;
    return DMA_OK;
}

static ON_LINE dma_status take_oldest(void) {
    const uint32_t number = dma_recvs.taken;
    const dma_descriptor *from = &dma_recv_ring[number & (AXL_RECV_RING - 1)];
    const dma_descriptor *next = &dma_recv_ring[(number + 1) & (AXL_RECV_RING - 1)];
    destination to = destinations[number & (AXL_RECV_RING - 1)];
    uint32_t status = from->status;
    if (SPINS && queue.last_part)
        __builtin_prefetch((const void *)next);
    if ((HOLDS_BACK && number == dma_recvs.posted) || !(status & DMA_COMPLETE)) {
        TRY(dma_queue_tell());
        /* While the CPU waits: a tile that is added reads its place, and one that is copied takes whole lines there. With
         * a coherent port that is done between two looks. */
        if (!AXL_DMA_COHERENT && queue.stride && queue.tile_bytes <= AHEAD_BYTES)
            for (uint32_t row = 0; row < to.rows; row++)
                bring((const char *)to.to + row * queue.stride);
        TRY(wait_for(&dma_recv_channel, from));
        status = from->status;
    }
    const int32_t *tile = slot(number);
    if (AXL_DMA_COHERENT && queue.take) /* on its way from L2 */
        for (uint32_t line = 0; line < AHEAD_LINES; line++)
            __builtin_prefetch((const char *)tile + line * LINE);
    if (AXL_DMA_COHERENT)
        __atomic_thread_fence(__ATOMIC_ACQUIRE); /* no word of it was read before */
    TRY(came(number, status, queue.take ? queue.tile_bytes : to.rows * to.cols));
    if (!queue.take) {
        if (!AXL_DMA_COHERENT && !queue.at_once)
            axl_cache_invalidate_rows(to.to, to.cols, to.rows, to.stride);
        return DMA_OK;
    }
    if (!AXL_DMA_COHERENT && queue.on_chip)
        axl_ocm_invalidate((uintptr_t)tile, queue.tile_bytes);
    else if (MAINTAINED)
        axl_cache_invalidate((uintptr_t)tile, queue.tile_bytes);
    /* Several parts at once if the CPU is late; their slots follow each other. */
    while (HOLDS_BACK && !(status & DMA_RXEOF) && dma_recvs.taken != dma_recvs.posted) {
        const uint32_t more = dma_recvs.taken & (AXL_RECV_RING - 1);
        status = dma_recv_ring[more].status;
        if (!(status & DMA_COMPLETE))
            break;
        TRY(came(dma_recvs.taken, status, queue.tile_bytes));
        to.rows += destinations[more].rows;
    }
    if (AXL_DMA_COHERENT && (int32_t)(queue.brought - dma_recvs.taken) < 0) {
        queue.brought = dma_recvs.taken;
        queue.brought_row = 0;
    }
    if (!HOLDS_BACK || to.rows)
        queue.take((void *)to.to, tile, to.rows, to.cols);
    if (HOLDS_BACK) {
        __builtin_prefetch((const void *)&dma_recv_ring[dma_recvs.taken & (AXL_RECV_RING - 1)]);
        post_slots();
    }
    if (HOLDS_BACK && dma_recvs.posted - dma_recvs.told >= queue.limit / 2)
        dma_tell_recvs();
    return DMA_OK;
}

static inline dma_status receive_part(void *to, uint32_t rows, uint32_t cols) {
    const uint32_t number = NAMED;
    if (number - dma_recvs.taken == (HOLDS_BACK ? AXL_RECV_RING : queue.limit))
        TRY(take_oldest());
    destinations[number & (AXL_RECV_RING - 1)] = (destination){(uintptr_t)to, rows, cols, 0};
    if (!HOLDS_BACK) {
        post_slot();
        return DMA_OK;
    }
    queue.named++;
    if (dma_recvs.told != queue.begun) { /* at the beginning the device waits for words */
        post_slots();
        if (number < AXL_RECV_RING) /* places come from memory at first */
            bring_row();
    }
    return DMA_OK;
}

ON_LINE dma_status dma_queue_receive(void *to, uint32_t rows, uint32_t cols) {
    if (!queue.take)
        return DMA_ERR_NOT_READY;
    for (uint32_t part = 0; SPINS && part < queue.last_part; part++) {
        const uint32_t here = rows < queue.rows ? rows : queue.rows;
        TRY(receive_part(to, here, cols));
        rows -= here;
        to = (char *)to + queue.rows * queue.stride;
    }
    return receive_part(to, rows, cols);
}

dma_status dma_queue_receive_rows(void *to, uint32_t row_bytes, uint32_t rows, uint32_t stride) {
    if (!queue.open || queue.take)
        return DMA_ERR_NOT_READY;
    if (((uintptr_t)to | row_bytes | stride) % (queue.own_bytes ? AXL_STREAM_BITS / 8 : LINE))
        return DMA_ERR_ALIGNMENT;
    if (dma_recvs.posted - dma_recvs.taken == queue.limit)
        TRY(take_oldest());
    if (!AXL_DMA_COHERENT && !queue.at_once) {
        if (row_bytes * (uint64_t)rows >= TOLD_BEFORE)
            TRY(dma_queue_tell());
        axl_cache_discard_rows((uintptr_t)to, row_bytes, rows, stride);
    }
    destinations[dma_recvs.posted & (AXL_RECV_RING - 1)] = (destination){(uintptr_t)to, rows, row_bytes, stride};
    dma_post_recv((uintptr_t)to, row_bytes, rows == 1 ? 0 : rows << 19 | stride);
    queue.named = dma_recvs.posted;
    return DMA_OK;
}

/* A tile's lines leave the caches before it is written and after, as everywhere; that another tile has a part of such a
 * line does not matter, as the CPU writes to neither, and the line leaves again with the other one. Only the lines at
 * the two ends may hold something else. What is large leaves the caches with everything else, which takes less; then
 * nothing that is sent has to be cleaned. */
dma_status dma_queue_own(void *to, uint32_t bytes) {
    const uintptr_t from = (uintptr_t)to, end = from + bytes;
    if (!queue.open || queue.take || queue.own_bytes || dma_recvs.posted != queue.begun)
        return DMA_ERR_NOT_READY;
    queue.own = from;
    queue.own_bytes = bytes;
    queue.clean = axl_cache_empties(bytes);
    queue.at_once = queue.clean || bytes >= AT_ONCE;
    if (AXL_DMA_COHERENT)
        return DMA_OK;
    axl_cache_clean(from, 1);
    axl_cache_clean(end - 1, 1);
    if (queue.at_once)
        axl_cache_discard(from, bytes);
    return DMA_OK;
}

dma_status dma_queue_clean_all(uint32_t bytes) {
    if (!queue.open)
        return DMA_ERR_NOT_READY;
    if (!AXL_DMA_COHERENT && !queue.clean)
        queue.clean = axl_cache_clean_all(bytes);
    return DMA_OK;
}

/* --- begin and end ------------------------------------------------------------------------------------------ */

/* The largest power of two of tiles, from 2 to `most`, that `words` words hold; nothing is divided, as a Cortex-A9
 * takes hundreds of cycles for that. */
static uint32_t tiles_in(uint32_t words, uint32_t tile_words, uint32_t most) {
    uint32_t count = 2;
    while (count < most && 2 * count * (uint64_t)tile_words <= words)
        count *= 2;
    return count;
}

/* The first ones of a queue are in the caches when it fills them in. */
static void bring_descriptors(void) {
    for (uint32_t i = 0; i < BROUGHT; i++)
        dma_bring(&dma_send_ring[i]);
    __builtin_prefetch(dma_recv_ring, 1);
    __builtin_prefetch(dma_recv_ring + 1, 1);
    for (uint32_t at = 0; at < sizeof destinations / 2; at += LINE)
        __builtin_prefetch((const char *)destinations + at, 1);
    for (uint32_t at = 0; at < sizeof queue; at += LINE)
        __builtin_prefetch((const char *)&queue + at, 1);
}

/* By dma_init: what does not change from queue to queue. */
void dma_queue_prepare(void) {
    queue.open = queue.lent = 0;
    queue.half_words = dma_in_window.size / 2 & ~(LINE / (uint32_t)sizeof(uint32_t) - 1);
    if (AXL_DMA_COHERENT)
        bring_descriptors();
}

/* A table has the DMA from here on. */
void dma_queue_lend(void) { queue.open = queue.lent = 1; }

dma_status dma_queue_open(uint32_t tile_words, dma_take *take) {
    if (!dma_in_window.words)
        return DMA_ERR_NOT_READY;
    if (queue.open || dma_send_channel.words || dma_recv_channel.words) {
        if (!queue.lent)
            return DMA_ERR_BUSY;
        TRY(dma_restart()); /* the DMA is at a table's descriptors */
        dma_queue_prepare();
    }
    if (tile_words == 0 || tile_words > DMA_BYTES / sizeof(uint32_t))
        return DMA_ERR_LENGTH;
    const int on_chip = HAS_OCM && !AXL_DMA_COHERENT && tile_words <= OCM_WORDS / 2;
    const uint32_t room = on_chip ? OCM_WORDS : dma_out_window.size;
    if (take && tile_words > room)
        return DMA_ERR_BOUNDS;
    uint32_t limit = AXL_RECV_RING / 2;
    if (take)
        limit = tiles_in(SLOT_WORDS < room ? SLOT_WORDS : room, tile_words, AXL_RECV_RING / 2);
    if (take && (uint64_t)limit * tile_words > room)
        limit = 1;
    /* A line that belongs to two slots would be thrown away with what the CPU has not read yet. */
    if (take && (on_chip || MAINTAINED) && tile_words % (LINE / sizeof(uint32_t)))
        limit = 1;
    queue.take = take;
    queue.stride = queue.last_part = 0;
    queue.slots = on_chip ? ocm_slots : (int32_t *)(void *)dma_out_window.words;
    queue.on_chip = on_chip;
    queue.tile_bytes = tile_words * (uint32_t)sizeof(uint32_t);
    queue.limit = limit;
    queue.begun = queue.named = queue.brought = dma_recvs.posted;
    queue.brought_row = 0;
    queue.own_bytes = 0;
    queue.at_once = queue.clean = 0;
    queue.open = 1;
    dma_sends.words = DMA_QUEUE_TELL; /* the DMA has nothing to do: the first rows are told at once */
    queue.half = queue.half_used = 0;
    queue.whole = 0;
    queue.half_last[0] = queue.half_last[1] = dma_sends.pushed;
    return DMA_OK;
}

/* With a coherent port the CPU takes the first part of a tile while the next one comes. The DMA says of each part that it
 * is there, but raises an interrupt for the tile alone. */
dma_status dma_queue_open_ahead(dma_take *take, uint32_t row_bytes, uint32_t rows, uint32_t stride, uint32_t most) {
    if (!take)
        return DMA_ERR_ARGUMENT;
    uint32_t parts = 1;
    while (SPINS && stride && 2 * parts <= most && rows % 2 == 0 && rows * row_bytes >= 2 * PART_BYTES) {
        rows /= 2;
        parts *= 2;
    }
    TRY(dma_queue_open(rows * row_bytes / (uint32_t)sizeof(int32_t), take));
    queue.rows = rows;
    queue.row_bytes = row_bytes;
    queue.stride = stride;
    queue.last_part = parts - 1;
    return DMA_OK;
}

dma_status dma_queue_close(void) {
    if (!queue.open)
        return DMA_ERR_NOT_READY;
    TRY(dma_queue_tell());
    while (dma_recvs.taken != NAMED) {
        if (HOLDS_BACK && queue.named - dma_recvs.taken == 1) /* there is time while the last one comes */
            TRY(wait_sent(dma_sends.pushed));
        TRY(take_oldest());
    }
    TRY(wait_sent(dma_sends.pushed));
    if (!AXL_DMA_COHERENT && queue.at_once)
        axl_cache_invalidate(queue.own, queue.own_bytes);
    queue.open = queue.clean = 0;
    queue.take = NULL;
    return DMA_OK;
}

/* --- what goes out ------------------------------------------------------------------------------------------ */

#if !AXL_DMA_COHERENT
ON_LINE void dma_clean_rows(const void *from, uint32_t row_bytes, uint32_t rows, uint32_t stride) {
    if (!queue.clean)
        axl_cache_clean_rows((uintptr_t)from, row_bytes, rows, stride);
}
#endif

/* Room for `words` words in the input window that no descriptor refers to any more; its offset. */
static dma_status window_room(uint32_t words, uint32_t *offset) {
    words = (words + LINE / 4 - 1) & ~(LINE / 4 - 1);
    if (words > dma_in_window.size)
        return DMA_ERR_BOUNDS;
    if (queue.whole || words > queue.half_words) {
        TRY(wait_sent(dma_sends.pushed));
        queue.half = queue.half_used = 0;
        queue.whole = words > queue.half_words;
    }
    if (!queue.whole && queue.half_used + words > queue.half_words) {
        queue.half_last[queue.half] = dma_sends.pushed;
        queue.half ^= 1;
        queue.half_used = 0;
        TRY(wait_sent(queue.half_last[queue.half]));
    }
    *offset = queue.half * queue.half_words + queue.half_used;
    queue.half_used += words;
    return DMA_OK;
}

static dma_status queue_window(uint32_t words, uint32_t offset) {
    if (MAINTAINED)
        axl_cache_clean((uintptr_t)(dma_in_window.words + offset), words * (uint32_t)sizeof(uint32_t));
    return dma_queue_rows(dma_in_window.words + offset, words * (uint32_t)sizeof(uint32_t), 1, 0);
}

#define DEFINE_QUEUE_TILE(KIND, T)                                                                             \
    dma_status dma_queue_tile_##KIND(const T *src, uint32_t rows, uint32_t cols,                               \
                                      ptrdiff_t row_stride, ptrdiff_t col_stride, uint32_t tile_rows,          \
                                      uint32_t tile_cols) {                                                    \
        const uint32_t words = tile_rows * (tile_cols / (4 / (uint32_t)sizeof(T)));                            \
        uint32_t offset;                                                                                       \
        if (!queue.open)                                                                                       \
            return DMA_ERR_NOT_READY;                                                                          \
        TRY(window_room(words, &offset));                                                                      \
        TRY(dma_put_tile_##KIND(src, rows, cols, row_stride, col_stride, tile_rows, tile_cols, offset));       \
        return queue_window(words, offset);                                                                    \
    }

DEFINE_QUEUE_TILE(i8, int8_t)
DEFINE_QUEUE_TILE(u8, uint8_t)
DEFINE_QUEUE_TILE(i16, int16_t)
DEFINE_QUEUE_TILE(i32, int32_t)
DEFINE_QUEUE_TILE(f32, float)

/* --- rows of whole arrays ------------------------------------------------------------------------------------- */

dma_status dma_queue_pair(uint32_t first, uint32_t second) {
    TRY(dma_queue_word(first));
    return dma_queue_word(second);
}

dma_status dma_queue_piece(const void *from, uint32_t row_bytes, uint32_t rows, uint32_t stride, int clean) {
    if (!clean)
        dma_clean_rows(from, row_bytes, rows, rows == 1 ? row_bytes : stride);
    return dma_queue_rows(from, row_bytes, rows, stride);
}

dma_status dma_queue_bytes(const void *from, uint32_t bytes) {
    for (uint32_t at = 0; at < bytes; at += 8192) {
        const uint32_t size = bytes - at < 8192 ? bytes - at : 8192;
        TRY(dma_queue_piece((const uint8_t *)from + at, size, 1, 0, 0));
    }
    return DMA_OK;
}

#endif
