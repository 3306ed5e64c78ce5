"""What of a design a debugger may see: its registers and memories.

Icarus shows all of a design. Verilator keeps what somebody needs, under a name, if it is told so: with every
signal it runs at an eighth of its speed; with registers and memories alone they stay as they are.
"""

from __future__ import annotations

import re

from axiloom.cosim.build.verilator import Sources

MACRO = "AXL_INSPECT"
"""Of the wrapper: the core is told of each cycle."""

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_MODULE = re.compile(r"\bmodule\s+(\w+)(.*?)\bendmodule\b", re.DOTALL)
_STORED = re.compile(
    r"(?:^|;|\bbegin(?:\s*:\s*\w+)?|\belse|\)|:)\s*([A-Za-z_]\w*)(?:\s*\[[^;<=]*\])*\s*<=", re.MULTILINE
)
"""A non-blocking assignment: what a clock stores. More names than these do no harm."""


def control(sources: Sources) -> str:
    """Lines of Verilator's control file that keep what the modules of `sources` store."""
    lines = []
    for _, text in sources:
        for module, body in _MODULE.findall(_COMMENT.sub("", text)):
            names = sorted({*_STORED.findall(body)})
            lines += [f'public_flat_rd -module "{module}" -var "{name}"' for name in names]
    return "".join(f"\n{line}" for line in lines)
