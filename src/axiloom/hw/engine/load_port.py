"""What lies between the receiver and the buffer of an operand."""

from __future__ import annotations

from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out


class LoadPort(wiring.Signature):
    """How an operand is loaded, seen from the receiver: ``valid ready last half``.

    The buffer takes a part of the operand in a cycle with `valid` and `ready`. It says by `last` that the
    tile ends with this part, and by `half` which of its halves was loaded last. The part itself is on the
    receiver's ``load_data``, which all operands share.
    """

    def __init__(self) -> None:
        super().__init__({"valid": Out(1), "ready": In(1), "last": In(1), "half": In(1)})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LoadPort)

    def __repr__(self) -> str:
        return "LoadPort()"
