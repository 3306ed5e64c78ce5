"""Raw bits of an element as several of fewer bits, the lowest first, and back: wires alone."""

from __future__ import annotations

import numpy as np
from amaranth.hdl import Cat, Module, Value

from axiloom.hw.nest.operators.formats import bits_of, unsigned, whole
from axiloom.hw.nest.operators.operator import Operator, Raw

JOIN, LANE = "join", "lane"


class Lanes(Operator):
    """``join`` of all lanes of an element, and ``lane<n>`` of it."""

    forms = "join: uint8 or uint16 to uint16 or uint32, and lane0 to lane3 back"

    @classmethod
    def latencies(cls, name: str, number: str, result: str) -> tuple[int, ...]:
        x, r = whole(number), whole(result)
        if x is None or r is None or x.signed or r.signed or x.is_fixed or r.is_fixed:
            return ()
        narrow, wide = sorted((x.bits, r.bits))
        if narrow == wide or wide % narrow:
            return ()
        place = name.removeprefix(LANE)
        is_lane = name.startswith(LANE) and place.isdigit() and int(place) < wide // narrow
        return (0,) if (name == JOIN and x.bits == narrow) or (is_lane and r.bits == narrow) else ()

    @property
    def is_wired(self) -> bool:
        return True

    @property
    def operand_bits(self) -> list[int]:
        bits = bits_of(self.number)
        return [bits] * (bits_of(self.result) // bits if self.name == JOIN else 1)

    @property
    def _place(self) -> int:
        return int(self.name.removeprefix(LANE)) * bits_of(self.result)

    def reference(self, *operands: Raw) -> Raw:
        kind, bits = unsigned(bits_of(self.result)), bits_of(self.number)
        if self.name != JOIN:
            return (operands[0] >> self._place).astype(kind)
        packed = np.zeros_like(operands[0], kind)
        for number, lane in enumerate(operands):
            packed |= lane.astype(kind) << kind.type(number * bits)
        return packed

    def build(self, m: Module, name: str, *operands: Value) -> Value:
        if self.name == JOIN:
            return Cat(*operands)
        return operands[0][self._place : self._place + bits_of(self.result)]
