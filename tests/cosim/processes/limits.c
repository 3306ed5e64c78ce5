/* Counts and sizes that no program should pass: what the kernel says to them. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static void on_alarm(int signal) { (void)signal; }

int main(void) {
    fd_set set;
    FD_ZERO(&set);
    struct timeval at_once = {0, 0};
    if (select(-1, &set, NULL, NULL, &at_once) != -1 || errno != EINVAL)
        return 1;
    if (select(1 << 30, &set, NULL, NULL, &at_once) != 0)
        return 2;
    struct pollfd waits = {0, POLLIN, 0};
    if (poll(&waits, (nfds_t)1 << (8 * sizeof(nfds_t) - 3), 0) != -1 || errno != EINVAL)
        return 3;
    struct iovec part = {0};
    if (writev(1, &part, 5000) != -1 || errno != EINVAL || writev(1, (struct iovec *)-4096, 1) != -1 || errno != EFAULT)
        return 4;
    if (mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED || errno != EINVAL)
        return 5;
    if (mmap(NULL, SIZE_MAX, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED || errno != ENOMEM)
        return 6;
    int last = 0;
    while (last < 2000 && (errno = 0, last = eventfd(0, 0)) >= 0)
        continue;
    if (last != -1 || errno != EMFILE || close(1023))
        return 7;
    signal(SIGALRM, on_alarm);
    struct itimerval once = {{0, 0}, {0, 3000}};
    setitimer(ITIMER_REAL, &once, NULL);
    struct timespec for_ever = {sizeof(time_t) == 8 ? (time_t)(1ull << 56) : 0x7FFFFFFF, 0};
    if (nanosleep(&for_ever, NULL) != -1 || errno != EINTR)
        return 8;
    return 0;
}
