"""A device of commands as a specification: one opcode without a word, beats in, beats out.

What it computes is in its text. The specification says how to reach it: the stream, the DMA and its windows,
which a driver of a program does not use.
"""

from __future__ import annotations

from axiloom.errors import SpecError
from axiloom.isa.check.check import check
from axiloom.isa.contract.spec import AcceleratorSpec
from axiloom.isa.contract.types import (
    Clear,
    Compute,
    DmaConfig,
    Load,
    Opcode,
    Recv,
    Scope,
    Send,
    Store,
    TileRule,
)  # fmt: skip
from axiloom.isa.kernels.forms import COMMANDS
from axiloom.isa.numerics import INT32

RUN, ONCE = "run", "commands"
_WINDOW = 1 << 16


def specification(name: str, stream_width: int = 64, multipliers: int = 1) -> AcceleratorSpec:
    """Of a device behind streams of `stream_width` bits. Raises SpecError for a width that no DMA has."""
    words = stream_width // 32
    place = DmaConfig()
    run = Opcode(RUN, (Send("X"), Recv("Y")), (Load("X"), Compute(), Store("Y"), Clear("Y")))
    spec = AcceleratorSpec(
        name=name,
        version="1.0",
        description="executes commands",
        kernel=COMMANDS.kernel,
        data_type=INT32,
        dims=COMMANDS.dims,
        data=COMMANDS.operands,
        opcodes={RUN: run},
        flows={ONCE: Scope((RUN,))},
        selected_flow=ONCE,
        init_opcodes=(),
        dma=DmaConfig(
            input_buffer_size=_WINDOW,
            output_address=max(place.output_address, place.input_address + _WINDOW),
            output_buffer_size=_WINDOW,
            scatter_gather=True,
        ),
        buffers={"X": words, "Y": words},
        tile=TileRule((words, words)),
        macs=max(multipliers, 1),
        stream_width=stream_width,
    )
    if faults := check(spec):
        raise SpecError([f"{name}: {fault}" for fault in faults])
    return spec
