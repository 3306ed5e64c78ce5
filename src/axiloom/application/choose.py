"""Exponents and scales by a checked pass: from ranges in float32, then by errors on what was seen.

1. The application runs in float32 on calibration data; each unit says how large its tensors get.
2. Each unit proposes settings that hold these ranges.
3. Each knob that a unit lets search is moved by one while the operator's error on its own inputs falls.
4. What is then lost (saturated, wrapped) is counted, and what is inconsistent is named: see `Checked`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from axiloom.application.data import Data
from axiloom.application.run import Error, Progress, alone, evaluated, leaf
from axiloom.application.units.counts import Array, Places
from axiloom.application.units.unit import Operator, Ranges, Settings, changed
from axiloom.graph.graph import Graph

STEPS = 6
"""Rounds over all knobs, at most."""
WORTH = 0.98
"""A move has to bring the error to this part of it."""


@dataclass(frozen=True)
class Observed:
    """`ranges` by operator, and the operands of the first call."""

    ranges: Mapping[str, Ranges]
    operands: Mapping[str, Sequence[Array]]


@dataclass(frozen=True)
class Checked:
    """Settings of an operator; its error in percent on calibration data, from the ranges alone and searched.

    `lost`: numbers of the calibration data that still saturate or wrap; `wrong`: what is inconsistent.
    """

    settings: Settings
    by_range: float
    searched: float
    lost: int
    wrong: tuple[str, ...]


def observe(graph: Graph, operators: Sequence[Operator], data: Data, progress: Progress) -> Observed:
    """The application in float32."""
    ranges: dict[str, dict[str, float]] = {operator.name: {} for operator in operators}
    operands: dict[str, Sequence[Array]] = {}
    ends = {id(operator.node): operator for operator in operators}
    nodes = list(graph.nodes())
    for number_, call in enumerate(data.calls):
        progress(f"ranges: call {number_ + 1} of {len(data.calls)}")
        uses = Counter(id(operand) for node in nodes for operand in node.operands)
        uses.update(id(operand) for operator in operators for operand in operator.operands)
        values: dict[int, Array] = {}
        for node in nodes:
            constant = node.op in ("parameter", "constant")
            values[id(node)] = leaf(graph, node, call) if constant else evaluated(node, values)
            operator = ends.get(id(node))
            if operator is not None:
                arrays = [values[id(operand)] for operand in operator.operands]
                seen = operator.unit.observe(operator, arrays, values[id(node)])
                kept = ranges[operator.name]
                kept.update({place: max(most, kept.get(place, 0.0)) for place, most in seen.items()})
                operands.setdefault(operator.name, arrays)
            for part in (*node.operands, *(operator.operands if operator is not None else ())):
                uses[id(part)] -= 1
                if not uses[id(part)]:
                    values.pop(id(part), None)
    return Observed(ranges, operands)


def choose(operators: Sequence[Operator], observed: Observed, progress: Progress) -> dict[str, Checked]:
    checked = {}
    for number_, operator in enumerate(operators):
        progress(f"exponents and scales: operator {number_ + 1} of {len(operators)}")
        arrays = observed.operands[operator.name]
        reference = alone(operator, arrays)
        first = operator.unit.chosen(operator, observed.ranges[operator.name])
        by_range = _tried(operator, arrays, first, reference)[0]
        settings, best = _searched(operator, arrays, first, reference, by_range)
        lost = sum(counts.lost for counts in _tried(operator, arrays, settings, reference)[1].of.values())
        checked[operator.name] = Checked(settings, by_range, best, lost, tuple(operator.unit.wrong(settings)))
    return checked


def _searched(
    operator: Operator, arrays: Sequence[Array], settings: Settings, reference: Array, best: float
) -> tuple[Settings, float]:
    knobs = {name: knob for name, knob in operator.unit.knobs.items() if knob.searched}
    for _ in range(STEPS):
        before = best
        for name, knob in knobs.items():
            for step in (1, -1):
                while knob.low <= settings[name] + step <= knob.high:
                    other: Settings = changed(settings, **{name: settings[name] + step})
                    if [*operator.unit.wrong(other)]:
                        other = operator.unit.mended(other)
                    error = _tried(operator, arrays, other, reference)[0]
                    if not error < WORTH * best:
                        break
                    settings, best = other, error
        if best == before:
            break
    return settings, best


def _tried(
    operator: Operator, arrays: Sequence[Array], settings: Settings, reference: Array
) -> tuple[float, Places]:
    places, error = Places(), Error()
    error.add(operator.unit.run(operator, arrays, settings, places), reference, False)
    return (error.percent if np.isfinite(error.percent) else 1e9), places
