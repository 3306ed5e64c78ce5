/* Waits for the DMA's interrupt as drivers with UIO do; with -D NEVER_ENABLED, NO_IRQ or OTHER_LINE it is wrong. */
#include "dma.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

#ifdef OTHER_LINE
#define WAITS_ON "/dev/uio1" /* MM2S's */
#else
#define WAITS_ON "/dev/uio0"
#endif
#ifdef NEVER_ENABLED
#define ENABLES 0
#else
#define ENABLES 1
#endif
#ifdef NO_IRQ
#define RECEIVE 1
#else
#define RECEIVE 0x1001
#endif

static long us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int main(void) {
    int registers = open("/dev/uio0", O_RDWR), uio = open(WAITS_ON, O_RDWR), memory = open("/dev/udmabuf0", O_RDWR | O_SYNC);
    map_dma(registers, 0);
    volatile uint32_t *buffer = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0x400000);
    struct pollfd waits = {uio, POLLIN, 0};
    uint32_t count = 0, one = 1;
    long from = us();
    if (poll(&waits, 1, 2) != 0 || us() - from < 2000 || us() - from > 2200)
        return 2; /* nothing has happened yet */
    for (int round = 1; round <= 3; round++) {
        fill(buffer);
        if (ENABLES && write(uio, &one, sizeof one) != sizeof one)
            return 3;
        start((uint32_t)(uintptr_t)buffer, RECEIVE);
        if (round == 2 && (poll(&waits, 1, -1) != 1 || waits.revents != POLLIN))
            return 4;
        fd_set set;
        FD_ZERO(&set);
        FD_SET(uio, &set);
        if (round == 3 && (select(uio + 1, &set, NULL, NULL, NULL) != 1 || !FD_ISSET(uio, &set)))
            return 5;
        if (read(uio, &count, sizeof count) != sizeof count || count != (uint32_t)round || wrong(buffer))
            return 6;
        if (!(REGISTER(S2MM_DMASR) & 0x1000))
            return 7;
        REGISTER(S2MM_DMASR) = 0x1000;
    }
    fcntl(uio, F_SETFL, O_NONBLOCK);
    if (read(uio, &count, sizeof count) != -1 || errno != EAGAIN || read(uio, &count, 2) != -1 || errno != EINVAL)
        return 8;
    return 0;
}
