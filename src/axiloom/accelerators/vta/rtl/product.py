"""A block of weights times a vector of inputs, each cycle: the sum of `block` products in each output lane.

A multiplier gives the products of two output lanes with one input (:mod:`axiloom.hw.array.pair`).
"""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from axiloom.hw.array.pair import BITS, HELD_BITS, PairMultiplier, packed, products, sum_bits
from axiloom.hw.nest.operators.stages import Stages

LATENCY = 5
"""Cycles from the operands to the sums: a register, two in the multiplier, two in the sums."""
_AT_ONCE = 4
"""Products, or sums of them, that are added in one cycle."""


class Product(wiring.Component):
    """`weights`: `block` rows of `block` int8, an output lane each; `inputs`: `block` int8. `totals`: a sum
    of `total_bits` for each output lane, `LATENCY` cycles later.

    Raises ValueError for a block that is odd, or longer than 16.
    """

    def __init__(self, block: int) -> None:
        if not 2 <= block <= _AT_ONCE**2 or block % 2:
            raise ValueError(f"block must be even, from 2 to {_AT_ONCE**2}, not {block}")
        self._block = block
        super().__init__(
            {
                "weights": In(block * block * BITS),
                "inputs": In(block * BITS),
                "totals": Out(block * self.total_bits),
            }
        )

    @property
    def block(self) -> int:
        return self._block

    @property
    def total_bits(self) -> int:
        return sum_bits(self.block)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        totals: list[Value] = []
        inputs = [
            Stages(m, f"input_{k}").later(self.inputs.word_select(k, BITS), "held") for k in range(self.block)
        ]
        for lane in range(0, self.block, 2):
            low: list[Value] = []
            high: list[Value] = []
            for k, shared in enumerate(inputs):
                stages = Stages(m, f"lanes_{lane}_{k}")
                both = (self.weights.word_select(row * self.block + k, BITS) for row in (lane, lane + 1))
                multiplier = PairMultiplier()
                m.submodules[f"multiplier_{lane}_{k}"] = multiplier
                pair = stages.wire(packed(*both)[:HELD_BITS], "pair")
                m.d.comb += [
                    multiplier.pair.eq(stages.later(pair, "held")),
                    multiplier.shared.eq(shared.as_signed()),
                ]
                for sums, product in zip((low, high), products(multiplier.both), strict=True):
                    sums.append(product)
            totals += [self._sum(m, lane + n, values) for n, values in enumerate((low, high))]
        m.d.comb += self.totals.eq(Cat(*totals))
        return m

    def _sum(self, m: Module, lane: int, values: list[Value]) -> Value:
        """In two cycles: of groups, then of the groups."""
        stages = Stages(m, f"lane_{lane}")
        groups = [values[at : at + _AT_ONCE] for at in range(0, self.block, _AT_ONCE)]
        parts = [_tree(group) for group in groups]
        held = [stages.later(part, f"part_{n}") for n, part in enumerate(parts)]
        total = stages.wire(_fitted(_tree(held), self.total_bits), "sum")
        return stages.later(total, "total")


def _tree(values: list[Value]) -> Value:
    """Neighbours are added first."""
    while len(values) > 1:
        pairs = [values[at : at + 2] for at in range(0, len(values), 2)]
        values = [pair[0] + pair[1] if len(pair) == 2 else pair[0] for pair in pairs]
    return values[0]


def _fitted(value: Value, bits: int) -> Value:
    return Cat(value, value[-1].replicate(max(0, bits - len(value))))[:bits]
