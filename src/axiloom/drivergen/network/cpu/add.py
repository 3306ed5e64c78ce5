"""The sum of two int8 tensors, each in a scale of its own, rounded to int8: a residual."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import arith, func
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import SSAValue

from axiloom.drivergen.network.cpu import form
from axiloom.drivergen.network.passes import generics

SHIFTS = range(1, 17)
"""That the C takes."""
MULTIPLIERS = range(1 << 16)
LARGEST = 1 << 15
"""Magnitude of a sum behind its shift that 16 bits hold."""


@dataclass(frozen=True)
class Sum:
    """``clamp((x * first + y * second + half) >> shift, lo, hi)``; `swapped`: x is the second argument."""

    first: int
    second: int
    shift: int
    lo: int
    hi: int
    swapped: bool = False


def sum_of(value: SSAValue) -> Sum | None:
    """What a body gives, if it is such a sum of its first two arguments."""
    last = value.owner
    if not isinstance(last, arith.TruncIOp):
        return None
    high = form.beside_constant(last.input, arith.MinSIOp)
    low = high and form.beside_constant(high[0], arith.MaxSIOp)
    shifted = low and form.beside_constant(low[0], arith.ShRSIOp)
    rounded = shifted and form.beside_constant(shifted[0], arith.AddiOp)
    if not (high and low and shifted and rounded) or rounded[1] != (1 << shifted[1]) >> 1:
        return None
    total = rounded[0].owner
    if not isinstance(total, arith.AddiOp):
        return None
    terms = [form.scaled(total.lhs), form.scaled(total.rhs)]
    places = [term and form.extended(term[0]) for term in terms]
    numbers = [arg.index for arg in places if arg is not None]
    if sorted(numbers) != [0, 1]:
        return None
    factors = [term[1] for term in terms if term is not None]
    addition = Sum(factors[0], factors[1], shifted[1], low[1], high[1], numbers == [1, 0])
    return addition if fits(addition) else None


def fits(one: Sum) -> bool:
    """Does the C compute the same for all elements?"""
    multipliers = one.first in MULTIPLIERS and one.second in MULTIPLIERS
    bounds = -128 <= one.lo <= one.hi <= 127
    return (
        multipliers
        and bounds
        and one.shift in SHIFTS
        and (one.first + one.second + 1) * 128 >> one.shift < LARGEST
    )


def statements(function: func.FuncOp) -> list[str] | None:
    """C for the layer `function`, None if it is something else."""
    ops = form.ops_of(function)
    op = ops[0] if len(ops) == 1 else None
    if not isinstance(op, linalg.GenericOp) or len(function.args) != 2:
        return None
    if not generics.is_map(op) or list(op.inputs) != list(function.args):
        return None
    if not form.is_int8(*op.inputs, *op.results) or len(set(map(form.shape, (*op.inputs, *op.results)))) > 1:
        return None
    if len(set(generics.maps_of(op))) > 1:
        return None
    addition = sum_of(generics.yielded(op)[0])
    if addition is None:
        return None
    x, y = (arg.name_hint for arg in function.args)
    x, y = (y, x) if addition.swapped else (x, y)
    numbers = f"{addition.first}, {addition.second}, {addition.shift}, {addition.lo}, {addition.hi}"
    return [f"axl_add_int8(out, {x}, {y}, {form.count(op.results[0])}u, {numbers});"]


FORM = form.Form("the sum of two int8 tensors in scales of their own, rounded to int8", statements)
