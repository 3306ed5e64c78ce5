/* A DMA that is not on this machine's buses: the driver runs on a PC, registers and windows are behind a line. */
#ifndef AXILOOM_REMOTE_H
#define AXILOOM_REMOTE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Both move `count` words from the address `address` of the board on, and return 0, or anything else if the line
 * failed; then no further call follows. */
typedef struct {
    int (*write)(uint32_t address, const uint32_t *words, uint32_t count);
    int (*read)(uint32_t address, uint32_t *words, uint32_t count);
} axl_remote;

/* Before the driver's first call. */
void axl_remote_attach(const axl_remote *line);

#ifdef __cplusplus
}
#endif
#endif
