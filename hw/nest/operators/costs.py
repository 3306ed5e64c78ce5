"""What operators cost, from a table that Yosys' figures fill: ``python -m benchmarks nest_operators``.

The table has operators without the register at their end, if that is all a cycle adds. A format that is not
in it lies between two widths of its family that are (``int24`` between ``int16`` and ``int32``,
``fixed<11,3>`` between ``fixed<8,4>`` and ``fixed<16,8>``): LUTs and flip-flops in proportion, DSP slices those
of the wider one. Everything else is refused.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path

from axiloom.errors import UsageError
from axiloom.hw.nest.operators.formats import bits_of, whole
from axiloom.hw.nest.operators.operator import Cost, Operator

_INTEGERS = ("int8", "int16", "int32", "int64")
_FIXED = ("fixed<8,4>", "fixed<16,8>", "fixed<32,16>")
TABLE = Path(__file__).with_name("costs.json")


def of(operator: Operator) -> Cost:
    if is_registered(operator):
        alone = of(replace(operator, latency=0))
        return replace(alone, ff=alone.ff + bits_of(operator.result))
    if operator.is_wired:
        return Cost()
    found = _table().get(key(operator)) or _between(operator)
    if found is None:
        raise UsageError(
            f"the cost of operator `{key(operator)}` is not in {TABLE.name}, nor of a narrower and a wider one; "
            f"`python -m benchmarks nest_operators` fills it"
        )
    return found


def is_registered(operator: Operator) -> bool:
    """Whether it is the one of latency 0 and a register behind it."""
    return operator.latency == 1 and operator.registers_result


def key(operator: Operator) -> str:
    return f"{operator.name} {operator.number} {operator.result} {operator.latency}"


def _between(operator: Operator) -> Cost | None:
    """By the bits of the operands, between neighbours of the family; an unsigned number costs what a signed
    one does."""
    number, result = whole(operator.number), whole(operator.result)
    if number is None:
        return None
    family: dict[int, Cost] = {}
    for name in _FIXED if number.is_fixed else _INTEGERS:
        there = whole(name)
        assert there is not None
        same_result = name if operator.result == operator.number else operator.result
        if result is not None and result.fraction == 2 * number.fraction and result.bits == 32 != number.bits:
            same_result = f"fixed<32,{2 * there.fraction}>"
        row = _row(operator, name, same_result)
        if row is not None:
            family[there.bits] = row
    if number.bits in family:
        return family[number.bits]
    narrower = max((bits for bits in family if bits < number.bits), default=None)
    wider = min((bits for bits in family if bits > number.bits), default=None)
    if narrower is None or wider is None:
        return None
    share = (number.bits - narrower) / (wider - narrower)
    low, high = family[narrower], family[wider]
    return Cost(
        high.dsp,
        round(low.lut + share * (high.lut - low.lut)),
        round(low.ff + share * (high.ff - low.ff)),
    )


def _row(operator: Operator, number: str, result: str) -> Cost | None:
    """The table's, of the same latency or the one closest to it."""
    start = f"{operator.name} {number} {result} "
    rows = {int(name.removeprefix(start)): cost for name, cost in _table().items() if name.startswith(start)}
    return rows[min(rows, key=lambda latency: abs(latency - operator.latency))] if rows else None


@cache
def _table() -> dict[str, Cost]:
    if not TABLE.is_file():
        return {}
    return {name: Cost(**figures) for name, figures in json.loads(TABLE.read_text(encoding="utf-8")).items()}
