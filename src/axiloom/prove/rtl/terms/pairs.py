"""Multipliers that give two products of int8 at once, as two: what is proved of one, and put in its place.

A pair's first register holds (high << 16 | low) * shared, its second one that plus 2^15
(:mod:`axiloom.hw.array.pair`). There both products hang on both elements, so no solver would find a product
of the model in it while products have no meaning. It is proved once, of the Verilog's own terms and for all
values, that the second register is what two products of 16 bits side by side give. Then the first register
holds these: the same machine, as nothing else reads it, and one value stands for the other.

``prove rtl`` takes pairs apart. Both products of a pair hang on both elements, and solvers would have to
know what a product is to tell them from each other. So it is shown, for all 2^25 values, that a pair's
second register holds two products. Then the first register holds those in the machine that is proved: one
value stands for the other, and nothing else reads it. A pair of which that cannot be shown stays as it
is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import z3

from axiloom.base.cache import content_hash, remembered
from axiloom.hw.array.pair import BITS, PRODUCT_BITS
from axiloom.isa.formal import code
from axiloom.isa.formal.ila import ModelError
from axiloom.prove.rtl.terms.machine import Machine, product, walk, with_products

Multiply = Callable[[Any, Any], Any]

_FIRST = re.compile(r"^(.+)\.full$")
_HIGH_BITS = BITS + 1


def apart(machine: Machine) -> Machine:
    """`machine` with two products in each pair of which that is proved; the others stay as they are."""
    following = dict(machine.following)
    for first, second in _pairs(machine):
        full, both = machine.registers[first], machine.following[second]
        if not _is_read_by(machine, full, second):
            continue
        wide, shared = (with_products(child) for child in machine.following[first].children())
        if not _is_widened(wide, shared) or not _holds(full, both, wide.size()):
            continue
        products = _products(_element(wide), wide, shared, product(PRODUCT_BITS))
        following[first] = z3.ZeroExt(full.size() - products.size(), products)
        following[second] = _turned(z3.Extract(products.size() - 1, 0, full))
    return replace(machine, following=following)


def _holds(full: Any, both: Any, bits: int) -> bool:
    """Behind a product of a pair and a factor, the second register holds two products: for all of them."""
    high, low, shared = (z3.BitVec(*one) for one in (("high", _HIGH_BITS), ("low", BITS), ("shared", BITS)))
    pair = z3.Concat(high, *[_sign(low)] * (PRODUCT_BITS - BITS), low)
    wide, factor = z3.SignExt(bits - pair.size(), pair), z3.SignExt(bits - BITS, shared)
    behind = z3.substitute(both, (full, wide * factor))
    products = _turned(_products(_sum(wide), wide, factor, lambda one, other: one * other))
    try:
        made, (ours, theirs) = code.lines([behind, products], str)
    except ModelError:
        return False  # a form that nobody knows
    return _same("\n".join(made), ours, theirs) and _are_equal(_element(wide), _sum(wide))


def _same(text: str, one: str, other: str) -> bool:
    """Whether what `text` computes from high, low and shared is equal, for each of the 2^25. Multipliers are
    hard for solvers, and these are small. Half a minute, kept in the user's cache folder."""
    elements = np.arange(1 << _HIGH_BITS)[:, None], np.arange(1 << BITS)
    program = compile(text, "<pair>", "exec")

    def differs(shared: int) -> bool:
        space: dict[str, Any] = {"high": elements[0], "low": elements[1], "shared": shared, "min": np.minimum}
        exec(program, space)  # our own text, of our own terms
        return bool(np.any(space[one] != space[other]))

    key = content_hash(text, one, other)
    differing, _ = remembered("prove-pair", key, lambda: next(filter(differs, range(1 << BITS)), None))
    return differing is None


def _are_equal(one: Any, other: Any) -> bool:
    solver = z3.Solver()
    solver.add(one != other)
    return bool(solver.check() == z3.unsat)


def _pairs(machine: Machine) -> Iterator[tuple[str, str]]:
    for name, term in machine.following.items():
        if (match := _FIRST.match(name)) and term.num_args() == 2:
            second = f"{match[1]}.both"
            if second in machine.following:
                yield name, second


def _is_read_by(machine: Machine, register: Any, reader: str) -> bool:
    """Nothing else hangs on it."""
    terms = {
        **machine.following,
        **{f"out of it: {name}": output for name, output in machine.outputs.items()},
    }
    readers = {
        name
        for name, term in terms.items()
        if any(z3.is_const(one) and one.get_id() == register.get_id() for one in walk([term]))
    }
    return readers == {reader}


def _is_widened(wide: Any, shared: Any) -> bool:
    """The factors are a pair, 16 bits from one to the other, and one more, all with their signs."""
    pair = z3.Concat(_high(wide), *[_sign(wide)] * (PRODUCT_BITS - BITS), z3.Extract(BITS - 1, 0, wide))
    one = z3.Extract(BITS - 1, 0, shared)
    whole = wide == z3.SignExt(wide.size() - pair.size(), pair)
    whole = z3.And(whole, shared == z3.SignExt(shared.size() - BITS, one))
    return bool(z3.is_true(z3.simplify(whole)))


def _products(high: Any, wide: Any, shared: Any, multiply: Multiply) -> Any:
    """Both products of a pair, side by side; the element `high` is given."""
    low, factor = (z3.Extract(BITS - 1, 0, one) for one in (wide, shared))
    low, factor = (z3.SignExt(PRODUCT_BITS - BITS, one) for one in (low, factor))
    return z3.Concat(multiply(high, factor), multiply(low, factor))


def _sum(wide: Any) -> Any:
    """The high element of a pair with what it has lent to the low one. A register may hold what is no pair,
    so it has more bits than an element."""
    high, lent = _high(wide), _sign(wide)
    return z3.SignExt(PRODUCT_BITS - _HIGH_BITS, high) + z3.ZeroExt(PRODUCT_BITS - 1, lent)


def _element(wide: Any) -> Any:
    """The same. Where a term is a pair of elements, the loan goes away by itself in as few bits as it has."""
    element = _high(wide) + z3.ZeroExt(_HIGH_BITS - 1, _sign(wide))
    whole = z3.SignExt(PRODUCT_BITS - BITS, z3.Extract(BITS - 1, 0, element))
    is_element = z3.Extract(BITS, BITS, element) == z3.Extract(BITS - 1, BITS - 1, element)
    return z3.If(is_element, whole, _sum(wide))


def _high(wide: Any) -> Any:
    return z3.Extract(PRODUCT_BITS + _HIGH_BITS - 1, PRODUCT_BITS, wide)


def _sign(wide: Any) -> Any:
    return z3.Extract(BITS - 1, BITS - 1, wide)


def _turned(products: Any) -> Any:
    """As the second register holds them: the low one's sign inverted."""
    top = products.size() - 1
    sign = z3.Extract(PRODUCT_BITS - 1, PRODUCT_BITS - 1, products)
    return z3.Concat(
        z3.Extract(top, PRODUCT_BITS, products), ~sign, z3.Extract(PRODUCT_BITS - 2, 0, products)
    )
