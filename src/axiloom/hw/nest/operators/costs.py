"""What operators cost, from a table that Yosys' figures fill: ``python -m benchmarks nest_operators``.

The table has operators without the register at their end, if that is all a cycle adds. A format that is not
in it lies between two widths of its family that are (``int24`` between ``int16`` and ``int32``,
``fixed<11,3>`` between ``fixed<8,4>`` and ``fixed<16,8>``): LUTs and flip-flops in proportion, DSP slices
those of the wider one. Everything else is refused: no figure is made up.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from axiloom.base.errors import UsageError
from axiloom.hw.nest.operators.formats import Whole, whole

_INTEGERS = ("int8", "int16", "int32", "int64")
_FIXED = ("fixed<8,4>", "fixed<16,8>", "fixed<32,16>")
TABLE = Path(__file__).with_name("costs.json")


@dataclass(frozen=True)
class Cost:
    """On a 7-series part, by Yosys."""

    dsp: int = 0
    lut: int = 0
    ff: int = 0


def of(name: str, number: str, result: str, latency: int) -> Cost:
    """Raises :exc:`UsageError` if it is not known."""
    cost = _table().get(key(name, number, result, latency)) or _between(name, number, result, latency)
    if cost is None:
        raise UsageError(
            f"the cost of operator `{key(name, number, result, latency)}` is not in {TABLE.name}, nor that "
            f"of a narrower and a wider one; `python -m benchmarks nest_operators` fills it"
        )
    return cost


def key(name: str, number: str, result: str, latency: int) -> str:
    return f"{name} {number} {result} {latency}"


def _between(name: str, number: str, result: str, latency: int) -> Cost | None:
    """By the bits of the operands, between neighbours of the family; an unsigned number costs what a signed
    one does, and one of fewer bits than the narrowest is in proportion."""
    x = whole(number)
    if x is None:
        return None
    family: dict[int, Cost] = {}
    for there_name in _FIXED if x.is_fixed else _INTEGERS:
        there = whole(there_name)
        assert there is not None
        row = _row(name, there_name, _alike(number, result, there_name), latency)
        if row is not None:
            family[there.bits] = row
    if x.bits in family:
        return family[x.bits]
    narrower = max((bits for bits in family if bits < x.bits), default=0)
    wider = min((bits for bits in family if bits > x.bits), default=None)
    if wider is None:
        return None
    share = (x.bits - narrower) / (wider - narrower)
    low, high = family.get(narrower, Cost()), family[wider]
    return Cost(
        high.dsp,
        round(low.lut + share * (high.lut - low.lut)),
        round(low.ff + share * (high.ff - low.ff)),
    )


def _alike(number: str, result: str, of_family: str) -> str:
    """The result's format where `of_family` takes the place of `number`."""
    if result == number:
        return of_family
    x, r, there = whole(number), whole(result), whole(of_family)
    assert x is not None
    assert there is not None
    if r is not None and x.is_fixed and r == Whole(32, True, 2 * x.fraction, True):
        return f"fixed<32,{2 * there.fraction}>"  # an exact product
    return result.removeprefix("u")


def _row(name: str, number: str, result: str, latency: int) -> Cost | None:
    """The table's, of the same latency or the one closest to it."""
    start = f"{name} {number} {result} "
    rows = {int(text.removeprefix(start)): cost for text, cost in _table().items() if text.startswith(start)}
    return rows[min(rows, key=lambda there: abs(there - latency))] if rows else None


@cache
def _table() -> dict[str, Cost]:
    return {name: Cost(**figures) for name, figures in json.loads(TABLE.read_text(encoding="utf-8")).items()}
