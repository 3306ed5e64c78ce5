"""`Numerics`: what the elements of an operand are, as bits, as values, and in sums.

Three arrays stand for the same elements:

- *raw*: unsigned integers of :attr:`Numerics.bits` bits, as they travel
- *host*: what a C array or a NumPy array of the user holds (:attr:`Numerics.numpy`); the same bits
- *values*: what :meth:`Numerics.decode` gives and the operations here take. Their NumPy type is the numerics'
  own business: int32 for integers, float32 for floats, multiples of a unit in int32 for fixed-point

Products and sums are values of :attr:`Numerics.accumulator`, which is what a result travels in.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

WORD_BITS = 32
"""Width of a stream word. Elements take 8, 16 or all 32 bits of one."""

Raw = npt.NDArray[np.unsignedinteger[Any]]
Values = npt.NDArray[Any]


@dataclass(frozen=True)
class Numerics(ABC):
    """A number format. `name` is what specifications, problems and reports call it."""

    name: str
    bits: int
    """Of an element on the stream: 8, 16 or 32."""

    def __str__(self) -> str:
        return self.name

    @property
    def value(self) -> str:
        """The same as `name`."""
        return self.name

    # --- on the stream and in memory ------------------------------------------------------------------

    @property
    def per_word(self) -> int:
        """Elements in one 32-bit stream word, the lowest in the lowest bits."""
        return WORD_BITS // self.bits

    @property
    def raw(self) -> np.dtype[np.unsignedinteger[Any]]:
        """NumPy's type of raw elements."""
        return np.dtype(f"uint{self.bits}")

    @property
    @abstractmethod
    def numpy(self) -> np.dtype[Any]:
        """NumPy's type of arrays on the host: the type of the driver's arrays in C."""

    @property
    @abstractmethod
    def mlir(self) -> str:
        """MLIR's type of an element in memory: ``i8``, ``f32``."""

    @property
    def in_mlir(self) -> bool:
        """Whether MLIR has ops for its products and sums: else there is no program to make a driver of."""
        return True

    @property
    def extend(self) -> str | None:
        """The op that widens an element to the accumulator in MLIR, ``arith.extsi``; None where none does."""
        return None

    # --- arithmetic -----------------------------------------------------------------------------------

    @property
    @abstractmethod
    def accumulator(self) -> Numerics:
        """What products and sums are in, and results travel in. It is its own accumulator."""

    @property
    @abstractmethod
    def rounding(self) -> str:
        """For people: what products and sums do with what does not fit."""

    @property
    def associative(self) -> bool:
        """Whether sums have the same bits in any order. Else the order is: the reduction's indices ascending,
        the last one fastest, each product added to the sum so far."""
        return True

    @abstractmethod
    def decode(self, raw: Raw) -> Values:
        """The values of raw elements."""

    @abstractmethod
    def encode(self, values: Values) -> Raw:
        """Raw elements; a value that is none of this numerics becomes one as :attr:`rounding` says."""

    @abstractmethod
    def multiply(self, a: Values, b: Values) -> Values:
        """Products, in the accumulator's values."""

    @abstractmethod
    def add(self, a: Values, b: Values) -> Values:
        """Sums, in values of this numerics."""

    def accumulate(self, sums: Values, terms: Values) -> Values:
        """`sums` plus each of `terms`, along their first axis, one after the other. A new array."""
        for term in terms:
            sums = self.add(sums, term)
        return sums

    @abstractmethod
    def widen(self, values: Values) -> Values:
        """The same numbers in the accumulator's values."""

    @abstractmethod
    def narrow(self, sums: Values) -> Values:
        """The accumulator's values in values of this numerics, rounded."""

    def negate(self, values: Values) -> Values:
        """The numbers with the other sign, in values of this numerics."""
        return self.narrow(self.multiply(values, self.nearest(-1)))

    def maximum(self, a: Values, b: Values) -> Values:
        return np.asarray(np.maximum(a, b))

    def minimum(self, a: Values, b: Values) -> Values:
        return np.asarray(np.minimum(a, b))

    @property
    def zero(self) -> Values:
        return self.decode(np.zeros((), self.raw))

    @property
    @abstractmethod
    def lowest(self) -> Values:
        """What :meth:`maximum` of nothing is."""

    @property
    @abstractmethod
    def highest(self) -> Values:
        """What :meth:`minimum` of nothing is."""

    @property
    def operations(self) -> Mapping[str, tuple[Callable[..., Values], Numerics]]:
        """Operations on values by name, each with what its result is: those of bodies of kernels;
        ``copy``, which is encoded again; ``product`` of two elements, exact or rounded into the
        accumulator; ``widen`` to it."""
        return {
            "add": (self.add, self),
            "sub": (lambda a, b: self.add(a, self.negate(b)), self),
            "mul": (lambda a, b: self.narrow(self.multiply(a, b)), self),
            "neg": (self.negate, self),
            "max": (self.maximum, self),
            "min": (self.minimum, self),
            "abs": (lambda a: self.maximum(a, self.negate(a)), self),
            "copy": (lambda a: a, self),
            "product": (self.multiply, self.accumulator),
            "widen": (self.widen, self.accumulator),
        }

    @property
    def integral(self) -> bool:
        """Whether an element is the integer that its bits are, and all operations are those of integers that
        wrap."""
        return False

    @property
    def integral_sums(self) -> bool:
        """The same of sums of products alone, in 32 bits."""
        return self.integral

    def zeros(self, shape: tuple[int, ...]) -> Values:
        return np.full(shape, self.zero)

    def dot(self, sums: Values, a: Values, b: Values) -> Values:
        """`sums` (m, n) plus A (m, k) times B (k, n), in the accumulator's values: k ascending, each product
        added to the sum so far. A new array."""
        total = self.accumulator
        for k in range(a.shape[1]):
            sums = total.add(sums, self.multiply(a[:, k, None], b[None, k, :]))
        return sums

    # --- for people and tests -------------------------------------------------------------------------

    @abstractmethod
    def real(self, values: Values) -> npt.NDArray[np.float64]:
        """The numbers that values stand for."""

    @abstractmethod
    def nearest(self, reals: npt.ArrayLike) -> Values:
        """The values nearest to numbers, halves to even; an end of the range where they exceed it."""

    def random(self, rng: np.random.Generator, shape: tuple[int, ...]) -> npt.NDArray[Any]:
        """Test data: a host array. All that the host's integers can be, so that sums wrap."""
        info = np.iinfo(self.numpy)
        return rng.integers(info.min, info.max, shape, self.numpy, endpoint=True)

    def margin(self, roundings: int, magnitude: npt.ArrayLike) -> npt.NDArray[np.float64] | None:
        """How far a sum may be off the exact one, element by element; None: it must be equal in every bit.

        `roundings`: the most that one term of the sum goes through, its product included. `magnitude`: the
        sum of the absolute values of the terms.
        """
        return None

    @property
    def compared(self) -> str:
        """For people: how results are compared with the reference, and why."""
        return "equal in every bit"
