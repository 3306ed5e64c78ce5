"""Names that a driver's function cannot have: it is a symbol of the program that people link."""

from __future__ import annotations

import re

from axiloom.drivergen.c.names import KEYWORDS, RUNTIME

_WORDS = frozenset(["asm", "bool", "true", "false", "typeof", "NULL", "INT32_MAX", "UINT32_MAX", "SIZE_MAX"])
"""What compilers and the headers of the runtime have beside C's keywords."""

_WITH_SUFFIXES = """
    acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs
    fdim floor fma fmax fmin fmod frexp hypot ilogb ldexp lgamma llrint llround log log10 log1p log2
    logb lrint lround modf nan nearbyint nextafter nexttoward pow remainder remquo rint round
    scalbln scalbn sin sinh sqrt tan tanh tgamma trunc cabs cacos cacosh carg casin casinh catan
    catanh ccos ccosh cexp cimag clog conj cpow cproj creal csin csinh csqrt ctan ctanh
"""
"""Of math.h and complex.h: each with f and l behind it, too."""

_PLAIN = """
    isalnum isalpha isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper isxdigit
    tolower toupper errno gamma j0 j1 jn y0 y1 yn setjmp longjmp signal raise clearerr fclose feof
    ferror fflush fgetc fgetpos fgets fopen fprintf fputc fputs fread freopen fscanf fseek fsetpos
    ftell fwrite getc getchar gets perror printf putc putchar puts remove rename rewind scanf setbuf
    setvbuf snprintf sprintf sscanf tmpfile tmpnam ungetc vfprintf vfscanf vprintf vscanf vsnprintf
    vsprintf vsscanf stdin stdout stderr abort abs atexit atof atoi atol atoll bsearch calloc div
    exit free getenv labs ldiv llabs lldiv malloc mblen mbstowcs mbtowc qsort rand realloc srand
    strtod strtof strtol strtold strtoll strtoul strtoull system wcstombs wctomb memchr memcmp
    memcpy memmove memset strcat strchr strcmp strcoll strcpy strcspn strerror strlen strncat
    strncmp strncpy strpbrk strrchr strspn strstr strtok strxfrm asctime clock ctime difftime gmtime
    localtime mktime strftime time access alarm bcmp bcopy brk bzero clock_gettime close connect dup
    dup2 environ execve fork fstat getpid index ioctl kill link lseek mmap mprotect munmap nanosleep
    open pause pipe poll pread pwrite read readlink recv rindex rmdir sbrk select send sigaction
    sleep socket stat sync syscall unlink usleep wait write
"""
"""Of the rest of C's library, and what a Linux program calls."""

LIBRARY = frozenset(
    {*_PLAIN.split(), *(f"{name}{suffix}" for name in _WITH_SUFFIXES.split() for suffix in ("", "f", "l"))}
)
HARNESS = frozenset({"status"})
"""Variables of the `main` that calls the function."""


def taken(name: str) -> str | None:
    """Whose name a function's is, for the end of a sentence; None if it is free. `main` is: it is renamed."""
    plain = re.sub(r"\W", "_", name, flags=re.ASCII)
    if name == "main":
        return None
    if KEYWORDS.fullmatch(plain) or plain in _WORDS:
        return f"`{plain}` is a word of C"
    if RUNTIME.match(plain) or RUNTIME.match(f"{plain}_init"):
        return f"`{plain}` is among the runtime's names (dma, dma_..., axl_..., TRY, ..._t, _...)"
    if plain in LIBRARY:
        return f"`{plain}` is a function of C's library"
    if plain in HARNESS:
        return f"`{plain}` is a variable of the program around it"
    return None


def renamed(name: str, c_name: str) -> str:
    """A sentence for the file's banner where C calls a function otherwise than the MLIR, else nothing."""
    return "" if name == c_name else f"@{ascii(name)[1:-1]} of the MLIR is {c_name} here."
