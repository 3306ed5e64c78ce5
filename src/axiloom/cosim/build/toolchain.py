"""Cross-compiling for the board's CPU with the pinned compiler (clang in ziglang): bare metal and Linux.

Every program is linked with the runtime in ``sw/``; on bare metal with start-up code and linker script too,
for Linux statically with musl (``libc.py``).

Programs carry no debug information, and builds age. The compiler's own library brought a megabyte to each
ELF. Runtime objects are compiled once for a set of flags; builds that nobody used for 30 days are
removed.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from axiloom import boards, sw
from axiloom.base import processes
from axiloom.base.cache import cached_build, content_hash, writable_root
from axiloom.base.errors import BuildError, CompileError, SpecError
from axiloom.boards import hosts
from axiloom.boards.hosts.host import Host
from axiloom.cosim.build import libc
from axiloom.isa import AcceleratorSpec, check_together

COMMON = (
    *("-g0", "-fno-sanitize=undefined", "-ffunction-sections"),
    "-momit-leaf-frame-pointer",  # small functions called often take tiles and clean lines
    *(
        "-ffp-contract=off",
        "-fno-math-errno",
    ),  # floats in every bit as written; no errno, so sqrt is an instruction
)
FLAGS = ("-std=c99", "-Wall", "-Wextra", "-Werror", *COMMON)
LINK = ("-static", "-Wl,--gc-sections")


@dataclass(frozen=True)
class Target:
    """A machine and what runs on it."""

    name: str
    flags: tuple[str, ...]
    sources: tuple[Path, ...]
    """The runtime."""
    strings: Path
    """<string.h>, compiled with -fno-builtin: it is what the compiler's builtins call."""
    include: tuple[Path, ...]
    script: Path
    link: tuple[str, ...] = ()
    library: str = ""
    """The machine as musl calls it; empty: there is no C library."""


def bare_target(host: Host) -> Target:
    """Of programs without an operating system."""
    bare = host.bare
    return Target(bare.folder, bare.flags, bare.sources, bare.strings, bare.include, bare.script)


def linux_target(host: Host) -> Target:
    """Of static Linux programs. UsageError where none run."""
    host.check_linux()
    assert host.linux is not None
    return Target(
        f"linux-{host.architecture}",
        # Arrays in sections of their own: link.ld takes those of the harness by name.
        (*host.linux.flags, "-fdata-sections"),
        sw.LINUX_SOURCES,
        host.bare.strings,
        (sw.ROOT / "include",),
        sw.LINUX_SCRIPT,
        (f"-Wl,--image-base={sw.LINUX_IMAGE_BASE:#x}",),
        _MUSL.get(host.architecture, host.architecture),
    )


_MUSL = {"armv7": "arm"}
_SOURCES = (".c", ".S", ".s")
_FOLDERS = ("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR")
PROGRAM = "program.elf"
_OTHERS = re.compile(r"-D(?!AXL_)")
_MESSAGE = re.compile(r"\berror:")
_TOO_LARGE = re.compile(r"will not fit in region 'ddr': overflowed by (\d+) bytes")
_UNDEFINED = re.compile(r"undefined (?:\w+ )?symbol: (\S+)")
_LIBC = "libc.txt"
_WARNING = re.compile(r": warning: ")


@cache
def _zig() -> str:
    """The program itself: Python before it takes as long as a short compilation."""
    spec = importlib.util.find_spec("ziglang")
    if spec is None or spec.origin is None:
        raise BuildError("the cross compiler is not installed: run pip install ziglang")
    return str(Path(spec.origin).parent / "zig")


def _environment(work: Path | None = None) -> dict[str, str]:
    """Zig keeps what all programs share under our cache, and what is of one program in `work`."""
    shared = writable_root() / "zig"
    local = work / ".zig" if work else shared
    return {**os.environ, **dict(zip(_FOLDERS, (str(shared), str(local)), strict=True))}


def _plain(argument: str, stack: ExitStack) -> str:
    """`argument`; its folder by a name that zig reads (:func:`axiloom.base.processes.plain`)."""
    option = "-I" if argument.startswith("-I") else ""
    if not option and argument.startswith("-"):
        return argument  # a macro may be longer than any path
    path = Path(argument.removeprefix(option))
    folder = path if path.is_dir() else path.parent
    if not folder.is_dir():
        return argument
    plain = processes.plain(folder, stack)
    return argument if plain == folder else f"{option}{plain / path.relative_to(folder)}"


@cache
def version() -> str:
    """Version of ziglang, and with it of its clang. BuildError if it is not installed."""
    return processes.run([_zig(), "version"], env=_environment()).stdout.strip()


def compile_bare(
    sources: Sequence[Path],
    out: Path,
    *,
    board: boards.Board | None = None,
    spec: AcceleratorSpec | Sequence[AcceleratorSpec] | None = None,
    irq: bool = False,
    length_bits: int = 26,
    include: Sequence[Path] = (),
    defines: Mapping[str, object] | None = None,
    opt: str = "-O3",
    flags: Sequence[str] = (),
    script: Path | None = None,
) -> Path:
    """Compile C99 and assembler `sources` and link them with the runtime to the ELF `out`; returns `out`.

    It runs on bare metal, on the CPU of `board` (None: a Cortex-A9).

    The DMA is the one of `spec`; without, one in simple mode with a LENGTH register of `length_bits`.
    Several specifications: AXL_ID_<name> is the number of an accelerator for dma_select (its place among
    `spec`), and AXL_DMA_<name> the arguments of its dma_init.
    The runtime polls it, or with `irq` sleeps until its interrupt. `defines` are macros (an AXL_* one
    takes the place of the board's). `flags` come after ours. The result is taken from the cache if neither
    sources, headers beside them and in `include`, flags nor compiler have changed. CompileError carries the
    compiler's first error. `script` is a linker script in place of ours.
    """
    hardware: dict[str, object] = {"AXL_DMA_IRQ": 1} if irq else {}
    hardware |= hardware_macros(spec) if spec else {"AXL_LENGTH_BITS": length_bits}
    macros = macros_of(board, hardware, defines or {})
    target = bare_target(board.host if board else hosts.get())
    target = replace(target, script=script or target.script)
    return _compile(target, sources, out, include, [*macros, *flags], opt)


def compile_linux(
    sources: Sequence[Path],
    out: Path,
    *,
    board: boards.Board | None = None,
    spec: AcceleratorSpec | Sequence[AcceleratorSpec] | None = None,
    length_bits: int = 26,
    include: Sequence[Path] = (),
    defines: Mapping[str, object] | None = None,
    opt: str = "-O3",
    flags: Sequence[str] = (),
) -> Path:
    """As :func:`compile_bare`: a static Linux program for the CPU of `board` (None: a Cortex-A9).

    UsageError where no Linux programs run on it.

    The DMA's windows are mapped uncached, unless its port is coherent or `defines` say AXL_DMA_CACHED=1.
    """
    hardware = hardware_macros(spec) if spec else {"AXL_LENGTH_BITS": length_bits}
    macros = macros_of(board, {**hardware, "AXL_LINUX": 1}, {"AXL_DMA_CACHED": 0, **(defines or {})})
    target = linux_target(board.host if board else hosts.get())
    return _compile(target, sources, out, include, [*macros, *flags], opt)


def _compile(
    target: Target,
    sources: Sequence[Path],
    out: Path,
    include: Sequence[Path],
    flags: Sequence[str],
    opt: str,
) -> Path:
    for source in sources:
        if source.suffix not in _SOURCES:
            raise CompileError(f"{source}: only {', '.join(_SOURCES)} can be compiled")
        if not source.is_file():
            raise CompileError(f"{source}: no such file")
    arguments = [*target.flags, *FLAGS, opt, *flags]
    folders = dict.fromkeys([*include, *(source.parent for source in sources)])
    headers = [header for folder in folders for header in sorted(folder.glob("*.h"))]
    # The runtime knows AXL_* macros alone: the sizes of one driver make it no other.
    runtime = runtime_objects(target, [flag for flag in arguments if not _OTHERS.match(flag)])
    names = [path.name for path in (*sources, *headers)]
    link = [*LINK, *target.link]
    key = content_hash(runtime.name, arguments, link, names, *sources, *headers, target.script)

    def build(folder: Path) -> None:
        paths = [f"-I{path}" for path in (*include, *target.include)]
        objects = [runtime / f"{source.stem}.o" for source in (*target.sources, target.strings)]
        inputs = [source.absolute() for source in sources]
        if target.library:  # the linker's headers are not all of the compiler's
            for number, source in enumerate(inputs):
                inputs[number] = folder / f"own{number}.o"
                run_zig(["cc", *arguments, *paths, "-c", "-o", str(inputs[number]), str(source)], folder)
        script = ("-T", str(target.script))  # a comma in a path would end what -Wl takes
        command = ["cc", *arguments, *paths, *script, *link, "-o", str(folder / PROGRAM)]
        link_program(target, [*command, *map(str, (*objects, *inputs))], folder)

    out.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(cached_build(target.name, key, build) / PROGRAM, out)
    return out


def link_program(target: Target, command: Sequence[str], folder: Path, cxx: bool = False) -> None:
    """Link a program in `folder`. What one of Linux needs of the C library is compiled first."""
    if not target.library:
        run_zig(command, folder)
        return
    with ExitStack() as stack:
        odd = processes.plain(writable_root(), stack) != writable_root()  # no name for a file of Zig's
    if not cxx and not odd:
        library = libc.Library(Path(_zig()).parent, run_zig, version(), target.library, target.flags)
        (folder / _LIBC).write_text(library.installation(), encoding="utf-8")
        more: set[str] = set()
        while True:
            archives = [str(library.archive(more))] if more else []
            try:
                run_zig([*command, *archives], folder, ZIG_LIBC=str(folder / _LIBC))
                return
            except UndefinedError as error:
                if error.symbols <= more:
                    break
                more |= error.symbols
    library_of(target, cxx)
    run_zig(command, folder)


def library_of(target: Target, cxx: bool = False) -> None:
    """Let the compiler build the C library of Linux programs, at first use, and say so on standard error.

    Half a minute of CPU, and as long again for that of C++.
    """
    compiler = "c++" if cxx else "cc"

    def build(folder: Path) -> None:
        print(
            f"building the {'C++' if cxx else 'C'} library for {target.name}, once, from the sources that "
            "came with ziglang: half a minute of CPU, no download",
            file=sys.stderr,
            flush=True,
        )
        source = folder / "main.c"
        source.write_text("int main(void) { return 0; }\n", encoding="utf-8")
        language = ["-x", "c++"] if cxx else []
        run_zig([compiler, *flags, *LINK, *language, str(source), "-o", str(folder / PROGRAM)], folder)

    # With the flags of programs: the compiler has a library for each kind of optimisation.
    flags = (*target.flags, *COMMON, "-O3")
    cached_build("libc", content_hash(version(), compiler, target.name, flags), build)


def hardware_macros(spec: AcceleratorSpec | Sequence[AcceleratorSpec]) -> dict[str, object]:
    """Macros that the runtime is compiled with for the DMA of `spec`, or of each of several (``axiloom.h``).

    Raises SpecError for accelerators that do not fit together.
    """
    specs = (spec,) if isinstance(spec, AcceleratorSpec) else tuple(spec)
    faults = check_together(specs)
    if faults:
        raise SpecError(faults)
    macros: dict[str, object] = {
        "AXL_LENGTH_BITS": min(device.link.dma.length_width for device in specs),
        "AXL_DMA_SG": int(specs[0].link.dma.scatter_gather),
        "AXL_STREAM_BITS": specs[0].link.stream_width,
    }
    if specs[0].link.dma.coherent:
        macros["AXL_DMA_COHERENT"] = 1
    if len(specs) == 1:
        return macros
    macros["AXL_DMAS"] = len(specs)
    for number, device in enumerate(specs):
        name, dma = re.sub(r"\W", "_", device.name), device.link.dma
        macros[f"AXL_ID_{name}"] = number
        windows = (dma.input_address, dma.input_buffer_size, dma.output_address, dma.output_buffer_size)
        macros[f"AXL_DMA_{name}"] = ",".join(map(hex, (dma.address, *windows)))
    return macros


def macros_of(
    board: boards.Board | None, hardware: Mapping[str, object], defines: Mapping[str, object]
) -> list[str]:
    macros = dict(hardware)
    if board:
        macros["AXL_CPU_HZ"] = f"{board.cpu_hz}u"
        macros["AXL_CACHE_LINE"] = f"{board.line_bytes}u"
        macros.setdefault("AXL_DMA_CACHED", int(board.simulation.dma_cached))
        macros.setdefault("AXL_DMA_COHERENT", int(board.simulation.dma_buffers == "coherent"))
    macros.update(defines)
    return [f"-D{name}={value}" for name, value in macros.items()]


def runtime_objects(target: Target, arguments: list[str]) -> Path:
    """The folder with the objects of start-up code and runtime, compiled with `arguments`."""
    headers = sorted(sw.ROOT.rglob("*.h"))
    sources = (*target.sources, target.strings)
    key = content_hash(version(), arguments, *sources, *headers)
    paths = [f"-I{path}" for path in target.include]

    def build(folder: Path) -> None:
        for source in sources:
            own = ["-fno-builtin"] if source == target.strings else []
            compiled = str(folder / f"{source.stem}.o")
            run_zig(["cc", *arguments, *paths, *own, "-c", "-o", compiled, str(source)], folder)

    return cached_build("runtime", key, build)


class UndefinedError(CompileError):
    """A program does not link: `symbols` are in none of its objects."""

    def __init__(self, message: str, symbols: set[str]) -> None:
        self.symbols = symbols
        super().__init__(message)


def run_zig(arguments: Sequence[str], folder: Path, **variables: str) -> list[str]:
    """Run the compiler for a build in `folder`, and leave nothing of its own cache there. Returns warnings.
    `variables` are of its environment.

    CompileError carries its first error.
    """
    with ExitStack() as stack:
        environment = _environment(folder) | variables
        for name in _FOLDERS:
            Path(environment[name]).mkdir(parents=True, exist_ok=True)
            environment[name] = _plain(environment[name], stack)
        command = [_zig(), *(_plain(argument, stack) for argument in arguments)]
        done = processes.run(command, env=environment)
    shutil.rmtree(folder / ".zig", ignore_errors=True)
    lines = done.stderr.splitlines()
    if done.returncode == 0:
        return [line.strip() for line in lines if _WARNING.search(line)]
    errors = [line.strip() for line in lines if _MESSAGE.search(line)]
    if beyond := [int(match[1]) for line in lines if (match := _TOO_LARGE.search(line))]:
        raise CompileError(
            f"the program with its arrays is {max(beyond):,} bytes larger than the memory of programs "
            "(`ddr` in the linker script); take a smaller problem"
        )
    if undefined := {match[1] for line in lines if (match := _UNDEFINED.search(line))}:
        raise UndefinedError(errors[0] if errors else lines[0], undefined)
    raise CompileError(errors[0] if errors else f"the cross compiler failed: {done.stderr.strip()[-300:]}")
