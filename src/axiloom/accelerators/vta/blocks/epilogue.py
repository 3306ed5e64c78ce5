"""What happens to sums before they are stored: a bias is added, they are shifted and clipped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from axiloom.accelerators.vta.blocks.host import Host

_MIN, _MAX, _ADD, _SHR = range(4)


@dataclass(frozen=True)
class Requantise:
    """``clip((sum + bias) >> shift, low, high)``, of which the low byte is kept; with `low` = 0 it is a ReLU.
    An end that is None clips nothing; `bias` says whether there is one."""

    shift: int = 8
    low: int | None = -128
    high: int | None = 127
    bias: bool = True

    def __post_init__(self) -> None:
        if not 0 <= self.shift < 16:
            raise ValueError(f"shift must be from 0 to 15, not {self.shift}")
        low, high = (-128 if self.low is None else self.low), (127 if self.high is None else self.high)
        if not -128 <= low <= high <= 127:
            raise ValueError(f"low and high must be ordered int8, not {self.low} and {self.high}")

    @property
    def commands(self) -> int:
        """That :meth:`emit` makes."""
        return self.bias + bool(self.shift) + (self.low is not None) + (self.high is not None)

    @property
    def cycles(self) -> int:
        """Of a vector of sums, with the reset before them; an addition reads twice."""
        return 1 + self.commands + self.bias

    def emit(self, host: Host, uops: Mapping[str, int], loops: Mapping[str, int]) -> None:
        """On the places of `uops` (dst: sums, src: their bias) in `loops`. A bias for all of a loop's steps
        has no factors there."""
        where = {**uops, **loops}
        sums = {name: value for name, value in where.items() if not name.startswith("src")}
        if self.bias:
            host.add("alu", **where, op=_ADD, immediate=0)
        if self.shift:
            host.add("alu", **sums, op=_SHR, immediate=1, constant=self.shift)
        if self.high is not None:
            host.add("alu", **sums, op=_MIN, immediate=1, constant=self.high)
        if self.low is not None:
            host.add("alu", **sums, op=_MAX, immediate=1, constant=self.low)
