"""`compare_numbers`: a program's results by its text's simulator, beside the application's: on random inputs,
and on those at which numbers turn (:attr:`~axiloom.graph.numbers.Number.edges`).

Integers must be equal. Floats may be as far apart as the application itself is when each of its roundings may
go either way: that is measured, by evaluating it again with all results one step up or down at random.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from axiloom.graph.evaluate import evaluate
from axiloom.graph.graph import Graph
from axiloom.graph.numbers import number
from axiloom.graph.ops import OPS
from axiloom.isa.instructions.tree import InstructionSet
from axiloom.selection.drive.execute import execute
from axiloom.selection.program.program import Program
from axiloom.selection.validate.graphs import MOVES
from axiloom.selection.validate.ordered import ordered
from axiloom.selection.validate.replay import ProgramFaultError

TRIALS = 3
FACTOR = 4.0
"""Of the largest difference that was seen among `TRIALS`."""
SHARES = (0.05, 1.0)
"""Of the elements that are edges, in inputs that have some."""
Raw = NDArray[np.generic]


@dataclass(frozen=True)
class Compared:
    """`equal`: bit for bit; else the largest difference, and what was allowed there."""

    equal: bool
    difference: float = 0.0
    allowed: float = 0.0


def random_inputs(graph: Graph, seed: int) -> dict[str, Raw]:
    dice = np.random.default_rng(seed)
    raws: dict[str, Raw] = {}
    for node in graph.parameters:
        of = number(node.type.number)
        if of.kind == "float":
            values = of.encode(dice.standard_normal(node.type.shape))
        else:
            ends = np.iinfo(of.host)
            values = dice.integers(ends.min, ends.max, node.type.shape, of.host, endpoint=True)
        raws[str(node.attributes["name"])] = values
    return raws


def edge_inputs(graph: Graph, seed: int, *, real: bool = False) -> Iterator[dict[str, Raw]]:
    """Some edges among random numbers; all edges; each row of one edge. `real`: only those of floats at which
    functions of real numbers are what they are of others: nothing overflows."""
    dice, plain = np.random.default_rng(seed), random_inputs(graph, seed)
    edges = {}
    for node in graph.parameters:
        of = number(node.type.number)
        values = of.edges
        if real and of.kind == "float":
            values = values[np.abs(np.nan_to_num(of.decode(values).astype(np.float64), nan=9)) < 2]
        edges[str(node.attributes["name"])] = values
    for share in SHARES:
        yield {
            name: np.where(dice.random(array.shape) < share, dice.choice(edges[name], array.shape), array)
            for name, array in plain.items()
        }
    yield {
        name: np.broadcast_to(dice.choice(edges[name], (*array.shape[:-1], 1)), array.shape).copy()
        if array.ndim
        else dice.choice(edges[name], ())
        for name, array in plain.items()
    }


def compare_numbers(
    program: Program, graph: Graph, isa: InstructionSet, seed: int = 0, *, exact: bool = False
) -> Compared:
    """`exact`: as a proof has it. Raises ProgramFaultError where numbers differ by more than roundings
    explain, or, if `exact`, at all at an edge."""
    worst = _compared(program, graph, isa, random_inputs(graph, seed), seed)
    for inputs in edge_inputs(graph, seed, real=not exact):
        expected = ordered(graph, inputs) if exact else None
        if expected is None:
            other = _compared(program, graph, isa, inputs, seed)
            worst = max(worst, other, key=lambda compared: (not compared.equal, compared.difference))
            continue
        got = _executed(program, graph, isa, inputs)
        for name, node, wanted, own in zip(graph.result_names, graph.results, expected, got, strict=True):
            of = number(node.type.number)
            bad = own != wanted
            if of.kind == "float":  # there is one NaN, and two zeros
                bits = [np.ascontiguousarray(a).view(f"u{of.host.itemsize}") for a in (own, wanted)]
                bad = (bits[0] != bits[1]) & ~(np.isnan(of.decode(own)) & np.isnan(of.decode(wanted)))
            if bad.any():
                at = tuple(int(i) for i in np.argwhere(bad)[0])
                why = f"{of.decode(own)[at]:g}, and the application says {of.decode(wanted)[at]:g}"
                raise ProgramFaultError(f"at numbers at which results turn {name}{list(at)} is {why}")
    return worst


def _executed(program: Program, graph: Graph, isa: InstructionSet, inputs: Mapping[str, Raw]) -> list[Raw]:
    named = {array.name for array in program.arrays}
    outputs = execute(program, isa, {name: value for name, value in inputs.items() if name in named})
    return [
        outputs[name].reshape(node.type.shape)
        for name, node in zip(graph.result_names, graph.results, strict=True)
    ]


def _compared(
    program: Program, graph: Graph, isa: InstructionSet, inputs: Mapping[str, Raw], seed: int
) -> Compared:
    outputs = _executed(program, graph, isa, inputs)
    expected = evaluate(graph, inputs)
    if all(np.array_equal(*pair) for pair in zip(outputs, expected, strict=True)):
        return Compared(True)
    trials = [_trial(graph, inputs, seed + 1 + turn) for turn in range(TRIALS)]
    worst = Compared(False)
    for i, (name, own, wanted, node) in enumerate(
        zip(graph.result_names, outputs, expected, graph.results, strict=True)
    ):
        of = number(node.type.number)
        if of.kind != "float":
            if not np.array_equal(own, wanted):
                raise ProgramFaultError(f"{name} has other numbers than the application")
            continue
        true, got = (of.decode(a).astype(np.float64) for a in (wanted, own))
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
        arrays = [values[id(operand)] for operand in node.operands]
        exact = OPS[node.op].evaluate(arrays, [operand.type for operand in node.operands], node.attributes)
        values[id(node)] = _shaken(exact, node.type.number, dice) if _rounds(node.op) else exact
    return [values[id(result)] for result in graph.results]


def _rounds(op: str) -> bool:
    return op not in MOVES and OPS[op].operands != 0


def _shaken(raw: Raw, name: str, dice: np.random.Generator) -> Raw:
    of = number(name)
    if of.kind != "float":
        return raw
    bits = np.ascontiguousarray(raw).view(f"u{raw.dtype.itemsize}")
    step = dice.integers(0, 2, raw.shape, np.int8) * 2 - 1
    # Bits of a float count up with its size; zero and what is infinite stay.
    value = of.decode(raw)
    shaken = np.where((value != 0) & np.isfinite(value), bits.astype(np.int64) + step, bits)
    return shaken.astype(bits.dtype).view(raw.dtype)
