"""Dependences against those that a walk through all instances finds."""

from __future__ import annotations

import random

import islpy as isl
import pytest
from tests.nests.fuzz import programs
from tests.nests.schedule.enumeration import Instance, accesses, written_order
from tests.nests.schedule.programs import gemm, two_mm

from axiloom.nests.poly.dependences import Dependence, Kind, dependences
from axiloom.nests.poly.vectors import directions, distances, vector
from axiloom.nests.program import Program

Found = set[tuple[Kind, str, Instance, Instance]]


def by_walking(program: Program) -> Found:
    """The last write before each read and write, and the next write after each read."""
    statements = {each.name: each for each in program.statements}
    last: dict[object, Instance] = {}
    readers: dict[object, set[Instance]] = {}
    found: Found = set()
    for name, at in written_order(program):
        here = (name, at)
        reads, target = accesses(statements[name], at)
        for element in set(reads):
            if element in last:
                found.add((Kind.RAW, element[0], last[element], here))
            readers.setdefault(element, set()).add(here)
        for each in readers.pop(target, set()) - {here}:
            found.add((Kind.WAR, target[0], each, here))
        if target in last:
            found.add((Kind.WAW, target[0], last[target], here))
        last[target] = here
    return found


def by_isl(program: Program) -> Found:
    return {pair for each in dependences(program).all for pair in pairs(each)}


def pairs(dependence: Dependence) -> Found:
    points: list[isl.Point] = []
    dependence.pairs.wrap().foreach_point(points.append)
    count = len(dependence.source.iterators)
    found: Found = set()
    for each in points:
        size = each.get_space().dim(isl.dim_type.set)
        at = tuple(each.get_coordinate_val(isl.dim_type.set, k).to_python() for k in range(size))
        source, sink = (dependence.source.name, at[:count]), (dependence.sink.name, at[count:])
        found.add((dependence.kind, dependence.array, source, sink))
    return found


@pytest.mark.every(4)
@pytest.mark.parametrize("seed", range(40))
def test_dependences_are_exact(seed: int) -> None:
    program = programs.program(random.Random(f"dependences {seed}"))
    assert by_isl(program) == by_walking(program)


def test_live_in_is_what_nobody_has_written() -> None:
    assert {(each.array, each.statement.name) for each in dependences(gemm()).live_in} == {
        ("A", "S2"), ("B", "S2"), ("C", "S1"),
    }  # fmt: skip


def test_graph() -> None:
    assert dependences(two_mm(4)).graph() == {"S1": ("S2",), "S2": ("S2", "S4"), "S3": ("S4",), "S4": ("S4",)}


def test_dependences_are_computed_once() -> None:
    assert dependences(gemm()) is dependences(gemm())


@pytest.mark.parametrize(
    ("pairs", "distance", "direction"),
    [
        ("{ [i, j] -> [i + 1, j - 2] }", "(1, -2)", "(<, >)"),
        ("{ [i, j] -> [i, x] : x >= j }", "(0, 0..)", "(=, <=)"),
        ("{ [i, j] -> [y, x] : -1 <= x - j <= 1 }", "(.., -1..1)", "(*, *)"),
        ("{ [i, j] -> [i, x] : x <= j }", "(0, ..0)", "(=, >=)"),
    ],
)
def test_vectors(pairs: str, distance: str, direction: str) -> None:
    found = vector(isl.Map(pairs), 2)
    assert (distances(found), directions(found)) == (distance, direction)
