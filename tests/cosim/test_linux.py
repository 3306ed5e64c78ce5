"""Linux processes on the simulated SoC: system calls, files, memory, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from axiloom import boards, isa, sw
from axiloom.base.errors import DriverError
from axiloom.boards import Board
from axiloom.cosim import linux
from axiloom.cosim.build import toolchain
from axiloom.cosim.build.toolchain import compile_linux
from axiloom.cosim.core import Core

A9 = boards.load("pynq-z2")
A53 = boards.load("zcu104")
CPUS = pytest.mark.parametrize("board", [A9, A53], ids=lambda board: str(board.architecture))

CALLS = {
    "armv7": """
static long call(long number, long a, long b, long c, long d, long e, long f) {
    register long r7 __asm__("r7") = number, r0 __asm__("r0") = a, r1 __asm__("r1") = b, r2 __asm__("r2") = c;
    register long r3 __asm__("r3") = d, r4 __asm__("r4") = e, r5 __asm__("r5") = f;
    __asm__ volatile("svc 0" : "+r"(r0) : "r"(r7), "r"(r1), "r"(r2), "r"(r3), "r"(r4), "r"(r5) : "memory");
    return r0;
}
enum { EXIT = 248, READ = 3, WRITE = 4, OPENAT = 322, MMAP = 192, BRK = 45,
       CLOCK = 403, CLOSE = 6, PWRITE = 181 };
#define OFFSET(bytes) ((bytes) / 4096)
""",
    "aarch64": """
static long call(long number, long a, long b, long c, long d, long e, long f) {
    register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d, x4 __asm__("x4") = e, x5 __asm__("x5") = f;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    return x0;
}
enum { EXIT = 94, READ = 63, WRITE = 64, OPENAT = 56, MMAP = 222, BRK = 214,
       CLOCK = 113, CLOSE = 57, PWRITE = 68 };
#define OFFSET(bytes) (bytes)
""",
}
HEAD = """
void __libc_start_main(void) {}
static long say(const char *text) {
    long n = 0;
    while (text[n]) n++;
    return call(WRITE, 1, (long)text, n, 0, 0, 0);
}
static long file(const char *path, long flags) { return call(OPENAT, -100, (long)path, flags, 0, 0, 0); }
long result[4];
static int body(long *stack);
__attribute__((used)) void begin(long *stack) { call(EXIT, body(stack), 0, 0, 0, 0, 0); }
"""
START = {"armv7": "mov r0, sp\\n bl begin", "aarch64": "mov x0, sp\\n bl begin"}


def process(folder: Path, board: Board, body: str, *specs: isa.AcceleratorSpec) -> Core:
    """What is left of a process without a C library, which is `body`, run without RTL."""
    cpu = board.architecture
    source = folder / "process.c"
    start = f'__asm__(".global _start\\n_start:\\n{START[cpu]}\\n");'
    source.write_text(f"{CALLS[cpu]}{HEAD}{start}\nstatic int body(long *stack) {{ (void)stack; {body} }}\n")
    flags = ["-nostdlib", "-fno-stack-protector", "-Wno-unused-function"]
    target = toolchain.linux_target(board.host)
    elf = folder / "process.elf"
    arguments = [
        *target.flags,
        *toolchain.FLAGS,
        *flags,
        "-static",
        *target.link,
        "-o",
        str(elf),
        str(source),
    ]
    toolchain.run_zig(["cc", *arguments], folder)
    core = Core(board, *specs)
    core.begin(elf)
    core.run()
    return core


@CPUS
def test_writes_and_exits(tmp_path: Path, board: Board) -> None:
    core = process(tmp_path, board, 'say("first\\n"); return say("second\\n") == 7 ? 3 : 1;')
    assert (core.console, core.state.exit_code) == ("first\nsecond\n", 3)
    assert core.activity()["syscalls"] == 3


@CPUS
def test_stack_has_arguments_and_headers(tmp_path: Path, board: Board) -> None:
    body = """
    if (stack[0] != 1 || !stack[1] || stack[2] || stack[3]) return 1;
    for (long *at = stack + 4; at[0]; at += 2)
        if (at[0] == 3) return *(unsigned *)at[1] == 6 ? 0 : 2; /* AT_PHDR: the first one is PT_PHDR */
    return 4;"""
    assert process(tmp_path, board, body).state.exit_code == 0


@CPUS
def test_memory(tmp_path: Path, board: Board) -> None:
    body = """
    long end = call(BRK, 0, 0, 0, 0, 0, 0);
    if (call(BRK, end + 8192, 0, 0, 0, 0, 0) != end + 8192) return 1;
    *(long *)(end + 8000) = 7;
    long one = call(MMAP, 0, 5000, 3, 0x22, -1, 0), two = call(MMAP, 0, 4096, 3, 0x22, -1, 0);
    if (one % 4096 || two % 4096 || two + 4096 > one) return 2;
    *(long *)(one + 8184) = 9;
    return *(long *)two == 0 ? 0 : 3;"""
    assert process(tmp_path, board, body).state.exit_code == 0


@CPUS
def test_files_are_those_of_the_devices(tmp_path: Path, board: Board) -> None:
    body = """
    static char text[32];
    long fd = file("/sys/class/uio/uio0/maps/map0/addr", 0);
    if (fd < 3 || call(READ, fd, (long)text, 31, 0, 0, 0) != 11) return 1;
    say(text);
    if (call(READ, fd, (long)text, 31, 0, 0, 0) != 0 || call(CLOSE, fd, 0, 0, 0, 0, 0)) return 2;
    if (file("/sys/class/uio/uio2/name", 0) != -2) return 3;
    if (file("/dev/uio0", 2) != fd) return 4;
    return call(MMAP, 0, 4096, 3, 1, fd, 0) == 0x40400000 ? 0 : 5;"""
    core = process(tmp_path, board, body, isa.builtin("v3", 4))
    assert (core.state.exit_code, core.console) == (0, "0x40400000\n")


@CPUS
def test_udmabuf_is_uncached_with_o_sync(tmp_path: Path, board: Board) -> None:
    body = """
    long fd = file("/dev/udmabuf0", 2 | {flags});
    int *at = (int *)call(MMAP, 0x16000000, 65536, 3, 0x11, fd, OFFSET(0x400000));
    if (at != (int *)0x16000000) return 1;
    for (int i = 0; i < 1000; i++) ((volatile int *)at)[i] = i;
    return 0;"""
    cached = process(tmp_path, board, body.replace("{flags}", "0")).activity()["uncached_stores"]
    uncached = process(tmp_path, board, body.replace("{flags}", "04010000")).activity()["uncached_stores"]
    assert (cached, uncached) == (0, 1000)


def test_sync_file_cleans_lines(tmp_path: Path) -> None:
    body = """
    long fd = file("/dev/udmabuf0", 2), sync = file("/sys/class/u-dma-buf/udmabuf0/sync_for_device", 1);
    volatile int *at = (int *)call(MMAP, 0x16000000, 65536, 3, 0x11, fd, OFFSET(0x400000));
    for (int i = 0; i < 64; i++) at[i] = i;
    return call(PWRITE, sync, (long){text}, 18, 0, 0, 0) == 18 ? 0 : 1;"""
    good = process(tmp_path, A9, body.replace("{text}", '"0x0040000000000101"'))
    assert good.state.exit_code == 0
    assert good.activity()["maintenance"] == 2 * 0x100 // 32  # both levels, line by line
    outside = process(tmp_path, A9, body.replace("{text}", '"0x0400000000000101"'))
    assert outside.state.exit_code == 1


@CPUS
def test_clock_is_simulated_time(tmp_path: Path, board: Board) -> None:
    body = """
    long long now[2], later[2];
    call(CLOCK, 1, (long)now, 0, 0, 0, 0);
    for (volatile int i = 0; i < 100000; i++) {}
    call(CLOCK, 1, (long)later, 0, 0, 0, 0);
    result[0] = later[1] - now[1];
    return 0;"""
    core = process(tmp_path, board, body)
    took = int(core.read("result", (1,), "int32")[0]) * board.cpu_hz / 1e9
    assert 100_000 < took < core.counters()["cpu-cycles"]


@pytest.mark.parametrize(
    ("board", "number", "name"),
    [(A9, 360, "inotify_init1"), (A53, 26, "inotify_init1"), (A9, 999, None)],
    ids=["armv7", "aarch64", "no name"],
)
def test_unknown_call_is_named(tmp_path: Path, board: Board, number: int, name: str | None) -> None:
    with pytest.raises(DriverError) as raised:
        process(tmp_path, board, f"return (int)call({number}, 0, 0, 0, 0, 0, 0);")
    text = str(raised.value)
    named = f"{number} ({name})" if name else str(number)
    assert text.startswith(f"system call {named} at pc 0x")
    assert text.endswith("it is not one of those that are simulated")
    assert "begin" in text or "call" in text  # where


def test_map_at_another_address_is_refused(tmp_path: Path) -> None:
    body = """
    long fd = file("/dev/udmabuf0", 2);
    return call(MMAP, 0x18000000, 4096, 3, 0x11, fd, 0) != 0;"""
    with pytest.raises(
        DriverError, match=r"/dev/udmabuf0 mapped at 0x18000000: .* only its own address, 0x15C00000"
    ):
        process(tmp_path, A9, body)


def test_program_for_another_cpu(tmp_path: Path) -> None:
    core = process(tmp_path, A9, "return 0;")
    assert core.program is not None
    with pytest.raises(DriverError, match=r"process\.elf is for armv7; the CPU of zcu104 is aarch64"):
        Core(A53).begin(core.program.path)


def test_names_of_calls() -> None:
    named = linux.with_names("system call 322 at pc 0x1: no", A9.host)
    assert named == "system call 322 (openat) at pc 0x1: no"
    assert linux.with_names("a store to 0x1", A9.host) == "a store to 0x1"


def test_region_is_in_memory() -> None:
    with pytest.raises(DriverError, match="region that Linux reserves for DMAs ends behind RAM"):
        linux.files([], sw.LINUX_REGION_ADDRESS)


@pytest.mark.slow  # musl is built at first use
@CPUS
def test_c_library(tmp_path: Path, board: Board) -> None:
    source = tmp_path / "hello.c"
    source.write_text("""
        #include <errno.h>
        #include <stdio.h>
        #include <stdlib.h>
        int main(int argc, char **argv) {
            char *text = malloc(100000);
            snprintf(text, 100000, "%s has %d argument%s", argv[0], argc, argc == 1 ? "" : "s");
            printf("%s, %.3f\\n", text, 1.0 / 3);
            errno = 0;
            return fopen("/etc/passwd", "r") || errno != ENOENT;
        }""")
    elf = compile_linux([source], tmp_path / "hello.elf", board=board)
    core = Core(board)
    core.begin(elf)
    core.run()
    assert (core.state.exit_code, core.console) == (0, "driver has 1 argument, 0.333\n")
