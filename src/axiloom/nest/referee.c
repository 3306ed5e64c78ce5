/* Calls a function of C on arrays from a file, and writes what they hold after each call:
 *     referee FUNCTION INPUT OUTPUT CALLS
 * The functions, how many arrays each has, their names and bytes come from the text that `referee.py` writes;
 * FUNCTION is a place in it.
 *
 * An array ends where a page ends that nobody may touch, so that an access beyond it stops the process. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

extern const struct axiloom_function {
    unsigned long count;
    const unsigned long *bytes;
    const char *const *names;
    void (*call)(void **arrays);
} axiloom_functions[];
static const struct axiloom_function *function;

static char *first[256], *last[256]; /* pages, with the forbidden ones */

static void stop(int number, siginfo_t *info, void *context)
{
    const char *name = 0;
    (void)context;
    for (unsigned long k = 0; k < function->count; k++)
        if ((char *)info->si_addr >= first[k] && (char *)info->si_addr < last[k])
            name = function->names[k];
    if (name)
        fprintf(stderr, "an access outside of %s\n", name);
    else
        fprintf(stderr, "signal %d, %s\n", number, strsignal(number));
    _exit(3);
}

/* As the circuit: subnormal operands and results are zero. */
static void flush_subnormals(void)
{
#if defined(__x86_64__)
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);
#elif defined(__aarch64__)
    unsigned long mode;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    __asm__ volatile("msr fpcr, %0" ::"r"(mode | 1ul << 24));
#endif
}

static int unwritten(void)
{
    perror(0);
    return 74; /* EX_IOERR */
}

int main(int arguments, char **words)
{
    static void *arrays[256];
    struct sigaction action = {.sa_sigaction = stop, .sa_flags = SA_SIGINFO};
    unsigned long page = (unsigned long)sysconf(_SC_PAGESIZE);
    FILE *input = arguments == 5 ? fopen(words[2], "rb") : 0, *output = input ? fopen(words[3], "wb") : 0;
    struct rlimit stack;
    if (!output || (function = &axiloom_functions[atoi(words[1])])->count > 256)
        return 2;
    if (!getrlimit(RLIMIT_STACK, &stack) && stack.rlim_cur != stack.rlim_max) { /* locals of C may be large */
        stack.rlim_cur = stack.rlim_max;
        if (!setrlimit(RLIMIT_STACK, &stack))
            execv(words[0], words);
    }
    for (unsigned long k = 0; k < function->count; k++) {
        unsigned long whole = (function->bytes[k] + page - 1) / page * page;
        first[k] = mmap(0, whole + 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (first[k] == MAP_FAILED)
            return 2;
        last[k] = first[k] + whole + 2 * page;
        mprotect(first[k], page, PROT_NONE);
        mprotect(last[k] - page, page, PROT_NONE);
        arrays[k] = last[k] - page - function->bytes[k];
        if (fread(arrays[k], 1, function->bytes[k], input) != function->bytes[k])
            return 2;
    }
    sigaction(SIGSEGV, &action, 0);
    sigaction(SIGBUS, &action, 0);
    sigaction(SIGFPE, &action, 0);
    sigaction(SIGILL, &action, 0);
    for (int call = 0; call < atoi(words[4]); call++) {
        flush_subnormals();
        function->call(arrays);
        for (unsigned long k = 0; k < function->count; k++)
            if (fwrite(arrays[k], 1, function->bytes[k], output) != function->bytes[k])
                return unwritten();
    }
    return fclose(output) ? unwritten() : 0;
}
