"""Inputs of a run, and its outputs against the reference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from axiloom import drivergen
from axiloom.base.errors import UsageError
from axiloom.cosim import core
from axiloom.cosim.job import Result
from axiloom.drivergen import Driver
from axiloom.isa import numerics
from axiloom.isa.numerics import Numerics
from axiloom.report.types import Outcome

Arrays = dict[str, np.ndarray[Any, Any]]


def random_inputs(driver: Driver, seed: int) -> Arrays:
    """As the numerics of each argument draws them, from `seed`: integers over their whole range."""
    rng = np.random.default_rng(seed)
    return {
        arg.symbol: numerics.host(arg.dtype).random(rng, arg.shape)
        for arg in driver.args
        if arg.kind != "out"
    }


def drawn_inputs(driver: Driver, seed: int, given: Mapping[str, np.ndarray[Any, Any]], name: str) -> Arrays:
    """`given` by the names of arguments, random numbers for the others.

    Raises UsageError for an argument that is none, and another type or shape.
    """
    arrays = random_inputs(driver, seed)
    args = {arg.name or arg.symbol: arg for arg in driver.args if arg.symbol in arrays}
    for argument, array in given.items():
        if argument not in args:
            raise UsageError(f"{name}: takes no `{argument}`; it takes {', '.join(args)}")
        arg = args[argument]
        if (array.dtype, array.shape) != (np.dtype(arg.dtype), arg.shape):
            raise UsageError(
                f"{name}: `{argument}` is {array.dtype} {array.shape}; it takes {arg.dtype} {arg.shape}"
            )
        arrays[arg.symbol] = array
    return arrays


@dataclass(frozen=True)
class Margins:
    """Outputs that need not be equal to the reference, but close."""

    exact: Mapping[str, np.ndarray[Any, Any]]
    """By symbol: the outputs in float64."""
    margin: Mapping[str, np.ndarray[Any, Any]]
    """How far each element may be off."""
    why: str
    """What the margin is, for people."""


def margins(mlir: str, inputs: Arrays, kind: Numerics, *, name: str) -> Margins | None:
    """The margins of a function with sums of `kind`; None where all outputs must be equal in every bit."""
    if kind.margin(1, 0.0) is None or (bounds := drivergen.bounds(mlir, inputs, name=name)) is None:
        return None
    exact = {symbol: array for symbol, array in bounds.exact.items() if array.dtype.kind == "f"}
    margin = {symbol: kind.margin(bounds.roundings, bounds.magnitude[symbol]) for symbol in exact}
    known = {symbol: array for symbol, array in margin.items() if array is not None}
    return Margins(exact, known, f"{kind.compared}, n = {bounds.roundings}")


def compare(
    run: Result | core.CpuRun,
    expected: Mapping[str, np.ndarray[Any, Any]],
    close: Margins | None = None,
) -> Outcome:
    """The report's ``result``: every element of every output against the reference, if there is one.

    Those in `close` are compared with its float64 within its margins.
    """
    wrong = elements = 0
    first: str | None = None
    largest = 0.0
    for symbol, exactly in expected.items():
        got = run.outputs[symbol]
        if close is not None and symbol in close.margin:
            want = close.exact[symbol]
            off, margin = np.abs(got.astype(np.float64) - want), close.margin[symbol]
            bad = ~(off <= margin)
            largest = max(largest, float(np.max(off / margin, initial=0)))
        else:
            want = exactly
            bad = (got != want) & ((got == got) | (want == want))  # NaN is equal to NaN
        places = np.argwhere(bad)
        wrong += len(places)
        elements += want.size
        if first is None and len(places):
            place = tuple(int(i) for i in places[0])
            first = f"{symbol}{list(place)} is {got[place]}, NumPy says {want[place]}"
    result: Outcome = {
        "matches": wrong == 0 if expected else None,
        "mismatches": wrong,
        "elements": elements,
        "first": first,
        "exit_code": run.exit_code,
    }
    if close is not None:
        result |= {"compared": close.why, "largest": largest}
    return result
