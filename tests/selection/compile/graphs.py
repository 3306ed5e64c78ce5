"""Random applications of what row machines do: products, softmax, transposes.

Values stay small: scores become exponentials only where they cannot overflow.
"""

from __future__ import annotations

import random

from axiloom.graph import Graph, Node, Type
from axiloom.graph.ops import Builder

FEWEST, MOST = 7, 90
LARGEST_SCORE, LARGEST = 60.0, 1e6


def product(builder: Builder, a: Node, b: Node, left: int = 1, right: int = 0) -> Node:
    return builder.op(
        "dot_general", a, b, lhs_batch=(), rhs_batch=(), lhs_contracting=(left,), rhs_contracting=(right,),
        number=a.type.number,
    )  # fmt: skip


def softmax(builder: Builder, x: Node) -> Node:
    e = builder.op("exponential", x)
    total = builder.op("reduce", e, kind="add", dimensions=(1,))
    return builder.op("divide", e, builder.op("broadcast_in_dim", total, shape=x.type.shape, dimensions=(0,)))


def tile(n: int) -> Type:
    return Type((n, n), "bfloat16")


def attention(depth: int, n: int = 64, *, shared: bool = False) -> Graph:
    """Attentions, each on the last one's result; `shared`: all with the same K and V."""
    builder, type_ = Builder(), tile(n)
    parameters = [builder.leaf("parameter", "q", type_)]
    value = parameters[0]
    for i in range(depth):
        if i == 0 or not shared:
            parameters += [builder.leaf("parameter", f"{name}{i}", type_) for name in "kv"]
        k, v = parameters[-2:]
        value = product(builder, softmax(builder, product(builder, value, k, 1, 1)), v)
    return Graph(f"attention{depth}", tuple(parameters), (value,))


class _Making:
    def __init__(self, seed: int, n: int) -> None:
        self.type = tile(n)
        self.dice = random.Random(seed)
        self.builder = Builder()
        self.parameters: list[Node] = []
        self.values: list[Node] = []
        self.size: dict[int, float] = {}
        self.used: set[int] = set()
        self.rows: set[int] = set()
        """Values whose rows add up to 1 and have no negative entries."""

    def keep(self, node: Node, size: float) -> Node:
        if id(node) not in self.size:
            self.values.append(node)
            self.size[id(node)] = size
        return node

    def parameter(self) -> Node:
        made = self.builder.leaf("parameter", f"x{len(self.parameters)}", self.type)
        self.parameters.append(made)
        return self.keep(made, 1.0)

    def pick(self) -> Node:
        """Of what nobody has read yet, for most; else any; else a new parameter."""
        unread = [one for one in self.values if id(one) not in self.used]
        if self.values and self.dice.random() < 0.75:
            pool = unread if unread and self.dice.random() < 0.6 else self.values
            return pool[-1 - min(int(self.dice.expovariate(0.5)), len(pool) - 1)]
        return self.parameter()

    def step(self) -> None:
        kind = self.dice.choices(("product", "scores", "softmax", "transpose"), (5, 2, 4, 1))[0]
        a = self.pick()
        if kind == "softmax":
            if 5 * self.size[id(a)] < LARGEST_SCORE:
                made = self.keep(softmax(self.builder, a), 0.1)
                self.rows.add(id(made))
                self.used.add(id(a))
            return
        if kind == "transpose":
            self.keep(self.builder.op("transpose", a, permutation=(1, 0)), self.size[id(a)])
            self.used.add(id(a))
            return
        b = self.pick()
        size = self.size[id(b)] if id(a) in self.rows else 8 * self.size[id(a)] * self.size[id(b)]
        if size < LARGEST:
            self.used.update((id(a), id(b)))
            self.keep(product(self.builder, a, b, 1, 1 if kind == "scores" else 0), size)


def random_graph(seed: int, n: int = 64) -> Graph:
    """Of `FEWEST` to `MOST` nodes, one to three results; the same for the same seed."""
    making = _Making(seed, n)
    wanted = making.dice.randint(FEWEST, MOST)
    ops = ("dot_general", "divide", "transpose")
    while True:
        computed = [one for one in making.values if one.op in ops]
        results = computed[-making.dice.choice((1, 1, 1, 2, 3)) :] if computed else []
        # What nobody reads is a result, as far as there are three.
        unread = [one for one in computed if id(one) not in making.used][-3:]
        graph = Graph(f"random{seed}", (), tuple(dict.fromkeys([*unread, *results]))[:3])
        many = sum(1 for _ in graph.nodes())
        if many >= wanted or (many >= FEWEST and len(making.values) > 4 * MOST):
            there = {id(one) for one in graph.nodes()}
            given = tuple(one for one in making.parameters if id(one) in there)
            return Graph(graph.name, given, graph.results)
        making.step()
