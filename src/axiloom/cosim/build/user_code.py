"""Compiling what a user wrote: C and C++, with macros and folders of theirs, and warnings that are shown.

Our own generated sources are compiled as strictly as the runtime (:mod:`axiloom.cosim.build.toolchain`); a
user's may be older, and say so in warnings. Each source becomes an object; the linker is that of the target.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from axiloom import boards, sw
from axiloom.base.cache import cached_build, content_hash
from axiloom.base.errors import CompileError
from axiloom.boards.hosts.host import Host
from axiloom.cosim.blocks import Block
from axiloom.cosim.build import bsp, guards
from axiloom.cosim.build.toolchain import (
    COMMON,
    FLAGS,
    LINK,
    PROGRAM,
    bare_target,
    hardware_macros,
    link_program,
    linux_target,
    macros_of,
    run_zig,
    runtime_objects,
)
from axiloom.isa import AcceleratorSpec

LINES, VARIABLES = ("-gline-tables-only",), ("-g2",)
"""From where in the source each instruction comes; for a debugger, where variables are, too. zig takes ``-g``
behind ``-g0`` for no wish at all."""
CXX = (".cpp", ".cc", ".cxx", ".C")
SUFFIXES = (".c", ".S", ".s", *CXX)
_BOTH = (
    "-Wall",
    "-UNDEBUG",
)  # zig defines NDEBUG where it optimises: assertions would be gone without a word
_C = ("-std=gnu17", *_BOTH)
_CXX = ("-std=c++17", *_BOTH, "-fno-threadsafe-statics")
_BARE_CXX = ("-fno-exceptions", "-fno-rtti", "-fno-PIC", "-U_FORTIFY_SOURCE")
"""No exceptions on bare metal: nothing unwinds there."""
START = sw.ROOT / "cxx" / "main.c"
_API = re.compile(r"-DSDT\b")
"""Macros that choose another form of the vendor's functions."""
_AS_PROGRAMS = ("-O3", "-fno-sanitize=undefined")
"""For the linker, though objects have flags of their own: else the compiler builds its libraries again, with
lines, and the sanitiser's."""
_WARNINGS = "warnings"
_SCRIPT = "link.ld"


@dataclass(frozen=True)
class CompileOptions:
    """What stands on the user's command line: macros (``NAME`` or ``NAME=VALUE``) and folders of headers.

    `compiler`: further flags, as the compiler takes them. `bsp`: against the vendor's API.
    """

    defines: tuple[str, ...] = ()
    include: tuple[Path, ...] = ()
    compiler: tuple[str, ...] = ()
    bsp: bool = False
    for_debugger: bool = False

    @property
    def places(self) -> tuple[str, ...]:
        """What the ELF file knows of its sources."""
        return VARIABLES if self.for_debugger else LINES

    @property
    def flags(self) -> tuple[str, ...]:
        return (*(f"-D{define}" for define in self.defines), *self.compiler)


NOTHING = CompileOptions()


def is_cxx(source: Path) -> bool:
    return source.suffix in CXX


def compile_user(
    sources: Sequence[Path],
    out: Path,
    *,
    board: boards.Board,
    spec: Sequence[AcceleratorSpec],
    linux: bool = False,
    irq: bool = False,
    options: CompileOptions = NOTHING,
    arrays: Collection[str] = (),
    opt: str = "-O3",
    beside: Sequence[Block] = (),
) -> tuple[Path, list[str]]:
    """Compile `sources` and link them with the runtime to the ELF `out`, for the CPU of `board`.

    Returns `out` and the compiler's warnings about the sources. The headers are those beside the sources and
    in the folders of `options`. Around `arrays`, which the caller fills or reads, there are guards.
    `beside`: neighbours of the accelerators, for a program on the vendor's API. CompileError carries the
    compiler's first error.
    """
    for source in sources:
        if source.suffix not in SUFFIXES:
            raise CompileError(f"{source}: only {', '.join(SUFFIXES)} can be compiled")
        if not source.is_file():
            raise CompileError(f"{source}: no such file")
    if options.bsp:
        return _compile_for_bsp(sources, out, bsp.Devices(board, tuple(spec), tuple(beside)), options, opt)
    host = board.host
    target = linux_target(host) if linux else bare_target(host)
    hardware = {
        **hardware_macros(spec),
        **({"AXL_LINUX": 1} if linux else {}),
        **({"AXL_DMA_IRQ": 1} if irq else {}),
    }
    macros = macros_of(board, hardware, {"AXL_DMA_CACHED": 0} if linux else {})
    runtime = runtime_objects(target, [*target.flags, *FLAGS, opt, *macros])
    folders = dict.fromkeys([*options.include, *(source.parent for source in sources)])
    guarding = (*options.places, *(guards.FLAGS if arrays else ()))
    script = guards.keeping_lines(target.script.read_text(encoding="utf-8"))
    if arrays:
        script = guards.with_guards(script, arrays)
    flags = [*macros, opt, *options.flags, *(f"-I{folder.absolute()}" for folder in folders)]
    headers = [file for folder in folders for file in sorted(folder.glob("*.h*"))]
    names = [path.name for path in (*sources, *headers)]
    languages = [_language(host, linux, target.include, source) for source in sources]
    cxx = any(map(is_cxx, sources))
    key = content_hash(
        "user", runtime.name, languages, flags, names, *sources, *headers, guarding, script, START
    )

    def build(folder: Path) -> None:
        said, objects = [], []
        for number, (source, language) in enumerate(zip(sources, languages, strict=True)):
            objects.append(str(folder / f"user{number}.o"))
            said += run_zig(
                [*language, *COMMON, *guarding, *flags, "-c", "-o", objects[-1], str(source.absolute())],
                folder,
            )
        if cxx and not linux:
            objects.append(str(folder / "start_cxx.o"))
            run_zig(["cc", *target.flags, *COMMON, opt, "-c", "-o", objects[-1], str(START)], folder)
        own = [str(runtime / f"{source.stem}.o") for source in (*target.sources, target.strings)]
        (folder / _SCRIPT).write_text(script, encoding="utf-8")
        linker = [
            "c++" if cxx and linux else "cc",
            *target.flags,
            *_AS_PROGRAMS,
            *("-T", str(folder / _SCRIPT)),
            *LINK,
            *target.link,
        ]
        wrap = ["-Wl,--wrap=main"] if cxx and not linux else []
        link_program(target, [*linker, *wrap, "-o", str(folder / PROGRAM), *own, *objects], folder, cxx)
        (folder / _WARNINGS).write_text("\n".join(said), encoding="utf-8")

    folder = cached_build(target.name, key, build)
    out.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(folder / PROGRAM, out)
    return out, (folder / _WARNINGS).read_text(encoding="utf-8").splitlines()


def _compile_for_bsp(
    sources: Sequence[Path],
    out: Path,
    devices: bsp.Devices,
    options: CompileOptions,
    opt: str,
) -> tuple[Path, list[str]]:
    runtime = bsp.build(devices, [flag for flag in options.flags if _API.match(flag)])
    folders = dict.fromkeys([*options.include, *(source.parent for source in sources), runtime, bsp.INCLUDE])
    flags = [opt, *bsp.AS_GCC, *options.flags, *(f"-I{folder.absolute()}" for folder in folders)]
    headers = [file for folder in folders for file in sorted(folder.glob("*.h*"))]
    names = [path.name for path in (*sources, *headers)]
    key = content_hash(
        "bsp", runtime.name, options.places, flags, bsp.LINKED, names, *sources, *headers, bsp.SCRIPT
    )

    def build(folder: Path) -> None:
        said, objects = [], []
        for number, source in enumerate(sources):
            language = _language(devices.board.host, True, (), source)
            objects.append(str(folder / f"user{number}.o"))
            own = [*language, *COMMON, *options.places, *flags]
            said += run_zig([*own, "-c", "-o", objects[-1], str(source.absolute())], folder)
        bsp.link(devices, runtime, objects, folder, any(map(is_cxx, sources)))
        (folder / _WARNINGS).write_text("\n".join(said), encoding="utf-8")

    folder = cached_build("bsp-program", key, build)
    out.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(folder / PROGRAM, out)
    return out, (folder / _WARNINGS).read_text(encoding="utf-8").splitlines()


def _language(host: Host, linux: bool, include: Sequence[Path], source: Path) -> tuple[str, ...]:
    """The compiler's command for a source, with what its language wants.

    On bare metal C++ is compiled against the headers of the Linux target: what is in headers alone works
    (``<array>``, ``<cstdint>``, ``<type_traits>``), and the linker names what is not.
    """
    if not is_cxx(source):
        own = host.linux.flags if linux and host.linux else host.bare.flags
        return ("cc", *own, *(_C if source.suffix == ".c" else ()), *(f"-I{folder}" for folder in include))
    if host.linux is None:
        raise CompileError(
            f"{source}: C++ takes a host with a Linux target, and {host.title} has none: write C"
        )
    runtime = f"-I{sw.ROOT / 'include'}"
    return ("c++", *host.linux.flags, *_CXX, *(() if linux else _BARE_CXX), runtime)
