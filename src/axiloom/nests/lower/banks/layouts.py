"""`BankLayout`: where each element of an array lies: bank and address, as numbers and as hardware."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import gcd, prod

import numpy as np
import numpy.typing as npt

from axiloom.base.affine import Affine
from axiloom.base.errors import CompileError
from axiloom.hw.nest.circuit import Place, Term
from axiloom.nests.schedule import Cyclic, Hyperplane

Ranges = Mapping[str, tuple[int, int]]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class BankLayout:
    """An array of `shape` in banks; `copies` of it follow each other in each bank (ping-pong)."""

    array: str
    shape: tuple[int, ...]
    partition: Cyclic | Hyperplane
    copies: int = 1

    def __post_init__(self) -> None:
        parts = self.partition.factors if isinstance(self.partition, Cyclic) else self.partition.coefficients
        if len(parts) != len(self.shape):
            raise CompileError(
                f"layout of {self.array}: {len(parts)} numbers for {len(self.shape)} dimensions"
            )
        if isinstance(self.partition, Hyperplane):
            if not self.shape or gcd(self.partition.coefficients[-1], self.partition.banks) != 1:
                raise CompileError(
                    f"layout of {self.array}: the last coefficient {self.partition.coefficients} and "
                    f"{self.partition.banks} banks have a common divisor: two elements would share a place"
                )
        elif any(factor < 1 for factor in self.partition.factors):
            raise CompileError(f"layout of {self.array}: factors must be positive, not {parts}")

    # --- sizes ---------------------------------------------------------------------------------------

    @property
    def banks(self) -> int:
        if isinstance(self.partition, Hyperplane):
            return self.partition.banks
        return prod(self.partition.factors)

    @property
    def extents(self) -> tuple[int, ...]:
        """Of the addresses: each dimension's part."""
        if isinstance(self.partition, Hyperplane):
            return (*self.shape[:-1], -(-self.shape[-1] // self.partition.banks))
        return tuple(-(-n // f) for n, f in zip(self.shape, self.partition.factors, strict=True))

    @property
    def depth(self) -> int:
        """Words a bank."""
        return prod(self.extents) * self.copies

    # --- as hardware ---------------------------------------------------------------------------------

    def place(
        self, subscripts: tuple[Affine, ...], ranges: Ranges, turn: Affine | None = None
    ) -> tuple[Place, Place]:
        """Bank and address of an element. A bank that does not depend on the counters is one constant
        term."""
        bank: list[Term] = []
        address: list[Term] = []
        if isinstance(self.partition, Hyperplane):
            total = Affine.sum([])
            for form, factor in zip(subscripts, self.partition.coefficients, strict=True):
                total = total + form * factor
            low = total.range(ranges)[0]
            total = total + -(low // self.partition.banks) * self.partition.banks
            bank.append(modulo(total, self.partition.banks, 1, ranges))
        strides = _strides(self.extents)
        if isinstance(self.partition, Hyperplane):
            divisors = [1] * (len(self.shape) - 1) + [self.partition.banks]
            address += [
                divided(form, divisor, stride, ranges)
                for form, divisor, stride in zip(subscripts, divisors, strides, strict=True)
            ]
        else:
            rows = zip(
                subscripts,
                self.partition.factors,
                self.extents,
                strides,
                _strides(self.partition.factors),
                strict=True,
            )
            for dimension, (form, factor, extent, stride, step) in enumerate(rows):
                if dimension in self.partition.block:
                    bank.append(divided(form, extent, step, ranges))
                    address.append(modulo(form, extent, stride, ranges))
                else:
                    bank.append(modulo(form, factor, step, ranges))
                    address.append(divided(form, factor, stride, ranges))
        if turn is not None and self.copies > 1:
            low = turn.range(ranges)[0]
            turn = turn + -(low // self.copies) * self.copies
            address.append(modulo(turn, self.copies, prod(self.extents), ranges))
        return added(bank), added(address)

    def apart(self, affines: tuple[Affine, ...], other: tuple[Affine, ...]) -> bool:
        """Whether two elements lie in different banks, whatever the counters are."""
        gaps = [a - b for a, b in zip(affines, other, strict=True)]
        if isinstance(self.partition, Hyperplane):
            total = Affine()
            for gap, factor in zip(gaps, self.partition.coefficients, strict=True):
                total = total + gap * factor
            return _never_multiple(total, self.partition.banks)
        return any(
            dimension not in self.partition.block and _never_multiple(gap, factor)
            for dimension, (gap, factor) in enumerate(zip(gaps, self.partition.factors, strict=True))
        )

    # --- as numbers ----------------------------------------------------------------------------------

    def indices(self) -> tuple[Integers, Integers]:
        """Bank and address of each element (copy 0), both of the array's shape."""
        axes = self._axes()
        bank = sum((bank for bank, _ in axes), np.int64(0))
        address = sum((address for _, address in axes), np.int64(0))
        if isinstance(self.partition, Hyperplane):
            bank = bank % self.partition.banks
        return np.broadcast_to(bank, self.shape), np.broadcast_to(address, self.shape)

    def _axes(self) -> list[tuple[Integers, Integers]]:
        """What each dimension adds to the bank (along a hyperplane: before the remainder) and to the address,
        each with one dimension that is not 1: arrays of hundreds of megabytes are added up only once."""
        grid = np.ix_(*(np.arange(n, dtype=np.int64) for n in self.shape))
        strides = _strides(self.extents)
        if isinstance(self.partition, Hyperplane):
            divisors = [1] * (len(self.shape) - 1) + [self.partition.banks]
            coefficients = self.partition.coefficients
            return [
                (x * coefficient, x // divisor * stride)
                for x, coefficient, divisor, stride in zip(grid, coefficients, divisors, strides, strict=True)
            ]
        factors = self.partition.factors
        rows = zip(grid, factors, self.extents, strides, _strides(factors), strict=True)
        return [
            (x // extent * step, x % extent * stride)
            if dimension in self.partition.block
            else (x % factor * step, x // factor * stride)
            for dimension, (x, factor, extent, stride, step) in enumerate(rows)
        ]

    def _places(self) -> Integers:
        """Where each element lies, if the banks follow each other: of the array's shape."""
        if isinstance(self.partition, Hyperplane):
            bank, address = self.indices()
            return bank * self.depth + address
        places = sum((bank * self.depth + address for bank, address in self._axes()), np.int64(0))
        return np.broadcast_to(places, self.shape)

    def to_banks(self, raw: npt.NDArray[np.unsignedinteger]) -> npt.NDArray[np.unsignedinteger]:
        """An array (shape) as what the banks hold (banks, depth); all copies alike, what no element uses is
        0."""
        places = self._places()
        contents = np.zeros(self.banks * self.depth, raw.dtype)
        for copy in range(self.copies):
            contents[places + copy * prod(self.extents) if copy else places] = raw
        return contents.reshape(self.banks, self.depth)

    def from_banks(
        self, banks: npt.NDArray[np.unsignedinteger], copy: int = 0
    ) -> npt.NDArray[np.unsignedinteger]:
        """Back: (banks, depth) to (shape)."""
        places = self._places()
        return banks.reshape(-1)[places + copy * prod(self.extents) if copy else places]


def _never_multiple(form: Affine, number: int) -> bool:
    """Whether the form is a multiple of `number` nowhere, whatever its names are: ``8*i + 3`` of 24."""
    return form.constant % gcd(number, *(factor for _, factor in form.terms)) != 0


def _strides(extents: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(prod(extents[i + 1 :]) for i in range(len(extents)))


def _parted(form: Affine, divisor: int, ranges: Ranges) -> tuple[Affine, Affine] | None:
    """``form div divisor`` and ``form mod divisor`` as forms, if they are."""
    quotient = Affine(
        tuple((name, factor // divisor) for name, factor in form.terms if factor % divisor == 0),
        form.constant // divisor,
    )
    rest = form - quotient * divisor
    low, high = rest.range(ranges)
    shift = low // divisor
    if high - shift * divisor >= divisor:
        return None
    return quotient + shift, rest - shift * divisor


def divided(form: Affine, divisor: int, factor: int, ranges: Ranges) -> Term:
    """``factor * (form div divisor)``."""
    parted = _parted(form, divisor, ranges)
    return Term(form, factor, divisor) if parted is None else Term(parted[0], factor)


def modulo(form: Affine, modulus: int, factor: int, ranges: Ranges) -> Term:
    """``factor * (form mod modulus)``."""
    parted = _parted(form, modulus, ranges)
    return Term(form, factor, 1, modulus) if parted is None else Term(parted[1], factor)


def added(terms: list[Term]) -> Place:
    """The sum, in which all that is affine is one term."""
    plain = Affine()
    rest: list[Term] = []
    for term in terms:
        if term.divisor == 1 and term.modulus == 0:
            plain = plain + term.value * term.factor
        else:
            rest.append(term)
    if rest and plain == Affine():
        return tuple(rest)
    return (Term(plain), *rest)


def is_constant(place: Place) -> bool:
    return all(term.value.is_constant for term in place)


def constant(place: Place) -> int:
    """The number of a constant place."""
    return sum(value(term, {}) for term in place)


def value(term: Term, at: Mapping[str, int]) -> int:
    quotient = term.value.value(at) // term.divisor
    return term.factor * (quotient % term.modulus if term.modulus else quotient)


def values(place: Place, at: Mapping[str, Integers], size: int) -> Integers:
    """The numbers of a place at many points."""
    total = np.zeros(size, np.int64)
    for term in place:
        quotient = term.value.values(at) // term.divisor
        total = total + term.factor * (quotient % term.modulus if term.modulus else quotient)
    return total


def bounds(place: Place, ranges: Ranges) -> tuple[int, int]:
    """Least and largest number a place can have."""
    lows, highs = 0, 0
    for term in place:
        low, high = (end // term.divisor for end in term.value.range(ranges))
        if term.modulus and (low < 0 or high >= term.modulus):
            low, high = 0, term.modulus - 1
        ends = (term.factor * low, term.factor * high)
        lows, highs = lows + min(ends), highs + max(ends)
    return lows, highs
