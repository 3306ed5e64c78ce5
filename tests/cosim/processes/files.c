/* Arguments, places in files, memory that is given back, epoll. */
#include <errno.h>
#include <fcntl.h>
#include <linux/dma-heap.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

#define BYTES (1 << 20)
static char *anonymous(size_t bytes) {
    return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static int arguments(int count, char **words) {
    return !(count == 3 && !strcmp(words[0], "driver") && !strcmp(words[1], "in put.bin") && !strcmp(words[2], "-n=64") && !words[3]);
}

static int places(void) {
    char text[32] = "";
    struct stat about;
    int file = open("/sys/class/uio/uio0/name", O_RDONLY), uio = open("/dev/uio0", O_RDWR | O_NONBLOCK);
    int end = (int)lseek(file, 0, SEEK_END);
    if (end != 13 || lseek(file, -5, SEEK_CUR) != 8 || read(file, text, 32) != 5 || strcmp(text, "dma0\n"))
        return 1;
    if (lseek(file, -1, SEEK_SET) != -1 || errno != EINVAL || fstat(file, &about) || about.st_size != 13)
        return 2;
    uint32_t count = 0;
    if (lseek(uio, 7, SEEK_SET) != 0 || read(uio, &count, 4) != -1 || errno != EAGAIN)
        return 3; /* a place in it is none of its events */
    if (pread(uio, &count, 4, 0) != -1 || errno != EAGAIN)
        return 4;
    int event = eventfd(1, 0);
    uint64_t first = 0, second = 0, most = UINT64_MAX;
    struct iovec parts[2] = {{&first, 8}, {&second, 8}};
    if (readv(event, parts, 2) != 8 || first != 1 || write(event, &most, 8) != -1 || errno != EINVAL)
        return 5;
    return 0;
}

static int memory(void) {
    int heap = open("/dev/dma_heap/reserved", O_RDWR);
    struct dma_heap_allocation_data data = {.len = BYTES, .fd_flags = O_RDWR};
    if (ioctl(heap, DMA_HEAP_IOCTL_ALLOC, &data) || lseek((int)data.fd, 0, SEEK_END) != BYTES)
        return 1;
    char *buffer = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, (int)data.fd, 0);
    strcpy(buffer, "of the device");
    munmap(buffer, BYTES); /* its descriptor is open: nobody else may have it */
    char *other = anonymous(BYTES);
    memset(other, 1, BYTES);
    if (mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, (int)data.fd, 0) != buffer || strcmp(buffer, "of the device"))
        return 2;
    close((int)data.fd); /* it is mapped */
    char *third = anonymous(BYTES);
    memset(third, 1, BYTES);
    if (strcmp(buffer, "of the device") || munmap(buffer + 1, 4096) != -1 || errno != EINVAL)
        return 3;
    munmap(buffer, BYTES);
    if (anonymous(BYTES) != buffer || buffer[0])
        return 4; /* it is free, and zero */
    munmap(third + BYTES / 4, BYTES / 4);
    if (anonymous(BYTES / 4) != third + BYTES / 4 || third[0] != 1 || third[BYTES / 2] != 1)
        return 5;
    for (int round = 0; round < 3000; round++) { /* far more than there is, in any order */
        char *a = anonymous(BYTES), *b = anonymous(BYTES);
        if (a == MAP_FAILED || b == MAP_FAILED || munmap(a, BYTES) || munmap(b, BYTES))
            return 6;
    }
    return 0;
}

static int watching(void) {
    struct epoll_event wanted = {.events = EPOLLIN, .data.u64 = 0x123456789ABCull}, there[4];
    struct itimerspec in = {{0, 2000000}, {0, 1000000}}, before = {{9, 9}, {9, 9}};
    uint64_t value = 5;
    int epoll = epoll_create1(EPOLL_CLOEXEC), event = eventfd(0, 0), timer = timerfd_create(CLOCK_MONOTONIC, 0);
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, event, &wanted) || epoll_ctl(epoll, EPOLL_CTL_ADD, event, &wanted) != -1 || errno != EEXIST)
        return 1;
    wanted.data.u64 = 2, wanted.events = EPOLLIN | EPOLLONESHOT;
    if (epoll_ctl(epoll, EPOLL_CTL_MOD, timer, &wanted) != -1 || errno != ENOENT || epoll_ctl(epoll, EPOLL_CTL_ADD, timer, &wanted))
        return 2;
    if (epoll_wait(epoll, there, 4, 0) != 0 || epoll_wait(epoll, there, 0, 0) != -1 || errno != EINVAL)
        return 3;
    if (timerfd_settime(timer, 0, &in, &before) || before.it_value.tv_sec || before.it_interval.tv_nsec)
        return 4;
    if (epoll_wait(epoll, there, 4, -1) != 1 || there[0].data.u64 != 2 || there[0].events != EPOLLIN)
        return 5;
    if (epoll_wait(epoll, there, 4, 5) != 0) /* once */
        return 6;
    if (write(event, &value, 8) != 8 || epoll_wait(epoll, there, 1, 100) != 1 || there[0].data.u64 != 0x123456789ABCull)
        return 7;
    wanted.events = EPOLLIN;
    if (epoll_ctl(epoll, EPOLL_CTL_MOD, timer, &wanted) || epoll_wait(epoll, there, 4, -1) != 2)
        return 8;
    close(event);
    if (epoll_wait(epoll, there, 4, -1) != 1 || epoll_ctl(epoll, EPOLL_CTL_DEL, timer, NULL) || epoll_wait(epoll, there, 4, 3) != 0)
        return 9;
#ifdef EDGE
    wanted.events = EPOLLIN | EPOLLET;
    epoll_ctl(epoll, EPOLL_CTL_ADD, timer, &wanted);
#endif
    return 0;
}

int main(int count, char **words) {
    int wrong = arguments(count, words) ? 100 : places();
    if (!wrong)
        wrong = (wrong = memory()) ? 20 + wrong : (wrong = watching()) ? 40 + wrong : 0;
    return wrong;
}
