/* The functional model as an accelerator: a part of axl_core.h. rtl/axl_model.v has the ports, Python the model.
 *
 * Python is called once for each portion of words that the model waits for: an instruction's first beat, and its
 * payload. All that happens in between, beat by beat, is here. */
#ifndef AXL_MODEL_H
#define AXL_MODEL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- RTL side */

/* Bits of axl_model_step: the registered outputs in the next cycle. */
enum {
    AXL_MODEL_READY = 1,      /* a beat is taken if one is offered */
    AXL_MODEL_VALID = 2,      /* a beat is offered: its words by axl_model_out */
    AXL_MODEL_LAST = 4,       /* with TLAST */
    AXL_MODEL_COMPUTE = 8,    /* multiply-adds are active */
    AXL_MODEL_BUSY = 16,      /* something changes without a beat on either stream: step again at the next edge */
    AXL_MODEL_ERROR_SHIFT = 8 /* four bits: the DeviceError that stopped it, until reset */
};
/* `number`: which accelerator, from 0 on. */
void axl_model_reset(int number);
void axl_model_word(int number, int word);    /* each word of a beat that is taken at this edge, before the step */
int axl_model_step(int number, int taken);    /* one edge; taken: the beat that was offered left at it */
int axl_model_out(int number, int lane);      /* a word of the beat that is now offered */

/* ---- Python side */

typedef struct axl_answer {
    uint64_t cycles;      /* of the array, for what these words made the model compute; 0: nothing */
    uint32_t wanted;      /* words that it waits for now, 1 or more */
    uint32_t error;       /* DeviceError, 0 while it runs */
    uint32_t n;           /* words that it sends: whole beats */
    uint32_t unused;
    const uint32_t *words;
    const uint8_t *last;  /* a flag for each of them */
} axl_answer;
/* The model takes `n` words; n 0: it is reset. What the answer points at lasts until the next call. */
typedef void (*axl_model_function)(int number, const uint32_t *words, uint32_t n, axl_answer *answer);

/* From here on `number` is executed by `function`. `ahead`: computes, and results, that may wait or be under way
 * before it takes no more beats. `latency`: cycles from the array's last to the result's first beat. */
void axl_model_connect(int number, uint32_t beat_words, uint32_t ahead, uint32_t latency, axl_model_function function);

#ifdef __cplusplus
}
#endif
#endif
