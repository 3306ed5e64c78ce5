"""LSTM cells, and sequences of them.

A cell takes x (batch, in), h and c (batch, hidden), w_x (4 hidden, in), w_h (4 hidden, hidden) and b
(4 hidden). Gates lie in the order of PyTorch: input, forget, cell, output. With z = x w_x^T + h w_h^T + b::

    c' = sigmoid(z_f) c + sigmoid(z_i) tanh(z_g)        h' = sigmoid(z_o) tanh(c')

``lstm_h`` and ``lstm_c`` are h' and c'. ``lstm`` and ``lstm_cells`` take xs (time, batch, in) instead of x
and give all h' or all c', (time, batch, hidden).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from axiloom.graph.graph import Node, Type
from axiloom.graph.ops.checks import kind_of, need, rank_of
from axiloom.graph.ops.composite import composite
from axiloom.graph.ops.op import Algebra, Attributes, Element, Index, Make, Read
from axiloom.graph.ops.registry import OPS as KNOWN


def _gate(make: Make, z: Node, number: int, hidden: int) -> Node:
    batch = z.type.shape[0]
    return make("slice", z, start=(0, number * hidden), limit=(batch, (number + 1) * hidden), strides=(1, 1))


def _sums(make: Make, operands: Sequence[Node]) -> Node:
    x, h, _, w_x, w_h, b = operands
    kind_of(x.type, "float")
    of = x.type.number
    both = make("add", make("dense", x, w_x, number=of), make("dense", h, w_h, number=of))
    return make("bias_add", both, b, dimension=1)


def _lstm_c(make: Make, operands: Sequence[Node], _: Attributes) -> Node:
    c, z = operands[2], _sums(make, operands)
    rank_of(c.type, 2, "the cell state")
    hidden = c.type.shape[1]
    taken, kept = (make("logistic", _gate(make, z, i, hidden)) for i in (0, 1))
    new = make("tanh", _gate(make, z, 2, hidden))
    return make("add", make("multiply", kept, c), make("multiply", taken, new))


def _lstm_h(make: Make, operands: Sequence[Node], _: Attributes) -> Node:
    z, c = _sums(make, operands), make("lstm_c", *operands)
    shown = make("logistic", _gate(make, z, 3, c.type.shape[1]))
    return make("multiply", shown, make("tanh", c))


def _unrolled(make: Make, operands: Sequence[Node], of: str) -> Node:
    xs, h, c, *weights = operands
    rank_of(xs.type, 3, "the sequence")
    steps, batch, width = xs.type.shape
    need(steps >= 1, "a sequence of no steps")
    outputs = []
    for step in range(steps):
        row = make("slice", xs, start=(step, 0, 0), limit=(step + 1, batch, width), strides=(1, 1, 1))
        x = make("reshape", row, shape=(batch, width))
        h, c = make("lstm_h", x, h, c, *weights), make("lstm_c", x, h, c, *weights)
        kept = {"h": h, "c": c}[of]
        outputs.append(make("reshape", kept, shape=(1, *kept.type.shape)))
    return make("concatenate", *outputs, dimension=0)


def _result(types: Sequence[Type], _: Attributes) -> Type:
    xs, h, c, *weights = types
    rank_of(xs, 3, "the sequence")
    need(xs.shape[0] >= 1, "a sequence of no steps")
    step = (Type(xs.shape[1:], xs.number), h, c, *weights)
    for name, state in (("lstm_h", h), ("lstm_c", c)):
        next_ = KNOWN[name].result(step, {})
        need(next_ == state, f"a state of {state} becomes {next_}")
    return Type((xs.shape[0], *h.shape), h.number)


def _element(which: int) -> Element:
    """Of h (0) or c (1), at a step."""

    def element(
        algebra: Algebra, reads: Sequence[Read], index: Index, types: Sequence[Type], _: Attributes
    ) -> Any:
        xs, h, c, *weights = reads
        now, *at = index
        kinds = [Type(types[0].shape[1:], types[0].number), *types[1:]]

        def cell(name: str, inner: Sequence[Read], at: Index) -> Any:
            return KNOWN[name].element(algebra, inner, at, kinds, {})

        def step(k: Any, states: Sequence[Read]) -> Sequence[Read]:
            inner = [lambda at: xs([k, *at]), *states, *weights]
            return [partial(cell, name, inner) for name in ("lstm_h", "lstm_c")]

        shapes = (types[1].shape, types[2].shape)
        return algebra.scan(now + 1, types[0].shape[0], (h, c), shapes, step, which, at)

    return element


OPS = (
    composite("lstm_c", 6, _lstm_c, doc="x, h, c, w_x, w_h, b: the next cell state"),
    composite("lstm_h", 6, _lstm_h, doc="x, h, c, w_x, w_h, b: the next hidden state"),
    composite(
        "lstm", 6, lambda m, o, _: _unrolled(m, o, "h"), doc="xs, h, c, ...: all hidden states",
        element=_element(0), result=_result,
    ),
    composite(
        "lstm_cells", 6, lambda m, o, _: _unrolled(m, o, "c"), doc="xs, h, c, ...: all cell states",
        element=_element(1), result=_result,
    ),
)  # fmt: skip
