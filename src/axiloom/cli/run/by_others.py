"""Drivers that other tools wrote in MLIR, for `axiloom simulate`: their C, and what is said of it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from axiloom.base.errors import CompileError
from axiloom.base.files import read_text
from axiloom.drivergen.dialects import others, templates
from axiloom.isa import AcceleratorSpec


def in_c(
    file: Path, function: str | None, folder: Path, spec: AcceleratorSpec, defines: Sequence[str], linux: bool
) -> Path:
    """The driver's C, beside the program. `defines`: values of a template's places."""
    text, dma = read_text(file, CompileError), spec.link.dma
    board = (
        *(dma.address, dma.input_address, dma.input_buffer_size),
        *(dma.output_address, dma.output_buffer_size),
    )
    with templates.given(defines if templates.places(text) else (), text, file.name):
        text = templates.filled(text, file.name)
    target = folder / f"{file.stem}.c"
    program = others.drivers_of(text).translate(text, file.name, function, board)
    target.write_text(program.text, encoding="utf-8")
    for note in program.notes:
        print(f"note: {note}", file=sys.stderr)
    if program.prints and not linux:
        print(f"note: {file.name}: {', '.join(program.prints)} prints with --os linux only", file=sys.stderr)
    return target
