"""From an instruction of a program to the line of the user's source, by the line tables of DWARF.

Only what the user wrote is compiled with line tables, so what has a line is the program's own code.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any

from elftools.elf.elffile import ELFFile


@dataclass(frozen=True)
class Lines:
    """The lines of one program; without any it knows no place."""

    rows: tuple[tuple[int, int, str, int], ...] = ()
    """First address, the one behind, file name, line: by address."""
    _begins: tuple[int, ...] = field(default=(), repr=False)

    def at(self, address: int) -> str | None:
        """``driver.c:12``, or None for code without a line."""
        index = bisect_right(self._begins, address) - 1
        if index < 0 or address >= self.rows[index][1]:
            return None
        _, _, file, line = self.rows[index]
        return f"{file}:{line}"


NONE = Lines()


def read(path: Path) -> Lines:
    """Of an ELF file."""
    with path.open("rb") as stream:
        elf = ELFFile(stream)
        if not elf.has_dwarf_info(strict=True):
            return NONE
        rows = tuple(sorted(_rows(elf.get_dwarf_info(relocate_dwarf_sections=False))))
    return Lines(rows, tuple(row[0] for row in rows))


def _rows(dwarf: Any) -> Iterator[tuple[int, int, str, int]]:
    for unit in dwarf.iter_CUs():
        program = dwarf.line_program_for_CU(unit)
        if program is None:
            continue
        before = None
        for entry in program.get_entries():
            state = entry.state
            if state is None:
                continue
            if before is not None and state.address > before.address:
                yield before.address, state.address, _file(program, before.file), before.line
            before = None if state.end_sequence else state


def _file(program: Any, number: int) -> str:
    """Files count from 1 up to DWARF 4, and from 0 in DWARF 5."""
    files = program["file_entry"]
    place = number - (program["version"] < 5)
    name = files[place].name if 0 <= place < len(files) else b"?"
    return PurePath(name.decode(errors="replace")).name
