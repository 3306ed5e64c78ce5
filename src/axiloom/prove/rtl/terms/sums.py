"""Sums of products in one form: whole numbers, however many bits they are computed in and in which order.

A text adds in as many bits as a sum can need, the RTL in as many as its adders have. Here each term of n bits
has a polynomial over atoms (terms that are no sums), which it equals modulo 2^n. Terms with one polynomial
become the same term: the polynomial in as many bits as its values need, extended or cut off.

======================  ==================================================================
term of n bits          its polynomial, P and Q those of what is below
======================  ==================================================================
a + b, a - b, a * b     P + Q, P - Q, P * Q
low bits of a           P
bits from k on          floor(P / 2^k), an atom: right modulo 2^n wherever a has these bits
a with its sign         P, if each of its values is a number of a's bits; else a is an atom
a with zeros in front   P, if each of its values is one of a's bits without a sign
a with k zeros behind   P * 2^k
======================  ==================================================================

Why it is sound: each line is an equation modulo 2^n of whole numbers. Ranges are those of all values that
atoms can have. A polynomial with products becomes a constant of its own (`named`), of which only the range is
known: what holds of all numbers in this range holds of the polynomial's value. What does *not* hold may be
for want of its meaning: who asks has to ask again without.

``prove rtl --isa`` compares sums as whole numbers. A product of vectors is sixteen multiply-adds
of numbers with exponents, in as many bits as they need in the text and in others in the RTL; solvers did
not decide one in 40 minutes. Their operands hang on one byte each, so a table of 256 values says which
function they are; what is added is a polynomial over those, and its range says where it loses bits. Terms
with one polynomial become the same term, and one command takes seconds. A smaller unit (fewer lanes in
text and RTL) would have been proved sooner, but another one than users get. The short form forgets what
tables and products are, so only "equal" is believed of it; anything else is asked again, with the
products.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import z3

from axiloom.base.affine import polynomial
from axiloom.base.affine.polynomial import Range
from axiloom.prove.rtl.terms.machine import walk
from axiloom.prove.rtl.terms.nodes import children, number

MOST_PARTS = 600
"""Of a polynomial, in products with numbers; what has more is an atom."""
MOST_BITS = 128
"""Of a polynomial's values; the same."""

Product: TypeAlias = polynomial.Monomial[int]
"""Of atoms, by their numbers."""


@dataclass(frozen=True)
class Polynomial:
    """Products of atoms with their factors, none of them 0, in order; the number alone is the product of no
    atoms."""

    parts: tuple[tuple[Product, int], ...]

    @classmethod
    def of(cls, parts: Mapping[Product, int]) -> Polynomial:
        return cls(tuple(sorted((one, factor) for one, factor in parts.items() if factor)))

    @property
    def is_linear(self) -> bool:
        return all(len(one) < 2 for one, _ in self.parts)

    @property
    def atom(self) -> int | None:
        """If it is one and nothing else."""
        match self.parts:
            case (((atom,), 1),):
                return atom
        return None


class Sums:
    """Makes that form. `range_of`: the range of a term, if somebody knows it.

    Attributes: `named`, constants to what they stand for; `ranges`, of those constants.
    """

    def __init__(self, range_of: Callable[[Any], Range | None] = lambda _term: None) -> None:
        self.named: list[tuple[Any, Any]] = []
        self.ranges: list[Range] = []
        self._range_of = range_of
        self._atoms: dict[int, tuple[Any, Range]] = {}
        self._terms: dict[Polynomial, Any] = {}
        self._polynomials: dict[int, Polynomial] = {}
        self._made: dict[int, Any] = {}
        self._met: dict[int, Any] = {}  # the numbers of terms that are gone are given again

    def __call__(self, terms: Sequence[Any]) -> list[Any]:
        for node in walk(terms, self._met):
            self._met[number(node)] = node
            if z3.is_bv(node):
                self._polynomials[number(node)] = self._polynomial(node)
            else:
                self._made[number(node)] = self._again(node)
        return [z3.simplify(self._new(term)) for term in terms]

    def holds_within(self, formula: Any) -> Any:
        """`formula` for the named constants of it in their ranges."""
        there = {number(node) for node in walk([formula]) if z3.is_const(node)}
        bounds = [
            z3.And(name >= low, name <= high)
            for (name, _), (low, high) in zip(self.named, self.ranges, strict=True)
            if number(name) in there
        ]
        return z3.Implies(z3.And(*bounds), formula) if bounds else formula

    # --- polynomials --------------------------------------------------------------------------------------

    def _polynomial(self, node: Any) -> Polynomial:
        rule = _RULES.get(node.decl().kind()) if z3.is_app(node) else None
        found = rule(self, node) if rule else None
        if found is None or not self._is_small(found):
            return self._atom(self._again(node), self._range(node))
        return found

    def _is_small(self, value: Polynomial) -> bool:
        return len(value.parts) <= MOST_PARTS and _bits(self.range(value)) <= MOST_BITS

    def _atom(self, term: Any, within: Range) -> Polynomial:
        term = z3.simplify(term)
        self._atoms.setdefault(number(term), (term, within))
        return Polynomial.of({(number(term),): 1})

    def _range(self, node: Any) -> Range:
        """Of a term that is an atom."""
        bits = node.size()
        if (found := self._range_of(node)) is not None:
            return found
        if z3.is_app_of(node, z3.Z3_OP_ITE):
            sides = [self.range(self._polynomials[number(child)]) for child in children(node)[1:]]
            if all(_bits(side) <= bits for side in sides):
                return min(low for low, _ in sides), max(high for _, high in sides)
        zeros = _zeros_in_front(node)
        return (0, (1 << bits - zeros) - 1) if zeros else (-1 << bits - 1, (1 << bits - 1) - 1)

    def range(self, value: Polynomial) -> Range:
        return polynomial.bounds(value.parts, self._extent)

    def _extent(self, atoms: Product) -> Range:
        return polynomial.extent(atoms, lambda atom: self._atoms[atom][1])

    def of(self, node: Any) -> Polynomial:
        """Of a node that was met."""
        return self._polynomials[number(node)]

    def floor(self, value: Polynomial, bits: int) -> Polynomial:
        """Divided by 2^bits, towards minus infinity."""
        if not bits:
            return value
        low, high = self.range(value)
        if low >> bits == high >> bits:
            return Polynomial.of({(): low >> bits})
        whole = self._term(value)
        top = whole.size() - 1  # its sign stands for all bits above
        return self._atom(z3.Extract(top, min(bits, top), whole), (low >> bits, high >> bits))

    def signed(self, node: Any) -> Polynomial:
        """What equals the value of `node`, as a number with a sign, and not only modulo 2^n."""
        found = self.of(node)
        if _bits(self.range(found)) <= node.size():
            return found
        return self._atom(self._new(node), _of_bits(node.size()))

    # --- terms --------------------------------------------------------------------------------------------

    def _new(self, node: Any) -> Any:
        """What a node that was met becomes."""
        own = number(node)
        if own not in self._made:
            self._made[own] = _in_bits(self._term(self._polynomials[own]), node.size())
        return self._made[own]

    def _again(self, node: Any) -> Any:
        """`node` over what its children become."""
        below = [self._new(child) for child in children(node)]
        if all(one.eq(child) for one, child in zip(below, children(node), strict=True)):
            return node
        return node.decl()(*below)

    def _term(self, value: Polynomial) -> Any:
        """In as many bits as its values need."""
        if value not in self._terms:
            self._terms[value] = self._whole(value)
        return self._terms[value]

    def _whole(self, value: Polynomial) -> Any:
        atom = value.atom
        if atom is not None:
            return self._atoms[atom][0]
        within = self.range(value)
        bits = _bits(within)
        whole = z3.BitVecVal(0, bits)
        for atoms, factor in value.parts:
            product = z3.BitVecVal(factor, bits)
            for one in atoms:
                product = product * _in_bits(self._atoms[one][0], bits)
            whole = whole + product
        if value.is_linear:
            return z3.simplify(whole)
        name = z3.BitVec(f"sum {len(self.named)} of products", bits)
        self.named.append((name, whole))
        self.ranges.append(within)
        return name


# --- rules ------------------------------------------------------------------------------------------------


def _number(sums: Sums, node: Any) -> Polynomial:
    return Polynomial.of({(): node.as_signed_long()})


def _sum(sums: Sums, node: Any) -> Polynomial:
    return Polynomial.of(polynomial.total(*((sums.of(child).parts, 1) for child in children(node))))


def _difference(sums: Sums, node: Any) -> Polynomial:
    first, *others = map(sums.of, children(node))
    return Polynomial.of(polynomial.total((first.parts, 1), *((other.parts, -1) for other in others)))


def _opposite(sums: Sums, node: Any) -> Polynomial:
    return _times(sums.of(node.arg(0)), -1)


def _product(sums: Sums, node: Any) -> Polynomial | None:
    factors = [sums.of(child) for child in children(node)]
    found = factors[0]
    for other in factors[1:]:
        if len(found.parts) * len(other.parts) > MOST_PARTS:
            return None
        found = Polynomial.of(polynomial.times(found.parts, other.parts))
    return found


def _extract(sums: Sums, node: Any) -> Polynomial:
    _, low = node.params()
    return sums.floor(sums.of(node.arg(0)), low)


def _sign_extended(sums: Sums, node: Any) -> Polynomial:
    return sums.signed(node.arg(0))


def _shifted_down(sums: Sums, node: Any) -> Polynomial | None:
    whole, bits = children(node)
    if not z3.is_bv_value(bits):
        return None
    return sums.floor(sums.signed(whole), min(bits.as_long(), node.size() - 1))


def _shifted_up(sums: Sums, node: Any) -> Polynomial | None:
    whole, bits = children(node)
    if not z3.is_bv_value(bits) or bits.as_long() >= node.size():
        return None
    return _times(sums.of(whole), 1 << bits.as_long())


def _zero_extended(sums: Sums, node: Any) -> Polynomial | None:
    return _unsigned(sums, node.arg(0))


def _concatenated(sums: Sums, node: Any) -> Polynomial | None:
    *front, last = _flat(node)
    if z3.is_bv_value(last) and last.as_long() == 0:
        if len(front) != 1:
            return None
        return _times(sums.of(front[0]), 1 << last.size())
    if all(z3.is_bv_value(one) and one.as_long() == 0 for one in front):
        return _unsigned(sums, last)
    if all(_is_sign(sums, one, last) for one in front):
        return sums.signed(last)
    return None


def _unsigned(sums: Sums, node: Any) -> Polynomial | None:
    """The value of `node` as a number without a sign."""
    found = sums.of(node)
    low, high = sums.range(found)
    return found if low >= 0 and high < 1 << node.size() else None


def _is_sign(sums: Sums, one: Any, last: Any) -> bool:
    """Whether `one` is the highest bit of `last`: it is bit k of a term, and `last` is its bits up to k."""
    if not z3.is_app_of(one, z3.Z3_OP_EXTRACT) or one.size() != 1:
        return False
    high, _ = one.params()
    bits = high - last.size() + 1
    return bits >= 0 and sums.floor(sums.of(one.arg(0)), bits) == sums.of(last)


def _flat(node: Any) -> Iterable[Any]:
    """The parts of words in words, the highest first."""
    for child in children(node):
        if z3.is_app_of(child, z3.Z3_OP_CONCAT):
            yield from _flat(child)
        else:
            yield child


def _zeros_in_front(node: Any) -> int:
    if z3.is_app_of(node, z3.Z3_OP_ZERO_EXT):
        return int(node.params()[0])
    if not z3.is_app_of(node, z3.Z3_OP_CONCAT):
        return 0
    first = next(iter(_flat(node)))
    return int(first.size()) if z3.is_bv_value(first) and first.as_long() == 0 else 0


def _times(value: Polynomial, factor: int) -> Polynomial:
    return Polynomial.of(polynomial.total((value.parts, factor)))


_RULES: Mapping[int, Callable[[Sums, Any], Polynomial | None]] = {
    z3.Z3_OP_BNUM: _number,
    z3.Z3_OP_BADD: _sum,
    z3.Z3_OP_BSUB: _difference,
    z3.Z3_OP_BNEG: _opposite,
    z3.Z3_OP_BMUL: _product,
    z3.Z3_OP_EXTRACT: _extract,
    z3.Z3_OP_CONCAT: _concatenated,
    z3.Z3_OP_SIGN_EXT: _sign_extended,
    z3.Z3_OP_ZERO_EXT: _zero_extended,
    z3.Z3_OP_BASHR: _shifted_down,
    z3.Z3_OP_BSHL: _shifted_up,
}


def _bits(within: Range) -> int:
    """That numbers of a range need, with a sign."""
    return max(max(one, ~one) for one in within).bit_length() + 1


def _of_bits(bits: int) -> Range:
    return -1 << bits - 1, (1 << bits - 1) - 1


def _in_bits(term: Any, bits: int) -> Any:
    """Extended with its sign, or cut off."""
    more = bits - term.size()
    if more > 0:
        return z3.SignExt(more, term)
    return z3.Extract(bits - 1, 0, term) if more else term
