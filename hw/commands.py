"""What the receiver asks the sequencer to do, in the order of the stream."""

from __future__ import annotations

from enum import IntEnum

from amaranth.hdl import unsigned
from amaranth.lib import data

from axiloom.hw.geometry import Geometry


class CommandKind(IntEnum):
    COMPUTE = 0
    STORE = 1
    CLEAR = 2


def command_layout(geometry: Geometry) -> data.StructLayout:
    """A command with what was current when it was decoded: halves of A and B, sizes of the tile."""
    return data.StructLayout(
        {
            "kind": CommandKind,
            "half_a": unsigned(1),
            "half_b": unsigned(1),
            "dims": geometry.dims_layout,
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
