"""AdaptivFloat<8,3>: 8-bit floats whose exponent is shifted by a bias that a whole tensor shares.

A byte is ``s eee mmmm``. With a bias b of 0 to 7 it stands for (-1)^s 2^(e + b - 10) (1 + m / 16), and e =
m = 0 for zero, whatever the sign (Tambe et al., "Algorithm-Hardware Co-Design of Adaptive Floating-Point
Encodings", DAC 2020; the biases and roundings are those of its authors' published hardware, since its commit
e4f60b5).

The bias belongs to a tensor, not to its elements, and does not travel with them. So values are integers in
units of 2^(b - 14), (16 + m) << e, and products are exact in units of 2^(b1 + b2 - 28). They are summed in
int32 and wrap. Whoever knows the biases scales the sums: :func:`from_fixed`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from axiloom.isa.numerics.fixed import Fixed, fixed
from axiloom.isa.numerics.numerics import Numerics, Raw, Values

NAME = "adaptivfloat<8,3>"
BIASES = range(8)
_MANTISSA = 4
_ONE = 1 << _MANTISSA
_LARGEST = 7
FRACTION = 14
"""The unit of values is 2^(bias - FRACTION)."""


@dataclass(frozen=True)
class AdaptivFloat(Numerics):
    """Values are int32 arrays of units of 2^-14, which the bias of a tensor scales by 2^bias."""

    @property
    def numpy(self) -> np.dtype[Any]:
        return np.dtype(np.uint8)

    @property
    def mlir(self) -> str:
        return "i8"

    @property
    def in_mlir(self) -> bool:
        return False

    @property
    def accumulator(self) -> Fixed:
        return fixed(32, 2 * FRACTION)

    @property
    def rounding(self) -> str:
        return (
            "products are exact, sums are fixed<32,28> and wrap; an element has 5 significant bits, halves "
            "are rounded up, what is too small becomes 0 and what is too large the largest"
        )

    def decode(self, raw: Raw) -> Values:
        return _DECODED[np.asarray(raw, np.uint8)]

    def encode(self, values: Values) -> Raw:
        return from_fixed(values, 0, FRACTION)

    def multiply(self, a: Values, b: Values) -> Values:
        return np.multiply(a, b, dtype=np.int32)

    def add(self, a: Values, b: Values) -> Values:
        """Of two elements with the same bias: the exact sum, rounded."""
        return self.decode(self.encode(np.add(a, b, dtype=np.int32)))

    def widen(self, values: Values) -> Values:
        return values << FRACTION

    def narrow(self, sums: Values) -> Values:
        return self.decode(from_fixed(sums, 0, 2 * FRACTION))

    @property
    def lowest(self) -> Values:
        return -self.highest

    @property
    def highest(self) -> Values:
        return np.array((2 * _ONE - 1) << _LARGEST, np.int32)

    def dot(self, sums: Values, a: Values, b: Values) -> Values:
        return np.asarray(sums + a @ b)

    def real(self, values: Values) -> npt.NDArray[np.float64]:
        """With a bias of 0."""
        return np.ldexp(np.asarray(values, np.float64), -FRACTION)

    def nearest(self, reals: npt.ArrayLike) -> Values:
        """With a bias of 0, as :func:`quantise` rounds."""
        return self.decode(quantise(reals, 0))


def _decoded() -> Values:
    byte = np.arange(256)
    magnitude = np.where(byte & 0x7F, (_ONE + (byte & 0xF)) << (byte >> _MANTISSA & 7), 0)
    return np.where(byte & 0x80, -magnitude, magnitude).astype(np.int32)


_DECODED = _decoded()


def to_fixed(raw: Raw, bias: int) -> Values:
    """Elements of a tensor with this bias as int32 in units of 2^-14."""
    return np.asarray(_DECODED[np.asarray(raw, np.uint8)] << bias)


def from_fixed(numbers: npt.ArrayLike, bias: int, fraction: int = FRACTION) -> Raw:
    """Elements with this bias of integers in units of 2^-`fraction`, as the hardware rounds them.

    To 5 significant bits, halves towards plus infinity: so 16.5 becomes 17 and -16.5 becomes -16. What then
    is below the smallest exponent becomes 0x00, what is above the largest ``s 111 1111``.
    """
    whole = np.asarray(numbers, np.int64)
    size = np.abs(whole)
    log = np.frexp(size.astype(np.float64))[1].astype(np.int64) - 1
    low = np.maximum(log - _MANTISSA, 0)
    rest, half = size & ((1 << low) - 1), (1 << low) >> 1
    up = (low > 0) & np.where(whole < 0, rest > half, rest >= half)
    digits = (size << np.maximum(_MANTISSA - log, 0)) >> low
    digits = digits + up
    log, digits = log + (digits == 2 * _ONE), np.where(digits == 2 * _ONE, _ONE, digits)
    exponent = log - fraction - bias + 10
    sign = np.where(whole < 0, 0x80, 0)
    byte = sign | exponent << _MANTISSA | digits & (_ONE - 1)
    byte = np.where(exponent > _LARGEST, sign | 0x7F, byte)
    return np.where((whole == 0) | (exponent < 0), 0, byte).astype(np.uint8)


def bias_of(reals: npt.ArrayLike) -> int:
    """The bias under which the largest of some numbers has the largest exponent."""
    largest = float(np.max(np.abs(np.asarray(reals, np.float64)), initial=0))
    if largest == 0:
        return 0
    return int(np.clip(int(np.frexp(largest)[1]) - 1 + 3, BIASES[0], BIASES[-1]))


def quantise(reals: npt.ArrayLike, bias: int) -> Raw:
    """Elements nearest to numbers, mantissas halves to even, as a host prepares tensors.

    What is below half the smallest element becomes 0, what is between that and the smallest the smallest.
    """
    numbers = np.asarray(reals, np.float64)
    smallest = np.ldexp(1 + 1 / _ONE, bias - 10)
    largest = np.ldexp(2 - 1 / _ONE, bias - 3)
    size = np.clip(np.abs(numbers), smallest, largest)
    part, power = np.frexp(size)
    digits = np.rint(part * 2 * _ONE).astype(np.int64)
    power = power - 1 + (digits == 2 * _ONE)
    digits = np.where(digits == 2 * _ONE, _ONE, digits)
    byte = (power - bias + 10) << _MANTISSA | digits & (_ONE - 1)
    byte = np.where(numbers < 0, byte | 0x80, byte)
    return np.where(np.abs(numbers) < smallest / 2, 0, byte).astype(np.uint8)


ADAPTIVFLOAT = AdaptivFloat(NAME, 8)


def parse(name: str) -> AdaptivFloat | str | None:
    """AdaptivFloat of this name; why there is none of it; None if the name is of something else."""
    if not name.startswith("adaptivfloat"):
        return None
    return (
        ADAPTIVFLOAT if name.replace(" ", "") == NAME else f"`{name}`: of AdaptivFloat there is {NAME} only"
    )
