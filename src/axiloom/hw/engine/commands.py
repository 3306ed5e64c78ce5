"""What the receiver asks the sequencer to do, in the order of the stream."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

from amaranth.hdl import unsigned
from amaranth.lib import data
from amaranth.utils import bits_for


class CommandKind(IntEnum):
    COMPUTE = 0
    STORE = 1
    CLEAR = 2
    REQUANTISE = 3
    SAVE = 4


def command_layout(operands: Iterable[str], dims: data.StructLayout | None = None) -> data.StructLayout:
    """A command with what was current when it was decoded: the halves that its operands are in (`half_a`,
    ...) and, where it has left the receiver, the sizes `dims` of the tile."""
    return data.StructLayout(
        {
            "kind": CommandKind,
            **{f"half_{name.lower()}": unsigned(1) for name in operands},
            **({} if dims is None else {"dims": dims}),
        }
    )


def step_layout(rows: int) -> data.StructLayout:
    """What the result buffer must know about a block that leaves an array of so many rows."""
    return data.StructLayout(
        {
            "block_done": unsigned(1),  # the last k of a block
            "first_block": unsigned(1),  # ... of the first block of a compute
            "last_block": unsigned(1),  # ... of the last block of a compute
            "half": unsigned(1),  # half of the result buffer
            "accumulate": unsigned(1),  # add to what is there; else overwrite it
            "last_row": unsigned(bits_for(rows - 1)),  # the rows behind it mean nothing
        }
    )
