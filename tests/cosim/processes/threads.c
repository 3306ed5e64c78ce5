/* Threads that wait for each other, signals, timers, and descriptors to wait on. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int queue[4], head, tail, sum, event;
static volatile int stop, ticks;

static void *takes(void *argument) {
    for (int i = 0; i < 20; i++) {
        pthread_mutex_lock(&mutex);
        while (head == tail)
            pthread_cond_wait(&changed, &mutex);
        sum += queue[tail++ % 4];
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&mutex);
    }
    while (!stop) /* only another thread ends this */
        continue;
    return (char *)argument + 1;
}

static void *writes(void *argument) {
    uint64_t value = 3;
    usleep(2000);
    return write(event, &value, sizeof value) == sizeof value ? argument : NULL;
}

static void on_alarm(int signal) { ticks += signal == SIGALRM; }
static void on_user(int signal, siginfo_t *information, void *context) { ticks += context && information->si_signo == signal ? 100 : 0; }

static long us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int main(void) {
    pthread_t thread;
    void *returned;
    uint64_t value;
    pthread_create(&thread, NULL, takes, (void *)41);
    for (int i = 0; i < 20; i++) {
        pthread_mutex_lock(&mutex);
        while (head - tail == 4)
            pthread_cond_wait(&changed, &mutex);
        queue[head++ % 4] = i;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&mutex);
    }
    usleep(5000);
    stop = 1;
    pthread_join(thread, &returned);
    if (returned != (void *)42 || sum != 190)
        return 2;

    struct sigaction action = {.sa_sigaction = on_user, .sa_flags = SA_SIGINFO};
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    if (ticks != 100)
        return 3;
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &blocked, NULL);
    raise(SIGUSR1);
    if (ticks != 100)
        return 4;
    pthread_sigmask(SIG_UNBLOCK, &blocked, NULL);
    if (ticks != 200)
        return 5;

    signal(SIGALRM, on_alarm);
    struct itimerval every = {{0, 1000}, {0, 1000}};
    long from = us();
    setitimer(ITIMER_REAL, &every, NULL);
    while (ticks < 205)
        continue;
    if (us() - from < 5000 || us() - from > 5100)
        return 6;
    struct itimerval once = {{0, 0}, {0, 3000}};
    setitimer(ITIMER_REAL, &once, NULL);
    if (usleep(20000) != -1 || errno != EINTR)
        return 7;

    int timer = timerfd_create(CLOCK_MONOTONIC, 0);
    struct itimerspec first = {{0, 0}, {0, 2000000}};
    timerfd_settime(timer, 0, &first, NULL);
    if (read(timer, &value, sizeof value) != sizeof value || value != 1)
        return 8;
    event = eventfd(0, 0);
    pthread_create(&thread, NULL, writes, &value);
    struct pollfd waits[2] = {{event, POLLIN, 0}, {77, POLLIN, 0}};
    if (poll(waits, 1, -1) != 1 || poll(waits, 2, 0) != 2 || waits[1].revents != POLLNVAL)
        return 9;
    pthread_join(thread, &returned);
    if (returned != &value || read(event, &value, sizeof value) != sizeof value || value != 3)
        return 10;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 1000000;
    pthread_mutex_lock(&mutex);
    if (pthread_cond_timedwait(&changed, &mutex, &until) != ETIMEDOUT)
        return 11;
#ifdef DEADLOCK
    pthread_mutex_lock(&mutex);
#endif
#ifdef FORK
    fork();
#endif
#ifdef KILLED
    raise(SIGTERM);
#endif
    return 0;
}
