"""What lies between a mover, MM2S or S2MM, and what commands it: a channel's registers or its descriptors."""

from __future__ import annotations

from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

STRIDE_BITS = 19
ROWS_BITS = 13
"""Widths of a strided command's fields: those of STRIDE_VSIZE (:mod:`axiloom.hw.dma.sg_fetch`)."""


class MoverCommand(wiring.Signature):
    """A transfer, seen from who commands it: ``start address length``, taken in the cycle with `start`.

    With `strided` also ``stride rows``, and ``ready`` from the mover: a command can be taken.
    """

    def __init__(self, length_width: int, strided: bool = False) -> None:
        self._length_width = length_width
        self._strided = strided
        rows = {"stride": Out(STRIDE_BITS), "rows": Out(ROWS_BITS), "ready": In(1)}
        super().__init__(
            {
                "start": Out(1),
                "address": Out(32),
                "length": Out(length_width),
                **(rows if strided else {}),
            }
        )

    @property
    def length_width(self) -> int:
        return self._length_width

    @property
    def strided(self) -> bool:
        return self._strided

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MoverCommand):
            return False
        return (self.length_width, self.strided) == (other.length_width, other.strided)

    def __repr__(self) -> str:
        return f"MoverCommand({self.length_width}, {self.strided})"


class MoverStatus(wiring.Signature):
    """What a mover says of its commands: ``active done slave_error decode_error``."""

    def __init__(self) -> None:
        super().__init__({"active": Out(1), "done": Out(1), "slave_error": Out(1), "decode_error": Out(1)})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MoverStatus)

    def __repr__(self) -> str:
        return "MoverStatus()"
