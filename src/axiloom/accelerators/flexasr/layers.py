"""Layers on FlexASR's units (``flexasr_units.isa``), written by hand: max-pooling, linear, LSTM.

Tensors are AdaptivFloat<8,3> bytes, (steps, elements); each has one bias. Weights lie as the device takes
them (:func:`tiles`). An LSTM's gates are i, g, f, o.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from axiloom.selection.program.program import Command, HostArray, Program, array_bytes

LANES = 16
X, W, MACS = 1024, 4096, 64
"""Vectors that the device has room for."""
GATES = 4
LSTM = bytes.fromhex("303481a0343886b491343886a418968120b0343886a49140")
"""FlexASR's own program of the activation unit."""
_KEPT, _OUT = (1, 2), 4
"""Operations that load and keep a vector of the cell; the one that gives a result."""
Bytes = NDArray[np.uint8]


def tiles(weights: Bytes) -> Bytes:
    """(outputs, inputs) as the device takes it: (outputs / 16, inputs / 16, 16 outputs, 16 inputs)."""
    outputs, inputs = weights.shape
    return weights.reshape(outputs // LANES, LANES, inputs // LANES, LANES).transpose(0, 2, 1, 3).copy()


@dataclass
class _Builder:
    target: str = "flexasr_units"
    commands: list[Command] = field(default_factory=list)
    arrays: list[HostArray] = field(default_factory=list)
    end: int = 0
    top: int = 0
    """Vectors of x that are taken."""

    def add(self, instruction: str, **fields: int) -> None:
        self.commands.append(Command(instruction, fields))

    def array(self, name: str, role: Literal["in", "out"], *shape: int) -> HostArray:
        host_array = HostArray(name, role, shape, "uint8", self.end, "dram")
        self.arrays.append(host_array)
        self.end += -(-array_bytes(host_array) // 64) * 64
        return host_array

    def load(self, array: HostArray, instruction: str = "load", out: int = 0) -> None:
        self.add(instruction, n=array_bytes(array) // LANES, out=out, base=array.base)

    def room(self, vectors: int) -> int:
        """Their first place in x."""
        self.top += vectors
        return self.top - vectors

    def program(self, name: str) -> Program:
        if self.top > X:
            raise ValueError(f"{name}: {self.top} vectors; the device has room for {X}")
        return Program(self.target, name, tuple(self.commands), tuple(self.arrays))


def _vectors(what: str, elements: int) -> int:
    if elements <= 0 or elements % LANES:
        raise ValueError(f"{what} must be a multiple of {LANES}, not {elements}")
    return elements // LANES


def max_pool(steps: int, elements: int) -> Program:
    """Each two steps to one. x lies (vectors, steps, 16): steps of a vector follow each other; so does y."""
    vectors = _vectors("elements", elements)
    if steps <= 0 or steps % 2:
        raise ValueError(f"steps must be even, not {steps}")
    host = _Builder()
    x, y = host.array("x", "in", vectors, steps, LANES), host.array("y", "out", vectors, steps // 2, LANES)
    at = host.room(vectors * steps)
    host.load(x, out=at)
    host.add("pool", n=vectors * steps // 2, row=at, out=at)
    host.add("store", n=vectors * steps // 2, row=at, base=y.base)
    return host.program(f"max_pool_{steps}_{elements}")


@dataclass(frozen=True)
class Biases:
    """Of inputs, weights, what is added, and results."""

    inputs: int = 4
    weights: int = 4
    added: int = 4
    results: int = 4


def linear(steps: int, outputs: int, inputs: int, biases: Biases | None = None) -> Program:
    """``y = x . weights^T + added``: w is :func:`tiles` of the weights, added (outputs,). Raises ValueError
    where it does not fit."""
    biases = biases or Biases()
    deep, wide = _vectors("inputs", inputs), _vectors("outputs", outputs)
    if deep * wide * LANES > W or wide > MACS:
        raise ValueError(f"{outputs} x {inputs} weights; the device has room for {W * LANES}")
    host = _Builder()
    x, w = host.array("x", "in", steps, inputs), host.array("w", "in", wide, deep, LANES, LANES)
    added, y = host.array("added", "in", outputs), host.array("y", "out", steps, outputs)
    at, sums, to = host.room(steps * deep), host.room(wide), host.room(steps * wide)
    for array, out in ((x, at), (added, sums)):
        host.load(array, out=out)
    host.load(w, "load_weights")
    for step in range(steps):
        for tile in range(wide):
            host.add(
                "product",
                n=deep,
                row=at + step * deep,
                weights=tile * deep * LANES,
                added=sums + tile,
                out=tile,
                weight_bias=biases.weights,
                input_bias=biases.inputs,
                added_bias=biases.added,
            )
            host.add("activate", operation=3, b=0, sums=tile)
            host.add("activate", operation=_OUT, b=0, row=to + step * wide + tile, bias=biases.results)
    host.add("store", n=steps * wide, row=to, base=y.base)
    return host.program(f"linear_{steps}_{outputs}_{inputs}")


def lstm(
    steps: int,
    hidden: int,
    inputs: int,
    biases: Biases | None = None,
    before: Biases | None = None,
    activation: bytes = LSTM,
) -> Program:
    """y (steps, hidden) from zeros: wx and wh are (hidden vectors, gates, ...) of :func:`tiles`, ax and ah
    what is added, (hidden vectors, gates, 16); zero is a vector of zeros. Cells and results have one bias.

    `before`: of the product with the result before; without it weights and what is added are as the input's,
    and the result is read with the bias it has. `activation`: another program of the activation unit, which
    takes as many sums. Weights that do not fit together are loaded for 16 cells at a time. Raises ValueError
    where those do not fit.
    """
    biases = biases or Biases()
    before = before or replace(biases, inputs=biases.results)
    deep, wide = _vectors("inputs", inputs), _vectors("hidden", hidden)
    own = GATES * LANES * (deep + wide)  # vectors of weights of 16 cells
    if own > W:
        raise ValueError(
            f"an LSTM of {inputs} inputs and {hidden} cells: 16 cells have {own * LANES} weights, "
            f"and there is room for {W * LANES}"
        )
    resident = wide * own <= W
    host = _Builder()
    x = host.array("x", "in", steps, inputs)
    wx, wh = (
        host.array(name, "in", wide, GATES, size, LANES, LANES) for name, size in (("wx", deep), ("wh", wide))
    )
    ax, ah = (host.array(name, "in", wide, GATES, LANES) for name in ("ax", "ah"))
    zero, y = host.array("zero", "in", wide, LANES), host.array("y", "out", steps, hidden)
    at, h, cells = host.room(steps * deep), host.room((steps + 1) * wide), host.room(wide)
    added = host.room(wide * GATES), host.room(wide * GATES)
    for array, out in ((x, at), (zero, h), (zero, cells), (ax, added[0]), (ah, added[1])):
        host.load(array, out=out)
    block = GATES * deep * LANES, GATES * wide * LANES  # vectors of weights of 16 cells
    if resident:
        host.load(wx, "load_weights")
        host.load(wh, "load_weights", wide * block[0])
    for step in range(steps):
        for tile in range(wide):
            if resident:
                firsts = tile * block[0], wide * block[0] + tile * block[1]
            else:
                firsts = 0, block[0]
                for array, n, out in zip((wx, wh), block, firsts, strict=True):
                    host.add("load_weights", n=n, out=out, base=array.base + tile * n * LANES)
            products = ((deep, at + step * deep, biases), (wide, h + step * wide, before))
            for gate in range(GATES):
                for second, (n, row, of) in enumerate(products):
                    host.add(
                        "product",
                        n=n,
                        row=row,
                        weights=firsts[second] + gate * n * LANES,
                        added=added[second] + tile * GATES + gate,
                        out=2 * gate + second,
                        weight_bias=of.weights,
                        input_bias=of.inputs,
                        added_bias=of.added,
                    )
            of_cell = _cell(activation, cells + tile, h + (step + 1) * wide + tile, biases.results)
            host.commands.extend(of_cell)
    host.add("store", n=steps * wide, row=h + wide, base=y.base)
    return host.program(f"lstm_{steps}_{hidden}_{inputs}")


def _cell(activation: bytes, kept: int, result: int, bias: int) -> Iterator[Command]:
    """FlexASR's program: sums come in the order of gates, of the inputs and then of what was before."""
    sums = 0
    for code in activation:
        operation, b, a = code >> 4, code >> 2 & 3, code & 3
        fields: dict[str, Any] = {"operation": operation, "a": a, "b": b, "bias": bias}
        if operation == 3:
            fields["sums"], sums = sums, sums + 1
        if operation in _KEPT or operation == _OUT:
            fields["row"] = result if operation == _OUT else kept
        yield Command("activate", fields)
