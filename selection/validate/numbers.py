"""`compare_numbers`: a program's results on random inputs, by its text's simulator, beside the application's.

Integers must be equal. Floats may be as far apart as the application itself is when each of its roundings may
go either way: that is measured, by evaluating it again with all results one step up or down at random.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from axiloom.isa.instructions.tree import InstructionSet
from axiloom.selection.drive.execute import execute
from axiloom.selection.ir.evaluate import evaluate
from axiloom.selection.ir.graph import Graph
from axiloom.selection.ir.numbers import number
from axiloom.selection.ir.ops import OPS
from axiloom.selection.program.program import Program
from axiloom.selection.validate.graphs import MOVES
from axiloom.selection.validate.replay import ProgramFaultError

TRIALS = 3
FACTOR = 4.0
"""Of the largest difference that was seen among `TRIALS`."""
Raw = NDArray[np.generic]


@dataclass(frozen=True)
class Compared:
    """`equal`: bit for bit; else the largest difference, and what was allowed there."""

    equal: bool
    difference: float = 0.0
    allowed: float = 0.0


def random_inputs(graph: Graph, seed: int) -> dict[str, Raw]:
    dice = np.random.default_rng(seed)
    found: dict[str, Raw] = {}
    for node in graph.parameters:
        of = number(node.type.number)
        if of.kind == "float":
            values = of.encode(dice.standard_normal(node.type.shape))
        else:
            ends = np.iinfo(of.host)
            values = dice.integers(ends.min, ends.max, node.type.shape, of.host, endpoint=True)
        found[str(node.attributes["name"])] = values
    return found


def compare_numbers(program: Program, graph: Graph, isa: InstructionSet, seed: int = 0) -> Compared:
    """Raises ProgramFaultError where numbers differ by more than roundings explain."""
    inputs = random_inputs(graph, seed)
    named = {one.name for one in program.arrays}
    found = execute(program, isa, {name: value for name, value in inputs.items() if name in named})
    expected = evaluate(graph, inputs)
    names = ["y"] if len(expected) == 1 else [f"y{i}" for i in range(len(expected))]
    if all(np.array_equal(found[name], one) for name, one in zip(names, expected, strict=True)):
        return Compared(True)
    trials = [_trial(graph, inputs, seed + 1 + turn) for turn in range(TRIALS)]
    worst = Compared(False)
    for i, (name, one, node) in enumerate(zip(names, expected, graph.results, strict=True)):
        of = number(node.type.number)
        if of.kind != "float":
            if not np.array_equal(found[name], one):
                raise ProgramFaultError(f"{name} has other numbers than the application")
            continue
        true, got = (of.decode(a).astype(np.float64) for a in (one, found[name]))
        with np.errstate(invalid="ignore"):
            apart = [np.abs(of.decode(t[i]).astype(np.float64) - true) for t in trials]
        spread = np.max(np.where(np.isfinite(apart), apart, 0.0), axis=0)
        allowed = FACTOR * np.maximum(spread, spread.max())
        with np.errstate(invalid="ignore"):
            far = np.where(got == true, 0.0, np.abs(got - true))
        bad = ~(far <= allowed) & ~(np.isnan(got) & np.isnan(true))
        far = np.where(np.isfinite(far), far, 0.0)
        if bad.any():
            at = tuple(int(i) for i in np.argwhere(bad)[0])
            raise ProgramFaultError(f"{name}{list(at)} is {got[at]:g}, and the application says {true[at]:g}")
        if far.max(initial=0.0) > worst.difference:
            worst = Compared(False, float(far.max()), float(allowed.flat[far.argmax()]))
    return worst


def _trial(graph: Graph, inputs: Mapping[str, Raw], seed: int) -> list[Raw]:
    """The application with each result of a float one step of its number up or down, at random."""
    dice = np.random.default_rng(seed)
    values: dict[int, Raw] = {}
    for node in graph.nodes():
        if node.op == "parameter":
            values[id(node)] = inputs[str(node.attributes["name"])]
            continue
        if node.op == "constant":
            values[id(node)] = graph.constant(node)
            continue
        arrays = [values[id(one)] for one in node.operands]
        made = OPS[node.op].evaluate(arrays, [one.type for one in node.operands], node.attributes)
        values[id(node)] = _shaken(made, node.type.number, dice) if _rounds(node.op) else made
    return [values[id(one)] for one in graph.results]


def _rounds(op: str) -> bool:
    return op not in MOVES and OPS[op].operands != 0


def _shaken(made: Raw, name: str, dice: np.random.Generator) -> Raw:
    of = number(name)
    if of.kind != "float":
        return made
    bits = np.ascontiguousarray(made).view(f"u{made.dtype.itemsize}")
    step = dice.integers(0, 2, made.shape, np.int8) * 2 - 1
    # Bits of a float count up with its size; zero and what is infinite stay.
    value = of.decode(made)
    shaken = np.where((value != 0) & np.isfinite(value), bits.astype(np.int64) + step, bits)
    return shaken.astype(bits.dtype).view(made.dtype)
