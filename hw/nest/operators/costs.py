"""What operators cost, from a table that Yosys' figures fill: ``python -m benchmarks nest_operators``.

A format that is not in the table lies between two widths of its family that are (``int24`` between ``int16``
and ``int32``, ``fixed<11,3>`` between ``fixed<8,4>`` and ``fixed<16,8>``): LUTs and flip-flops in proportion,
DSP slices those of the wider one. Everything else is refused.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from axiloom.errors import UsageError
from axiloom.hw.nest.operators.operator import Cost, Operator

TABLE = Path(__file__).with_name("costs.json")


def of(operator: Operator) -> Cost:
    found = _table().get(key(operator))
    if found is None:
        raise UsageError(f"the cost of operator `{key(operator)}` is not known: python -m benchmarks nest_operators")
    return found


def key(operator: Operator) -> str:
    return f"{operator.name} {operator.number} {operator.result} {operator.latency}"


@cache
def _table() -> dict[str, Cost]:
    return {name: Cost(**figures) for name, figures in json.loads(TABLE.read_text(encoding="utf-8")).items()}
