/* A buffer of dma-heap between CPU and DMA, registers by /dev/mem; -D NO_SYNC leaves its caches as they are. */
#include "dma.h"

#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/dma-heap.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int sync_buffer(int buffer, uint64_t flags) {
#ifdef NO_SYNC
    (void)buffer, (void)flags;
    return 0;
#else
    struct dma_buf_sync sync = {flags};
    return ioctl(buffer, DMA_BUF_IOCTL_SYNC, &sync);
#endif
}

int main(void) {
    struct dma_heap_allocation_data data = {.len = 8192, .fd_flags = O_RDWR | O_CLOEXEC};
    uint64_t entry;
    if (ioctl(open("/dev/dma_heap/reserved", O_RDWR), DMA_HEAP_IOCTL_ALLOC, &data))
        return 2;
    volatile uint32_t *buffer = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, (int)data.fd, 0);
    map_dma(open("/dev/mem", O_RDWR | O_SYNC), 0x40400000);
    if (sync_buffer((int)data.fd, DMA_BUF_SYNC_START | DMA_BUF_SYNC_RW))
        return 3;
    fill(buffer);
    if (pread(open("/proc/self/pagemap", O_RDONLY), &entry, 8, (off_t)((uintptr_t)buffer / 4096 * 8)) != 8 || !(entry >> 63))
        return 4;
    if (sync_buffer((int)data.fd, DMA_BUF_SYNC_END | DMA_BUF_SYNC_RW))
        return 5;
    start((uint32_t)((entry & 0x7FFFFFFFFFFFFF) * 4096), 1);
    while (!(REGISTER(S2MM_DMASR) & 2))
        usleep(1);
    if (sync_buffer((int)data.fd, DMA_BUF_SYNC_START | DMA_BUF_SYNC_READ))
        return 6;
    if (!wrong(buffer))
        return 0;
    puts("old data");
    return 7;
}
