"""From an instruction of a program to the line of the user's source, by the line tables of DWARF.

Of sources only what the user wrote is compiled with line tables, so what has a line is the program's own
code. A user's ELF file may have those of a C library, too, that a toolchain compiled: they are left out.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any

from elftools.common.exceptions import DWARFError, ELFError
from elftools.elf.elffile import ELFFile

from axiloom.cosim.elf import Program, Symbol

_LIBRARY = re.compile(
    r"/lib/(c|std|compiler_rt)(/.*)?\.zig$|/lib/libc/"  # of zig
    r"|/(glibc|musl|newlib|picolibc|uclibc|compiler-rt|libgcc)(-[\d.]+)?/"
)
"""Sources of C libraries and compilers' runtimes, by where they lie when they are compiled."""


@dataclass(frozen=True)
class Lines:
    """The lines of one program; without any it knows no place."""

    rows: tuple[tuple[int, int, str, int], ...] = ()
    """First address, the one behind, file, line: by address."""
    _begins: tuple[int, ...] = field(default=(), repr=False)

    def at(self, address: int) -> str | None:
        """``driver.c:12``, or None for code without a line."""
        index = bisect_right(self._begins, address) - 1
        if index < 0 or address >= self.rows[index][1]:
            return None
        _, _, file, line = self.rows[index]
        return f"{PurePath(file).name}:{line}"


NONE = Lines()


@dataclass(frozen=True)
class Source:
    """Names of the places of one program; without one, addresses."""

    program: Program | None = None
    lines: Lines = NONE

    def place(self, pc: int, call: int) -> str:
        """The user's own line; of a function of the runtime the line that called it."""
        if own := self.lines.at(pc):
            return own
        if self.program is None:
            return f"0x{pc:08X}"
        called = self.lines.at(call) if call else None
        inside = self.program.function_at(pc)
        return f"{called}, in {inside}," if called and inside else self.program.describe(pc)

    def object_at(self, first: int, last: int) -> Symbol | None:
        """The array or variable that has these bytes."""
        return self.program.object_at(first, last) if self.program else None


NOWHERE = Source()


def of(program: Program) -> Source:
    """The places of a program that was loaded."""
    return Source(program, read(program.path))


def read(path: Path) -> Lines:
    """Of an ELF file. Debug information that cannot be read is none."""
    with path.open("rb") as stream:
        elf = ELFFile(stream)
        if not elf.has_dwarf_info(strict=True):
            return NONE
        try:
            code = [s for s in elf.iter_segments() if s["p_type"] == "PT_LOAD" and s["p_flags"] & 1]
            spans = [(s["p_vaddr"], s["p_vaddr"] + s["p_memsz"]) for s in code]
            rows = tuple(sorted(_rows(elf.get_dwarf_info(relocate_dwarf_sections=False), spans)))
        except (DWARFError, ELFError, KeyError, IndexError, ValueError, AttributeError, AssertionError):
            return NONE
    return Lines(rows, tuple(row[0] for row in rows))


def _rows(dwarf: Any, code: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int, str, int]]:
    """Functions that the linker has dropped keep their lines, at address 0: they have no bytes here. Where
    `code` itself begins at 0, nobody can tell them apart."""
    for unit in dwarf.iter_CUs():
        program = dwarf.line_program_for_CU(unit)
        if program is None:
            continue
        before, files = None, dict[int, PurePath]()
        attribute = unit.get_top_DIE().attributes.get("DW_AT_comp_dir")
        folder = _text(attribute.value) if attribute else ""
        for entry in program.get_entries():
            state = entry.state
            if state is None:
                continue
            if before is not None and state.address > before.address:
                if before.file not in files:
                    files[before.file] = _path(program, before.file, folder)
                file = files[before.file].as_posix()
                is_there = any(begin <= before.address < end for begin, end in code)
                if not _LIBRARY.search(file):
                    yield *((before.address, state.address) if is_there else (0, 0)), file, before.line
            before = None if state.end_sequence else state


def _path(program: Any, number: int, folder: str) -> PurePath:
    """Files and folders count from 0 in DWARF 5; before, from 1, and folder 0 is that of the unit."""
    old = program["version"] < 5
    files, folders = program["file_entry"], program["include_directory"]
    if not 0 <= number - old < len(files):
        return PurePath("?")
    entry = files[number - old]
    at = entry.dir_index - old
    own = _text(folders[at]) if 0 <= at < len(folders) else ""
    return PurePath(folder, own, _text(entry.name))


def _text(name: bytes) -> str:
    return name.decode(errors="replace")
