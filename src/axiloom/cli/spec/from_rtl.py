"""``axiloom spec from-rtl``: a first draft of a specification, from the ports of a module."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from axiloom import isa
from axiloom.base.errors import UsageError
from axiloom.cli import options as shared
from axiloom.cli.applet import Applet, option
from axiloom.hw.rtl_files.packaged import sources
from axiloom.isa.numerics import INT32
from axiloom.library.draft import KERNEL, draft


def execute(
    files: Sequence[Path],
    top: str | None = None,
    kernel: str | None = None,
    tile: Sequence[int] | None = None,
    data_type: str | None = None,
    output: Path | None = None,
) -> None:
    files, top = sources(tuple(files), top)
    if top is None:
        raise UsageError("--top NAME: say which module has the ports")
    spec, notes = draft(files, top, kernel, tile, data_type)
    for note in notes:
        print(f"note: {note}", file=sys.stderr)
    shared.write(isa.dumps(spec), output)


APPLET = Applet(
    "spec from-rtl",
    "a first draft of a specification, from the ports of your Verilog",
    execute,
    (
        option("files", type=Path, nargs="+", metavar="FILE.v", help="or component.xml"),
        option("--top", metavar="NAME", help="the module with the ports; component.xml says it"),
        option("--kernel", metavar="NAME", help=f"what it computes (default {KERNEL})"),
        option("--tile", type=shared.sizes, metavar="m,n,k", help="the sizes that it takes at once"),
        option("--data-type", metavar="NAME", help=f"default {INT32.name}"),
        shared.TO,
    ),
    "Reads ports and widths. What the ports do not say (kernel, tile, opcodes, registers) is a guess, and "
    "each guess is named on standard error.",
)
