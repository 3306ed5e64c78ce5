/* main of a bare-metal program with C++ in it: objects outside of functions are constructed first, as a C library's
 * start code would do. The linker gives main that name (--wrap), so that the C program's start code serves both. */

typedef void (*constructor)(void);
extern constructor __init_array_start[], __init_array_end[];
int __real_main(int argc, char **argv);
int __wrap_main(int argc, char **argv);

int __wrap_main(int argc, char **argv)
{
    for (constructor *one = __init_array_start; one != __init_array_end; one++)
        (*one)();
    return __real_main(argc, argv);
}

/* A pure virtual function was called; and destructors of objects outside of functions never run: nothing ends. */
void __cxa_pure_virtual(void);
void __cxa_pure_virtual(void)
{
    __builtin_trap();
}
int __cxa_atexit(void (*destroy)(void *), void *object, void *handle);
int __cxa_atexit(void (*destroy)(void *), void *object, void *handle)
{
    (void)destroy, (void)object, (void)handle;
    return 0;
}
void *__dso_handle;

/* What assert() of the C library's header calls: exit code 134, as abort() has elsewhere. */
extern volatile unsigned axiloom_exit_code;
void axiloom_exit(void) __attribute__((noreturn));
void __assert_fail(const char *text, const char *file, int line, const char *function);
void __assert_fail(const char *text, const char *file, int line, const char *function)
{
    (void)text, (void)file, (void)line, (void)function;
    axiloom_exit_code = 134;
    axiloom_exit();
}
