"""Random applications: seeded graphs of 7 to 90 nodes over what accelerators do, and inputs for them.

Line 5 of issue 18 is measured on ``random_graph(seed)`` for seeds 0 to 199. Shapes are multiples of 16, or
all 64 x 64, or anything up to 40; numbers are int8 with int32, int32, bfloat16 or float32. Floats stay within
10^4, so that nothing is infinite and comparisons mean something.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axiloom.graph import Graph, Node, Type
from axiloom.graph.numbers import number
from axiloom.graph.ops import Builder

FEWEST, MOST = 7, 90
SIZES: dict[str, tuple[int, ...]] = {
    "tile16": (16, 32, 48, 64, 128),
    "square64": (64,),
    "any": tuple(range(1, 41)),
}
NUMBERS = ("int8", "int32", "bfloat16", "float32")
_LARGEST = 1e4


@dataclass
class _Making:
    dice: random.Random
    sizes: tuple[int, ...]
    of: str
    builder: Builder = field(default_factory=Builder)
    values: list[Node] = field(default_factory=list)
    parameters: list[Node] = field(default_factory=list)
    bounds: dict[int, float] = field(default_factory=dict)
    """How large values can be, by ``id``; integers wrap and need none."""
    used: set[int] = field(default_factory=set)

    @property
    def float(self) -> bool:
        return number(self.of).kind == "float"

    def size(self) -> int:
        return self.dice.choice(self.sizes)

    def parameter(self, *shape: int) -> Node:
        made = self.builder.leaf("parameter", f"x{len(self.parameters)}", Type(shape, self.of))
        self.parameters.append(made)
        return self.keep(made, 1.0)

    def keep(self, node: Node, bound: float) -> Node:
        if id(node) not in self.bounds:
            self.values.append(node)
        self.bounds[id(node)] = bound
        return node

    def bound(self, node: Node) -> float:
        return self.bounds[id(node)]

    def op(self, name: str, *operands: Node, bound: float, **attributes: Any) -> Node | None:
        """The node, unless its values could become too large."""
        if self.float and bound > _LARGEST:
            return None
        self.used.update(map(id, operands))
        return self.keep(self.builder.op(name, *operands, **attributes), bound)

    def pick(
        self, *, rank: int | None = None, like: Node | None = None, of: str | None = None
    ) -> Node | None:
        """A value, the newer the likelier."""
        fitting = [
            one
            for one in self.values
            if (rank is None or len(one.type.shape) == rank)
            and (like is None or one.type == like.type)
            and (of is None or one.type.number == of)
        ]
        if not fitting:
            return None
        open_ = [one for one in fitting if id(one) not in self.used]
        if open_ and self.dice.random() < 0.7:
            fitting = open_
        return fitting[-1 - min(int(self.dice.expovariate(0.4)), len(fitting) - 1)]


def _matrix(making: _Making) -> Node:
    return making.pick(rank=2) or making.parameter(making.size(), making.size())


def _matmul(making: _Making) -> Node | None:
    a = _matrix(making)
    k = a.type.shape[1]
    known = [one for one in making.values if one.type.shape[:1] == (k,) and len(one.type.shape) == 2]
    known = [one for one in known if one.type.number == a.type.number]
    b = making.dice.choice(known) if known and making.dice.random() < 0.6 else None
    if b is None:
        if a.type.number != making.of:
            return None
        b = making.parameter(k, making.size())
    result = "int32" if a.type.number == "int8" else a.type.number
    return making.op(
        "dot_general", a, b, lhs_batch=(), rhs_batch=(), lhs_contracting=(1,), rhs_contracting=(0,),
        number=result, bound=k * making.bound(a) * making.bound(b),
    )  # fmt: skip


def _dense(making: _Making) -> Node | None:
    a = _matrix(making)
    if a.type.number != making.of:
        return None
    w = making.parameter(making.size(), a.type.shape[1])
    result = "int32" if a.type.number == "int8" else a.type.number
    made = making.op("dense", a, w, number=result, bound=a.type.shape[1] * making.bound(a))
    if made is None or result != making.of or making.dice.random() < 0.5:
        return made
    b = making.parameter(w.type.shape[0])
    return making.op("bias_add", made, b, dimension=1, bound=making.bound(made) + 1)


def _pair(making: _Making) -> Node | None:
    a = making.pick()
    b = making.pick(like=a) if a else None
    if a is None or b is None:
        return None
    name = making.dice.choice(["add", "add", "subtract", "multiply", "maximum"])
    bounds = making.bound(a), making.bound(b)
    return making.op(name, a, b, bound=bounds[0] * bounds[1] if name == "multiply" else sum(bounds))


def _transpose(making: _Making) -> Node | None:
    a = _matrix(making)
    return making.op("transpose", a, permutation=(1, 0), bound=making.bound(a))


def _softmax(making: _Making) -> Node | None:
    a = _matrix(making)
    return making.op("softmax", a, dimension=1, bound=1.0) if making.float else None


def _relu(making: _Making) -> Node | None:
    a = _matrix(making)
    return making.op("relu", a, bound=making.bound(a))


def _exp(making: _Making) -> Node | None:
    a = making.pick()
    if a is None or not making.float or making.bound(a) > 8:
        return None
    return making.op("exponential", a, bound=float(np.exp(making.bound(a))))


def _scale(making: _Making) -> Node | None:
    """Large values become small again."""
    a = making.pick()
    if a is None or not making.float or making.bound(a) < 8:
        return None
    factor = 2.0 ** -int(np.log2(making.bound(a)))
    text = number(making.of).text(factor)
    splat = making.builder.op("splat", shape=a.type.shape, number=making.of, value=text)
    return making.op("multiply", a, splat, bound=making.bound(a) * factor)


def _reduce(making: _Making) -> Node | None:
    a = _matrix(making)
    along = making.dice.randrange(2)
    kind = making.dice.choice(["add", "max"])
    bound = making.bound(a) * (a.type.shape[along] if kind == "add" else 1)
    return making.op("reduce", a, kind=kind, dimensions=(along,), bound=bound)


def _broadcast(making: _Making) -> Node | None:
    a = making.pick(rank=1)
    if a is None:
        return None
    shape, along = [making.size(), making.size()], making.dice.randrange(2)
    shape[along] = a.type.shape[0]
    return making.op("broadcast_in_dim", a, shape=tuple(shape), dimensions=(along,), bound=making.bound(a))


def _slice(making: _Making) -> Node | None:
    a, along = _matrix(making), making.dice.randrange(2)
    shorter = [one for one in making.sizes if one < a.type.shape[along]]
    if not shorter:
        return None
    size = making.dice.choice(shorter)
    step = 16 if size % 16 == 0 else 1
    start = making.dice.randrange(0, a.type.shape[along] - size + 1, step)
    low, high = [0, 0], list(a.type.shape)
    low[along], high[along] = start, start + size
    return making.op("slice", a, start=tuple(low), limit=tuple(high), strides=(1, 1), bound=making.bound(a))


def _concatenate(making: _Making) -> Node | None:
    a = _matrix(making)
    b, along = making.pick(like=a), making.dice.randrange(2)
    if b is None or a.type.shape[along] * 2 > 2 * max(making.sizes):
        return None
    return making.op("concatenate", a, b, dimension=along, bound=max(making.bound(a), making.bound(b)))


def _convert(making: _Making) -> Node | None:
    """int32 back to int8: the low bits."""
    a = making.pick(of="int32")
    return making.op("convert", a, number="int8", bound=0.0) if a and making.of == "int8" else None


_STEPS = (
    _matmul, _matmul, _dense, _pair, _pair, _pair, _transpose, _softmax, _relu, _exp, _scale, _scale, _reduce,
    _broadcast, _slice, _concatenate, _convert,
)  # fmt: skip


def random_graph(
    seed: int, *, nodes: int | None = None, of: str | None = None, sizes: str | None = None
) -> Graph:
    """The graph of a seed. `nodes`, the number `of` its values and `sizes` are drawn where not given."""
    dice = random.Random(seed)
    wanted = dice.randint(FEWEST, MOST - 3)  # the last step may make several nodes
    chosen, drawn = dice.choice(sorted(SIZES)), dice.choice(NUMBERS)
    making = _Making(dice, SIZES[sizes or chosen], of or drawn)
    _matrix(making)
    while len(making.builder.known) < (nodes or wanted):
        dice.choice(_STEPS)(making)
    used = {id(one) for node in making.values for one in node.operands}
    ends = [one for one in making.values if id(one) not in used and one.operands]
    graph = Graph(f"random{seed}", (), tuple(ends))
    reached = {id(one) for one in graph.nodes()}
    parameters = tuple(one for one in making.parameters if id(one) in reached)
    return Graph(graph.name, parameters, graph.results)


def inputs_of(graph: Graph, seed: int = 0) -> dict[str, NDArray[Any]]:
    """Raw host values by name: integers over their whole range, floats within -1 to 1."""
    rng = np.random.default_rng(seed)
    found = {}
    for one in graph.parameters:
        of, shape = number(one.type.number), one.type.shape
        if of.kind == "float":
            found[str(one.attributes["name"])] = of.encode(rng.uniform(-1, 1, shape))
        else:
            ends = np.iinfo(of.host)
            found[str(one.attributes["name"])] = rng.integers(
                ends.min, ends.max, shape, of.host, endpoint=True
            )
    return found
