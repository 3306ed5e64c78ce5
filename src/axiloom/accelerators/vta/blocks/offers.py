"""`BlockOffers`: layers that blocks of commands compute, as ways to make values of a saturated graph.

A layer's weights lie in blocks in the host's memory: that is a value of its own, beside the application's,
and follows from it where it is a constant.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from math import prod
from typing import Any

from axiloom.accelerators.vta.blocks.block import LAST, Block
from axiloom.accelerators.vta.blocks.epilogue import Requantise
from axiloom.accelerators.vta.blocks.match import Matcher, Way
from axiloom.accelerators.vta.blocks.sizes import Sizes
from axiloom.accelerators.vta.blocks.sums import SUMS, Layer, RefusedError
from axiloom.base.errors import CompileError
from axiloom.graph.graph import Graph, Node, Type
from axiloom.graph.ops import Builder
from axiloom.isa.instructions.tree import InstructionSet
from axiloom.selection.compile.offered import Offer, Offered
from axiloom.selection.egraph.constants import Constants
from axiloom.selection.egraph.saturated import ENode, Saturated
from axiloom.selection.machine.derive import Operand
from axiloom.selection.program.program import Command

BEHIND = (
    *("convert", "clamp", "maximum", "minimum", "relu"),
    *("shift_right_arithmetic", "add", "broadcast_in_dim"),
)
"""What is done to sums."""
RULE = "blocks"
"""What brought weights in blocks."""


def offers(isa: InstructionSet) -> BlockOffers | None:
    """None for a text without VTA's memories and instructions, or with blocks of another size than 16."""
    try:
        sizes = Sizes.of(isa)
    except CompileError:
        return None
    return BlockOffers(isa) if sizes.block == 16 else None


@dataclass(frozen=True)
class BlockOffers:
    """Of `isa`: an :class:`axiloom.selection.compile.offered.Offers`."""

    isa: InstructionSet

    ops = frozenset((*BEHIND, *SUMS))
    numbers = frozenset(("int8", "int32"))
    align = 256
    """Bytes: a block of weights, which is every kind's."""
    last = (Command(LAST, {}),)

    def of(self, saturated: Saturated, graph: Graph) -> Offered:
        return _Offering(self.isa, saturated, graph).run()


class _Offering:
    def __init__(self, isa: InstructionSet, saturated: Saturated, graph: Graph) -> None:
        self.isa, self.saturated = isa, saturated
        (self.host,) = (name for name, memory in isa.memories.items() if memory.host)
        self.types, self.classes = list(saturated.types), [list(nodes) for nodes in saturated.classes]
        self.matcher = Matcher(saturated, Constants(saturated, graph.constants), SUMS)
        self.known: dict[ENode, int] = {}

    def run(self) -> Offered:
        offers: list[Offer] = []
        refused: dict[int, str] = {}
        for result in range(len(self.saturated.classes)):
            for way in self.matcher.ways(result):
                try:
                    offers.append(self._offer(way))
                except CompileError as error:
                    refused.setdefault(result, f"{way.sums.op}: {error}")
        done = {offer.made for offer in offers}
        whole = replace(self.saturated, types=tuple(self.types), classes=tuple(map(tuple, self.classes)))
        inside = frozenset(filter(self._inside, range(len(self.saturated.classes))))
        left = {result: why for result, why in refused.items() if result not in done}
        return Offered(whole, tuple(offers), left, inside)

    def _offer(self, way: Way) -> Offer:
        """Raises CompileError where no block computes it."""
        factors, layer = self._layer(way)
        types = [self.types[factor] for factor in factors]
        own = layer.program(_endless(self.isa), way.how)
        operands = [factors[0], self._in_blocks(factors[1], layer)]
        names = list(layer.names)
        if way.biases:
            operands.append(self._added(way.biases))
            names.append("bias")
        block = Block(
            self.isa,
            own.name,
            way.sums.op,
            {},
            tuple(Operand(self.host, name, self.types[n]) for name, n in zip(names, operands, strict=True)),
            Operand(self.host, "y", self.types[way.made]),
            _value([self.types[operand] for operand in operands], types, layer, way, self.types[way.made]),
            own,
            tuple(names),
        )
        return Offer(way.made, block, tuple(operands))

    def _layer(self, way: Way) -> tuple[list[int], Layer]:
        """The factors of its sums, and what they are. Raises RefusedError."""
        factors = [self._byte(operand) for operand in way.sums.operands]
        types = [self.types[factor] for factor in factors]
        layer = SUMS[way.sums.op](way.sums, types, self.types[way.made])
        if factors[1] not in self.matcher.constants.classes:
            raise RefusedError(
                "its right factor follows from a parameter: constants are taken, which are laid out in "
                "blocks before the program is made"
            )
        return factors, layer

    def _inside(self, eclass: int) -> bool:
        """Whether a block may make it on its way."""
        for way in self.matcher.unfinished(eclass):
            with suppress(CompileError):
                self._layer(way)
                return True
        return False

    def _byte(self, eclass: int) -> int:
        """A class of int8, which may have been made wider. Raises RefusedError."""
        if self.types[eclass].number == "int8":
            return eclass
        for node in self.saturated.classes[eclass]:
            if node.op == "convert" and self.types[node.operands[0]].number == "int8":
                return node.operands[0]
        raise RefusedError(f"a factor of {self.types[eclass]}: int8 is taken")

    def _in_blocks(self, weights: int, layer: Layer) -> int:
        """The class of these weights in blocks."""
        number = self.types[weights].number
        split = self._class(Type(layer.split, number), "reshape", weights, shape=layer.split)
        shape = tuple(layer.split[i] for i in layer.order)
        return self._class(Type(shape, number), "transpose", split, permutation=layer.order)

    def _added(self, biases: Sequence[int]) -> int:
        """Sums wrap, so that biases may be added up before: constants are, on the host."""
        total = biases[0]
        for bias in biases[1:]:
            total = self._class(self.types[total], "add", total, bias)
        return total

    def _class(self, type_: Type, op: str, *operands: int, **attributes: tuple[int, ...]) -> int:
        node = ENode(op, operands, tuple(sorted(attributes.items())), RULE)
        if node not in self.known:
            self.known[node] = len(self.types)
            self.types.append(type_)
            self.classes.append([node])
        return self.known[node]


def _endless(isa: InstructionSet) -> InstructionSet:
    """With as much memory of the host as a block of its own may take: what there is, the whole decides."""
    memories = {
        name: replace(memory, shape=(1 << 40,)) if memory.host else memory
        for name, memory in isa.memories.items()
    }
    return replace(isa, memories=memories)


def _value(types: Sequence[Type], factors: Sequence[Type], layer: Layer, way: Way, result: Type) -> Node:
    """What the block computes, of its operands."""
    b = Builder()
    x, w, *bias = (b.leaf("parameter", str(i), type_) for i, type_ in enumerate(types))
    back = tuple(layer.order.index(i) for i in range(len(layer.order)))
    w = b.op("reshape", b.op("transpose", w, permutation=back), shape=factors[1].shape)
    attributes: dict[str, Any] = {**way.sums.given, "number": "int32"}
    y = b.op(way.sums.op, x, w, **attributes)
    shape = y.type.shape

    def all_(number: int) -> Node:
        return b.op("splat", shape=shape, number="int32", value=str(number))

    for operand in bias:
        y = b.op("add", y, b.op("broadcast_in_dim", operand, shape=shape, dimensions=(len(shape) - 1,)))
    how: Requantise = way.how
    if how.shift:
        y = b.op("shift_right_arithmetic", y, all_(how.shift))
    if how.high is not None:
        y = b.op("minimum", y, all_(how.high))
    if how.low is not None:
        y = b.op("maximum", y, all_(how.low))
    y = b.op("convert", y, number="int8")
    assert prod(y.type.shape) == prod(result.shape)
    return y
