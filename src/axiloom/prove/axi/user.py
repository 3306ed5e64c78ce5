"""The rules of AXI on anybody's Verilog."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from axiloom.errors import BuildError
from axiloom.files import read_text
from axiloom.hw.rtl_files.ports import read_ports
from axiloom.prove.axi import ports, watched
from axiloom.prove.bench import Bench

RESET_CYCLES = 2
"""At the start; after them a reset may come in any cycle, as on the wire."""


def read(
    files: Sequence[Path], top: str, clock: str | None = None, reset: str | None = None
) -> tuple[ports.Module, tuple[tuple[str, str], ...]]:
    """The module and its sources: name and text. Raises BuildError if a file is missing or faulty."""
    for file in files:
        if not file.is_file():
            raise BuildError(f"user RTL {file}: no such file")
    module = ports.understand(top, read_ports(tuple(files), top), clock, reset)
    return module, tuple((file.name, read_text(file, BuildError)) for file in files)


def bench(module: ports.Module, outstanding: int = watched.OUTSTANDING) -> Bench:
    """All rules of all its AXI ports; other inputs may be anything."""
    made = Bench()
    if module.reset is None:  # nothing resets it: nothing is said of a reset
        made.assume(~made.reset)
    else:
        made.reset_first(RESET_CYCLES)
    signals = made.verilog(
        module.name,
        module.inputs,
        module.outputs,
        clock=module.clock,
        reset=module.reset,
        reset_active_low=module.reset_active_low,
    )
    for port in module.axi:
        named = {name: signals[own.name] for name, own in port.signals.items()}
        watched.watch(made, port.name, named, port.side, outstanding=outstanding)
    return made
