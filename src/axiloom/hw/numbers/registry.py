"""Names to functions. A new one is one more class here."""

from __future__ import annotations

from collections.abc import Mapping

from axiloom.base.errors import SpecError
from axiloom.hw.numbers.add import Add
from axiloom.hw.numbers.brain import BrainAdd, BrainMaximum, BrainMultiply
from axiloom.hw.numbers.convert import Narrow, Widen
from axiloom.hw.numbers.divide import Divide
from axiloom.hw.numbers.function import Function
from axiloom.hw.numbers.product import Product
from axiloom.hw.numbers.table import Exponential

FUNCTIONS: Mapping[str, Function] = {
    unit.external: unit
    for unit in (
        *(Add(), Product(), Widen(), Narrow(), Exponential(), Divide()),
        *(BrainAdd(), BrainMultiply(), BrainMaximum()),
    )
}


def function(external: str) -> Function:
    """Raises SpecError for one that has no RTL."""
    if external not in FUNCTIONS:
        raise SpecError([f"no RTL computes `{external}`; there is {', '.join(FUNCTIONS)}"])
    return FUNCTIONS[external]
