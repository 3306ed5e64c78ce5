"""The C library of Linux programs, musl: of its files only those that programs need.

The compiler builds all 1,300 files before it links its first program: a minute of CPU, for a program that
needs a tenth of them. Here each file is compiled when a program needs one of its symbols, with the compiler's
own options for it; what of the library is written in Zig, the compiler adds by itself. Which file has which
symbols is read off the texts. That may be wrong; so what does not link is linked as the compiler does it.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Collection, Iterator
from functools import cache, partial
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from axiloom.base import processes
from axiloom.base.cache import cached_build, content_hash

START = "__libc_start_main"
COMMON = (
    *(
        "printf",
        "sprintf",
        "snprintf",
        "puts",
        "putchar",
        "fputs",
        "fopen",
        "fread",
        "fgets",
        "fflush",
        "sscanf",
    ),
    *("strtol", "strtoul", "strtod", "qsort", "open", "read", "write", "ioctl", "mmap", "munmap", "mremap"),
    *(
        "poll",
        "select",
        "clock_gettime",
        "usleep",
        "nanosleep",
        "time",
        "sigaction",
        "exit",
        "abort",
        "perror",
    ),
    *("getenv", "rand", "srand", "sched_getaffinity", "exp", "expf", "fma", "log", "logf", "round", "roundf"),
    *("sqrt", "trunc", "truncf"),
)
"""What most programs, and the part in Zig, call."""
_SUFFIXES = (".c", ".s", ".S")
_OPTIONS = (
    *(
        "-g0",
        "-nostdinc",
        "-fno-sanitize=undefined",
        "-ffunction-sections",
        "-fdata-sections",
        "-fno-builtin",
    ),
    *("-fno-stack-protector", "-fno-PIC", "-std=c99", "-ffreestanding", "-fexcess-precision=standard"),
    *("-frounding-math", "-ffp-contract=off", "-fno-strict-aliasing", "-Wa,--noexecstack"),
    *("-D_XOPEN_SOURCE=700", "-Os", "-Qunused-arguments", "-w"),
)
_DEFINED = re.compile(r"^(?!#|typedef|static|extern)\w[\w \t*,()]*?\b(\w+)\s*[(=;\[]", re.MULTILINE)
_ALIAS = re.compile(r"(?:weak|strong)_alias\s*\(\s*\w+\s*,\s*(\w+)\s*\)")
_GLOBAL = re.compile(r"\.(?:global|globl|weak)\s+(\w+)")
_RENAMED = re.compile(r"^(?:#define[ \t]+|__REDIR\()(\w+)(?:[ \t]+|, *)(\w+)\)?;?[ \t]*$", re.MULTILINE)
"""In headers: what the texts call one name the objects call another."""
_EMPTY = ("crtn", "crtbegin", "crtend")
_ARCHIVES = ("m", "pthread", "rt", "dl", "util", "xnet", "resolv", "crypt")
_JOBS = 2


Run = Callable[[list[str], Path], object]
"""Runs the compiler with arguments for a build in a folder."""


class Library:
    """musl for programs with the compiler's options `flags`.

    `root` is the compiler's folder, `version` its version, and `arch` the machine as musl calls it.
    """

    def __init__(self, root: Path, run: Run, version: str, arch: str, flags: tuple[str, ...]) -> None:
        self._run, self._version, self._flags = run, version, flags
        libc = root / "lib" / "libc"
        self._musl, headers = libc / "musl", libc / "include"
        self._headers = [headers / f"{arch}-linux-musl", headers / "generic-musl"]
        inner = [f"arch/{arch}", "arch/generic", "src/include", "src/internal", "include"]
        self._include = [f"-I{path}" for path in (*(self._musl / name for name in inner), *self._headers)]
        self._files = _files(self._musl, arch)

    def archive(self, symbols: Collection[str]) -> Path:
        """What has `symbols`, and what it needs in turn."""

        def build(folder: Path) -> None:
            self._run(["ar", "rcs", str(folder / "libc.a"), *map(str, self._needed(symbols))], folder)

        return cached_build("libc", self._key(sorted(symbols)), build) / "libc.a"

    def _folder(self) -> Path:
        def build(folder: Path) -> None:
            (folder / "empty.c").write_text("")
            self._compile(folder / "empty.c", folder / "crti.o")
            for name in _EMPTY:
                shutil.copyfile(folder / "crti.o", folder / f"{name}.o")
            shutil.copyfile(self._object(self._musl / "crt" / "crt1.c", "-DCRT"), folder / "crt1.o")
            shutil.copyfile(self.archive((START, *COMMON)), folder / "libc.a")
            for name in _ARCHIVES:
                (folder / f"lib{name}.a").write_bytes(b"!<arch>\n")

        return cached_build("libc", self._key(), build)

    def installation(self) -> str:
        """What the compiler reads instead of building a library itself: what common programs need.

        It is the same for all programs, since the compiler builds its own part again for another.
        """
        folder, (own, generic) = self._folder(), self._headers
        places = {"include_dir": generic, "sys_include_dir": own, "crt_dir": folder, "cc_dir": folder}
        others = ("msvc_lib_dir", "kernel32_lib_dir", "darwin_sdk_dir")
        return "".join(f"{name}={place}\n" for name, place in (places | dict.fromkeys(others, "")).items())

    def _needed(self, symbols: Collection[str]) -> list[Path]:
        """The objects that have `symbols`, and what these need in turn."""
        objects: dict[Path, None] = {}
        known: set[str] = set()
        wanted = set(symbols)
        while wanted:
            files = sorted({file for symbol in wanted for file in self._files.get(symbol, ())})
            made = processes.all_of([partial(self._object, file) for file in files], _JOBS)
            known |= wanted
            needs: set[str] = set()
            for compiled in made:
                defined, undefined = _symbols(compiled)
                if defined & wanted:
                    objects[compiled] = None
                    needs |= undefined
            wanted = needs - known
        return list(objects)

    def _object(self, file: Path, *options: str) -> Path:
        path = file.relative_to(self._musl).as_posix()
        name = f"{path.replace('/', '_')}.o"
        key = self._key(path, options)
        return cached_build("musl", key, lambda folder: self._compile(file, folder / name, *options)) / name

    def _compile(self, file: Path, out: Path, *options: str) -> None:
        arguments = [*self._flags, *_OPTIONS, *self._include, *options, "-c", str(file), "-o", str(out)]
        self._run(["cc", *arguments], out.parent)

    def _key(self, *parts: object) -> str:
        return content_hash(Path(__file__), self._version, self._flags, *parts)


@cache
def _files(musl: Path, arch: str) -> dict[str, list[Path]]:
    """The files by the symbols that they may have; a machine's own take the places of those for all."""
    source, plain, own = musl / "src", [], {}
    for file in sorted(source.rglob("*")):
        if file.suffix not in _SUFFIXES:
            continue
        if len(parts := file.relative_to(source).parts) == 2:
            plain.append(file)
        elif parts[-2] == arch:
            own[file.parent.parent / file.stem] = file
    files = [file for file in plain if file.with_suffix("") not in own] + [*own.values()]
    by_symbol: dict[str, list[Path]] = {}
    for file in files:
        for symbol in {*_names(file)}:
            by_symbol.setdefault(symbol, []).append(file)
    headers = [*(musl / "include").rglob("*.h"), *source.rglob("*.h")]
    for text in (header.read_text(encoding="utf-8", errors="replace") for header in sorted(headers)):
        for name, symbol in _RENAMED.findall(text):
            by_symbol.setdefault(symbol, []).extend(by_symbol.get(name, ()))
    # Most functions are in a file of their name.
    return {
        symbol: [file for file in files if file.stem == symbol] or files
        for symbol, files in by_symbol.items()
    }


def _names(file: Path) -> Iterator[str]:
    text = file.read_text(encoding="utf-8", errors="replace")
    yield file.stem
    yield from _ALIAS.findall(text)
    yield from (_DEFINED if file.suffix == ".c" else _GLOBAL).findall(text)


def _symbols(compiled: Path) -> tuple[set[str], set[str]]:
    """The global symbols that an object has, and those that it lacks."""
    sides: tuple[set[str], set[str]] = set(), set()
    with compiled.open("rb") as file:
        for table in ELFFile(file).iter_sections():
            if isinstance(table, SymbolTableSection):
                for symbol in table.iter_symbols():
                    if symbol.name and symbol["st_info"]["bind"] != "STB_LOCAL":
                        sides[symbol["st_shndx"] == "SHN_UNDEF"].add(symbol.name)
    return sides
