"""FlexASR's layers on whole arrays: the products of its MAC units, and programs of its activation unit.

What `flexasr.isa` computes, bit for bit. Functions of 20 bits are tables of all their values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from axiloom.application.units.counts import Array, Counts, Places, clamped, wrapped
from axiloom.isa.numerics.adaptivfloat import FRACTION, from_fixed, to_fixed

BITS = 20
LIMIT = (1 << BITS - 1) - 1
ONE = 1 << FRACTION
_HALF = 1 << BITS - 1
_LARGEST = 31 << 7
"""The largest number in units of 2^(bias - 14)."""
_SATURATED, _FLUSHED = 1 << 8, 2 << 8
_ALL = np.arange(-_HALF, _HALF)


@dataclass(frozen=True)
class Version:
    """As the constants of the text."""

    ac_math: int = 321
    saturated_sign: int = 1


NOW = Version()


@cache
def _packed(bias: int, sign_kept: bool) -> Array:
    """Of each Q6.14 its byte, and above it whether it was saturated or flushed."""
    codes = from_fixed(_ALL, bias).astype(np.uint16)
    past = np.where(_ALL < 0, np.abs(_ALL) > 63 << 6 + bias, 63 << 6 + bias <= _ALL)
    if not sign_kept:
        codes[past] = 0x7F
    codes[past] |= _SATURATED
    codes[(codes == 0) & (_ALL != 0)] |= _FLUSHED
    return np.asarray(codes)


def packed(fixed: Array, bias: int, counts: Counts, version: Version = NOW) -> Array:
    """Bytes of Q6.14."""
    codes = _packed(bias, bool(version.saturated_sign))[fixed + _HALF]
    counts.add(codes.size, np.count_nonzero(codes & _SATURATED), np.count_nonzero(codes & _FLUSHED))
    return np.asarray(codes.astype(np.uint8))


_SIGMOID = (155, 130, 92, 58, 34, 19, 10, 6), (513, 668, 798, 890, 948, 982, 1001, 1012)
_TANH = (
    (251, 224, 177, 129, 88, 57, 37, 23, 14, 9, 5, 3),
    (1, 252, 476, 653, 783, 871, 928, 965, 988, 1002, 1011, 1016),
)


def _lines(pieces: tuple[Sequence[int], Sequence[int]], scaled: Array, most: int) -> Array:
    slopes, offsets = map(np.array, pieces)
    piece = np.minimum(scaled >> 10, most)
    return np.asarray(slopes[piece] * (scaled & 1023) + (offsets[piece] << 10))


@cache
def _sigmoids(ac_math: int) -> Array:
    size = np.abs(_ALL)
    scaled = size * 819 >> 13 if ac_math <= 321 else (size >> 4) * 819 >> 9
    right = np.where(size >= 5 << FRACTION, (1 << 20) - 1, _lines(_SIGMOID, scaled & 8191, 7))
    return np.asarray(np.where(_ALL < 0, (1 << 20) - right, right) >> 6, np.int32)


@cache
def _tanhs() -> Array:
    size = np.abs(_ALL)
    scaled = (size << 2 & (1 << 20) - 1) >> 4
    right = np.where(size >= 3 << FRACTION, (1 << 20) - 1, _lines(_TANH, scaled, 11))
    return np.asarray(np.where(_ALL < 0, -right, right) >> 6, np.int32)


@dataclass(frozen=True)
class Weights:
    """Of one product: bytes (gates, outputs, inputs) as values, what is added (gates, outputs) as bytes, and
    the biases."""

    values: Array
    added: Array
    weight_bias: int
    added_bias: int

    @staticmethod
    def of(weights: Array, added: Array, weight_bias: int, added_bias: int) -> Weights:
        # float64: products of 13 bits, and sums of as many as there are, are exact in it, and quick.
        return Weights(to_fixed(weights, 0).astype(np.float64), added, weight_bias, added_bias)


def product(x: Array, weights: Weights, input_bias: int, places: Places, *, first: bool = False) -> Array:
    """What the MAC units make of bytes x (rows, inputs), Q6.14: (gates, rows, outputs).

    `first`: the first step of a product that says so, which then is what is added alone.
    """
    gates, outputs, inputs = weights.values.shape
    if first:
        sums = np.zeros((len(x), gates * outputs), np.int64)
    else:
        reals = to_fixed(x, 0).astype(np.float64) @ weights.values.reshape(-1, inputs).T
        sums = wrapped(reals.astype(np.int64), 32, places["sums"])
    shifted = sums >> FRACTION - weights.weight_bias - input_bias
    added = wrapped(to_fixed(weights.added, weights.added_bias), BITS).reshape(-1)
    total = clamped(shifted + added, -LIMIT, LIMIT, places["sums"])
    return total.reshape(len(x), gates, outputs).transpose(1, 0, 2)


@dataclass
class Lanes:
    """The activation unit on whole arrays: four registers, and what its program has stored."""

    bias: int
    version: Version
    places: Places
    kept: Array | None = None
    """Bytes that a step before has stored; none in the first, which loads zeros."""

    def run(self, program: bytes, products: Sequence[Array]) -> Array:
        """`products` in the order in which the program takes them; returns the bytes that it emits."""
        like = products[0]
        unit: list[Array] = [np.zeros_like(like) for _ in range(4)]
        waiting, emitted = iter(products), None
        for code in program:
            operation, b, a = code >> 4, code >> 2 & 3, code & 3
            if operation == 1:
                kept = self.kept
                unit[b] = np.zeros_like(like) if kept is None else wrapped(to_fixed(kept, self.bias), BITS)
            elif operation == 2:
                self.kept = packed(unit[b], self.bias, self.places["cell"], self.version)
            elif operation == 3:
                unit[b] = next(waiting)
            elif operation == 4:
                emitted = packed(unit[b], self.bias, self.places["output"], self.version)
            elif operation in _COMPUTED:
                unit[b] = _COMPUTED[operation](unit[a], unit[b], self)
        assert emitted is not None, "a program that emits nothing"
        return emitted

    def narrow(self, values: Array) -> Array:
        return wrapped(values, BITS, self.places["registers"])


_COMPUTED: dict[int, Callable[[Array, Array, Lanes], Array]] = {
    7: lambda a, b, _: a,
    8: lambda a, b, unit: unit.narrow(a + b),
    9: lambda a, b, unit: unit.narrow(a * b >> FRACTION),
    10: lambda a, b, unit: _sigmoids(unit.version.ac_math)[b + _HALF].astype(np.int64),
    11: lambda a, b, unit: _tanhs()[b + _HALF].astype(np.int64),
    12: lambda a, b, _: np.maximum(b, 0),
    13: lambda a, b, unit: unit.narrow(ONE - b),
}


def linear(x: Array, weights: Weights, input_bias: int, bias: int, places: Places, version: Version) -> Array:
    """Bytes (rows, inputs) to bytes (rows, outputs)."""
    (sums,) = product(x, weights, input_bias, places)
    return packed(sums, bias, places["output"], version)


def recurrent(
    x: Array,
    weights: tuple[Weights, Weights],
    biases: tuple[int, int, int],
    program: bytes,
    places: Places,
    version: Version,
) -> Array:
    """Bytes (steps, rows, inputs) to bytes (steps, rows, outputs), from zeros on.

    `weights` of the input and of the result before; `biases` those under which the input, the result before
    and what is stored and emitted are read and written.
    """
    of_input, of_hidden, bias = biases
    lanes = Lanes(bias, version, places)
    hidden = np.zeros((x.shape[1], weights[1].values.shape[2]), np.uint8)
    steps = []
    # The input's products need no step before: one large product is quicker than many small ones.
    flat = product(x.reshape(-1, x.shape[2]), weights[0], of_input, places)
    for step in range(len(x)):
        own = flat.reshape(len(flat), *x.shape[:2], -1)[:, step]
        back = product(hidden, weights[1], of_hidden, places, first=step == 0)
        # The program takes of each gate the input's product, then that of the result before.
        hidden = lanes.run(program, [sums for pair in zip(own, back, strict=True) for sums in pair])
        steps.append(hidden)
    return np.stack(steps)
