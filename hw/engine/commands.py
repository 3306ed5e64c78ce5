"""What the receiver asks the sequencer to do, in the order of the stream."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

from amaranth.hdl import unsigned
from amaranth.lib import data


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


StepLayout = data.StructLayout(
    {
        "block_done": 1,  # the last k of a block
        "first_block": 1,  # ... of the first block of a compute
        "last_block": 1,  # ... of the last block of a compute
        "half": 1,  # half of the result buffer
        "accumulate": 1,  # add to what is there; else overwrite it
    }
)
"""What the result buffer must know about a block that leaves the array."""
