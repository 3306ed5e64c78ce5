/* What SVC asks for: a program's own services, and the C library's system calls on a board without an operating system:
 * text to and from the UART, memory, time, the end. The library is musl; numbers and results are those of Linux on ARM
 * (linux/arch/arm/tools/syscall.tbl). */
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "sleep.h"
#include "xil_exception.h"
#include "xil_printf.h"
#include "xtime_l.h"

void axl_exception(u32 id);
void _exit(int status) __attribute__((noreturn));
void _Exit(int status) { _exit(status); }

enum { PAGE = 4096, ARM_SET_TLS = 0x0F0005, ABORTED = 134 };

extern char axl_heap[], axl_heap_end[];

/* One byte a page of the heap: taken by the mapping of this number, or 0. */
static uint8_t pages[0x2000];

static long map(uint32_t bytes) {
    static uint8_t last;
    const uint32_t all = (uint32_t)(axl_heap_end - axl_heap) / PAGE, wanted = (bytes + PAGE - 1) / PAGE;
    last = last == 255 ? 1 : last + 1;
    for (uint32_t i = 0, run = 0; i < all && i < sizeof pages; i++) {
        run = pages[i] ? 0 : run + 1;
        if (run == wanted) {
            char *const begin = axl_heap + (i + 1 - wanted) * PAGE;
            memset(pages + i + 1 - wanted, last, wanted);
            memset(begin, 0, wanted * PAGE);
            return (long)begin;
        }
    }
    return -ENOMEM;
}

static long unmap(uintptr_t address, uint32_t bytes) {
    const uint32_t first = (uint32_t)(address - (uintptr_t)axl_heap) / PAGE;
    memset(pages + first, 0, (bytes + PAGE - 1) / PAGE);
    return 0;
}

/* A terminal wants CR before LF. */
static long put(const char *text, uint32_t bytes) {
    for (uint32_t i = 0; i < bytes; i++) {
        if (text[i] == '\n')
            outbyte('\r');
        outbyte(text[i]);
    }
    return (long)bytes;
}

/* A line at most: whoever reads more asks again. */
static long take(char *text, uint32_t bytes) {
    uint32_t i = 0;
    while (i < bytes) {
        const char c = inbyte();
        text[i++] = c == '\r' ? '\n' : c;
        if (text[i - 1] == '\n')
            break;
    }
    return (long)i;
}

static long put_all(const struct iovec *parts, int count) {
    long bytes = 0;
    for (int i = 0; i < count; i++)
        bytes += put(parts[i].iov_base, parts[i].iov_len);
    return bytes;
}

static long take_all(const struct iovec *parts, int count) {
    for (int i = 0; i < count; i++)
        if (parts[i].iov_len)
            return take(parts[i].iov_base, parts[i].iov_len);
    return 0;
}

static long tell_time(int64_t *seconds_64, int32_t *seconds_32) {
    XTime now;
    XTime_GetTime(&now);
    const int64_t seconds = (int64_t)(now / COUNTS_PER_SECOND);
    const int32_t nano = (int32_t)(now % COUNTS_PER_SECOND * 1000000000u / COUNTS_PER_SECOND);
    if (seconds_64)
        seconds_64[0] = seconds, seconds_64[1] = nano;
    else
        seconds_32[0] = (int32_t)seconds, seconds_32[1] = nano;
    return 0;
}

static long set_thread(uintptr_t address) {
    __asm__ volatile("mcr p15, 0, %0, c13, c0, 3" ::"r"(address)); /* TPIDRURO */
    return 0;
}

/* The number within the instruction that SVC was. */
static uint32_t immediate(uintptr_t behind, uint32_t status) {
    enum { THUMB = 0x20 };
    return status & THUMB ? ((const uint16_t *)behind)[-1] & 0xFF : ((const uint32_t *)behind)[-1] & 0xFFFFFF;
}

/* `words`: R0 to R5, R7, R12, LR of the caller; where it goes on, and its status. */
long axl_system_call(const uint32_t *words) {
    const uint32_t first = words[0], second = words[1];
    if (immediate(words[9], words[10])) { /* the library's are all `svc #0` */
        axl_exception(XIL_EXCEPTION_ID_SWI_INT);
        return (long)first;
    }
    switch (words[6]) {
    case SYS_write:
        return put((const char *)second, words[2]);
    case SYS_writev:
        return put_all((const struct iovec *)second, (int)words[2]);
    case SYS_read:
        return first == 0 ? take((char *)second, words[2]) : -EBADF;
    case SYS_readv:
        return first == 0 ? take_all((const struct iovec *)second, (int)words[2]) : -EBADF;
    case SYS_ioctl: /* the three streams are a terminal */
        return first <= 2 ? 0 : -ENOTTY;
    case SYS__llseek:
        return -ESPIPE;
    case SYS_open:
    case SYS_openat:
        return -ENOENT;
    case SYS_mmap2:
        return (int32_t)words[4] == -1 ? map(second) : -ENODEV;
    case SYS_munmap:
        return unmap(first, second);
    case SYS_clock_gettime64:
        return tell_time((int64_t *)second, 0);
    case SYS_clock_gettime32:
        return tell_time(0, (int32_t *)second);
    case SYS_clock_nanosleep_time64:
    case SYS_nanosleep: {
        const uint32_t *wanted = (const uint32_t *)(words[6] == SYS_nanosleep ? first : words[2]);
        const int is_64 = words[6] != SYS_nanosleep;
        sleep(wanted[0]);
        usleep(wanted[is_64 ? 2 : 1] / 1000u);
        return 0;
    }
    case SYS_tkill:
    case SYS_tgkill: /* abort, a false assert */
        _exit(ABORTED);
    case SYS_exit:
    case SYS_exit_group:
        _exit((int)first);
    case ARM_SET_TLS:
        return set_thread(first);
    case SYS_set_tid_address:
    case SYS_gettid:
    case SYS_getpid:
        return 1;
    case SYS_close:
    case SYS_futex:
    case SYS_madvise:
    case SYS_mprotect:
    case SYS_rt_sigaction:
    case SYS_rt_sigprocmask:
        return 0;
    default:
        return -ENOSYS;
    }
}
