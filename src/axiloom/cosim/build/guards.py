"""Guards around the arrays that a user's program is given: an access beside an array is seen there.

The linker leaves 64 KiB before and behind each of these arrays, with nothing in them (``.axl_arrays``). So a
loop that goes one element too far meets no other variable. The core reports the access
(``native/memory/watch.hpp``), and :mod:`axiloom.cosim.lines` knows its place in the source.

Arrays of the caller have guards, and the linker makes them. A shadow memory would cost each access of the
simulated CPU some instructions. 64 KiB of nothing around each array cost none: sections of memory with
guards have an attribute of their own, so only accesses there are looked at (``cpu_speed``: 20.87 G host
instructions before and after). The price is that the driver must come as source, and that what jumps
further than a guard is not seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from axiloom.base.errors import BuildError

SECTION = ".axl_arrays"
GUARD_BYTES = 0x10000
FLAGS = ("-fdata-sections",)
"""Each array in a section of its own."""
_KINDS = (".bss", ".data", ".rodata")
_IN_MEMORY = re.compile(r"^    \.rodata .*> ddr$", re.MULTILINE)
_INSERTED = re.compile(r"^SECTIONS\n\{\n", re.MULTILINE)


def keeping_lines(script: str) -> str:
    """A linker script of ``sw/`` that keeps the debug information of the user's sources; that of the
    compiler's own library goes as before."""
    return script.replace("*(.debug_*)", "*compiler_rt*(.debug_*)")


def with_guards(script: str, arrays: Iterable[str]) -> str:
    """A linker script of ``sw/`` with the section, before what would take the arrays else."""
    parts = [f"        *({' '.join(f'{kind}.{name}' for kind in _KINDS)})" for name in sorted(set(arrays))]
    guard = f"        . = ALIGN(64) + {GUARD_BYTES:#x};"
    lines = [f"    {SECTION} ALIGN(64) : {{", guard]
    for part in parts:
        lines += [part, guard]
    if match := _IN_MEMORY.search(script):
        section = "\n".join([*lines, "    } > ddr", ""])
        return script[: match.start()] + section + script[match.start() :]
    if match := _INSERTED.search(script):
        section = "\n".join([*lines, "    }", ""])
        return script[: match.end()] + section + script[match.end() :]
    raise BuildError("the linker script has no place for the arrays of a program")
