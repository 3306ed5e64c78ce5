"""Which lines of a program, and of the user's RTL around which it ran, were executed: as LCOV's text.

A line of a program counts as often as the instruction of it that was executed most, by the line table of the
ELF file. What the compiler merged, moved or left out is counted as it was compiled: an instruction under a
condition as if it always held, a line without code not at all. A line of Verilog counts as often as
Verilator's point for it, of all instances together.
"""

from __future__ import annotations

import ctypes
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from ctypes import POINTER, c_uint64
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from axiloom import sw
from axiloom.base.errors import UsageError
from axiloom.cosim import lines

if TYPE_CHECKING:
    from axiloom.cosim.system import System

Array = np.ndarray[Any, Any]
Counts = Mapping[str, Mapping[int, int]]
"""File to line to how often it was executed."""


class _Block(ctypes.Structure):
    """``axl_block_t``: code without a branch in it, and how often it was entered."""

    _fields_ = [("address", ctypes.c_uint32), ("bytes", ctypes.c_uint32), ("runs", c_uint64)]


BLOCK = np.dtype(_Block)

FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "axl_keep_blocks": (None, []),
    "axl_blocks": (POINTER(_Block), [POINTER(c_uint64)]),
}

_DATA = "coverage.dat"
_POINT = re.compile(r"C '(.*)' (\d+)")


@dataclass(frozen=True)
class Covered:
    """What was executed in one run."""

    blocks: Array
    """Of the program, fields of :data:`BLOCK`."""
    rtl: Counts
    """Of the user's Verilog; without any, empty."""

    def lcov(self, elf: Path) -> str:
        """LCOV's text: of the program's own sources, then of the RTL."""
        counts = {**of_program(lines.read(elf), self.blocks), **self.rtl}
        return "".join(_record(file, counts[file]) for file in sorted(counts))


def blocks(library: Any) -> Array:
    """What the core has kept."""
    count = c_uint64()
    first = library.axl_blocks(ctypes.byref(count))
    if not count.value:
        return np.zeros(0, BLOCK)
    return np.ctypeslib.as_array(first, shape=(count.value,)).copy()


def of_program(places: lines.Lines, executed: Array) -> Counts:
    """Of each line that has code. Our own headers, whose code is in the program, are left out."""
    begins, runs = executed["address"].astype(np.int64), executed["runs"].astype(np.int64)
    borders, where = np.unique(np.append(begins, begins + executed["bytes"]), return_inverse=True)
    change = np.zeros(len(borders), np.int64)
    np.add.at(change, where, np.append(runs, -runs))
    level = np.cumsum(change)  # of what lies behind each border
    counts: dict[str, dict[int, int]] = defaultdict(dict)
    for begin, end, file, line in places.rows:
        if not line or Path(file).is_relative_to(sw.ROOT):
            continue
        first = max(int(np.searchsorted(borders, begin, "right")) - 1, 0)
        most = int(level[first : int(np.searchsorted(borders, end))].max(initial=0))
        counts[file][line] = max(counts[file].get(line, 0), most)
    return counts


def check_counts(system: System) -> None:
    """UsageError for RTL of the user's of whose lines nothing can be said."""
    if system.user_rtl is None:
        return
    if system.sim != "verilator":
        raise UsageError("coverage: Verilator counts the lines of RTL: leave --sim icarus out")
    if system.user_rtl.is_vhdl:
        raise UsageError(
            "coverage: lines of VHDL are not counted, only those of Verilog: leave --coverage out"
        )


def uncounted(files: Iterable[str]) -> str:
    """For Verilator's control file: these are not the user's."""
    return "".join(f'\ncoverage_off -file "{name}"' for name in files)


def of_rtl(system: System) -> Counts:
    """Of the user's Verilog until now, inside the simulator."""
    if system.user_rtl is None:
        return {}
    ctypes.CDLL(None).axl_coverage(_DATA.encode())
    return read_rtl(Path(_DATA).read_text(encoding="utf-8", errors="replace"), system.user_rtl.files)


def read_rtl(data: str, files: Sequence[Path]) -> Counts:
    """What Verilator has written, of these files and of what lies beside them and is included.

    A record is ``C 'KEY' COUNT``; its key has fields of a short name and a value each, behind \\x01 and
    \\x02: the file f, the line l, and the lines S that the point stands for (Verilator,
    include/verilated_cov_key.h).
    """
    from axiloom.hw.rtl_files.links import plain  # here: no simulation needs Amaranth

    paths = {name: file.absolute() for file in files for name in (plain(file.name), file.name)}
    counts: dict[str, dict[int, int]] = defaultdict(dict)
    points: dict[tuple[str, ...], int] = defaultdict(int)  # instances have an h each
    for key, count in _POINT.findall(data):
        field = dict(part.split("\x02", 1) for part in key.split("\x01")[1:])
        points[tuple(field.get(name, "") for name in "flSno")] += int(count)
    for (name, line, span, *_), count in points.items():
        beside = (file.parent / name for file in paths.values())
        path = paths.get(name) or next(filter(Path.is_file, beside), None)
        for number in _numbers(span or line) if path else ():
            of_file = counts[str(path)]
            of_file[number] = max(of_file.get(number, 0), count)
    return counts


def _numbers(span: str) -> Iterator[int]:
    """Of ``3-4,7``."""
    for part in span.split(","):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def _record(file: str, counts: Mapping[int, int]) -> str:
    rows = [f"DA:{line},{counts[line]}" for line in sorted(counts)]
    hit = sum(count > 0 for count in counts.values())
    return "\n".join(["TN:", f"SF:{file}", *rows, f"LF:{len(rows)}", f"LH:{hit}", "end_of_record\n"])
