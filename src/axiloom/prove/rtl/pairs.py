"""Multipliers that give two products of int8 at once, as two: what is proved of one, and put in its place.

A pair's first register holds (high << 16 | low) * shared, its second one that plus 2^15
(:mod:`axiloom.hw.array.pair`). There both products hang on both elements, so no solver would find a product
of the model in it while products have no meaning. It is proved once, of the Verilog's own terms and for all
values, that the second register is what two products of 16 bits side by side give. Then the first register
holds these: the same machine, as nothing else reads it, and one value stands for the other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import z3

from axiloom.cosim.build.cache import cached_build, content_hash
from axiloom.hw.array.pair import BITS, PRODUCT_BITS
from axiloom.prove import solvers
from axiloom.prove.rtl.machine import Machine, product, walk, with_products

Decide = Callable[[Any], bool | None]
LIMIT_S = 300

_FIRST = re.compile(r"^(.*\bpair_\d+)\.full$")
_HIGH_BITS = BITS + 1


def proved(claim: Any) -> bool | None:
    """Whether `claim` holds for all values, by the solvers; kept in the user's cache folder."""

    def build(folder: Path) -> None:
        (said,) = solvers.decide([claim], LIMIT_S)
        (folder / "holds.json").write_text(json.dumps(said.holds), encoding="utf-8")

    kept = cached_build("prove-pair", content_hash(claim.sexpr(), solvers.versions()), build)
    holds: bool | None = json.loads((kept / "holds.json").read_text(encoding="utf-8"))
    return holds


def apart(machine: Machine, decide: Decide = proved) -> Machine:
    """`machine` with two products in each pair of which that is proved; the others stay as they are."""
    following = dict(machine.following)
    for first, second in _pairs(machine):
        full, both = machine.registers[first], machine.following[second]
        if not _is_read_by(machine, full, second):
            continue
        wide, shared = (with_products(one) for one in machine.following[first].children())
        if not _is_widened(wide, shared) or not decide(_claim(full, both, wide.size())):
            continue
        low, high = _elements(wide)
        factor = z3.SignExt(PRODUCT_BITS - BITS, z3.Extract(BITS - 1, 0, shared))
        multiply = product(PRODUCT_BITS)
        products = z3.Concat(multiply(high, factor), multiply(low, factor))
        following[first] = z3.ZeroExt(full.size() - products.size(), products)
        following[second] = _turned(z3.Extract(products.size() - 1, 0, full))
    return replace(machine, following=following)


def _pairs(machine: Machine) -> Iterator[tuple[str, str]]:
    for name, term in machine.following.items():
        if (found := _FIRST.match(name)) and term.num_args() == 2:
            second = f"{found[1]}.both"
            if second in machine.following:
                yield name, second


def _is_read_by(machine: Machine, register: Any, reader: str) -> bool:
    """Nothing else hangs on it."""
    terms = {**machine.following, **{f"out of it: {name}": one for name, one in machine.outputs.items()}}
    readers = {
        name
        for name, term in terms.items()
        if any(z3.is_const(one) and one.get_id() == register.get_id() for one in walk([term]))
    }
    return readers == {reader}


def _is_widened(wide: Any, shared: Any) -> bool:
    """The factors are a pair, 16 bits from one to the other, and one more, all with their signs."""
    sign = z3.Extract(BITS - 1, BITS - 1, wide)
    pair = z3.Concat(
        z3.Extract(PRODUCT_BITS + _HIGH_BITS - 1, PRODUCT_BITS, wide),
        *[sign] * (PRODUCT_BITS - BITS),
        z3.Extract(BITS - 1, 0, wide),
    )
    one = z3.Extract(BITS - 1, 0, shared)
    whole = wide == z3.SignExt(wide.size() - pair.size(), pair)
    return z3.is_true(z3.simplify(z3.And(whole, shared == z3.SignExt(shared.size() - BITS, one))))


def _elements(wide: Any) -> tuple[Any, Any]:
    """Of 16 bits: the low one, and the high one with what it has lent to the low one."""
    low = z3.Extract(BITS - 1, 0, wide)
    high = z3.Extract(PRODUCT_BITS + _HIGH_BITS - 1, PRODUCT_BITS, wide)
    lent = z3.ZeroExt(PRODUCT_BITS - 1, z3.Extract(BITS - 1, BITS - 1, wide))
    return z3.SignExt(PRODUCT_BITS - BITS, low), z3.SignExt(PRODUCT_BITS - _HIGH_BITS, high) + lent


def _claim(full: Any, both: Any, bits: int) -> Any:
    """What is in the second register behind a product of a pair and a factor, for all of them."""
    high, low, shared = (z3.BitVec(*one) for one in (("high", _HIGH_BITS), ("low", BITS), ("shared", BITS)))
    sign = z3.Extract(BITS - 1, BITS - 1, low)
    pair = z3.Concat(high, *[sign] * (PRODUCT_BITS - BITS), low)
    wide = z3.SignExt(bits - pair.size(), pair)
    behind = z3.substitute(both, (full, wide * z3.SignExt(bits - BITS, shared)))
    factor = z3.SignExt(PRODUCT_BITS - BITS, shared)
    of_low, of_high = _elements(wide)
    return z3.simplify(behind) == _turned(z3.Concat(of_high * factor, of_low * factor))


def _turned(products: Any) -> Any:
    """As the second register holds them: the low one's sign inverted."""
    top = products.size() - 1
    sign = z3.Extract(PRODUCT_BITS - 1, PRODUCT_BITS - 1, products)
    return z3.Concat(
        z3.Extract(top, PRODUCT_BITS, products), ~sign, z3.Extract(PRODUCT_BITS - 2, 0, products)
    )
