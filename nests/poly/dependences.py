"""Which instance must wait for which: exact dependences of a program, by isl.

A dependence of kind RAW goes from the write of an element to each read of that value; WAW from a write to the
next write of the same element; WAR from a read to the next write. Together they order, by transitivity, all
pairs of accesses to one element of which one is a write: an order of instances computes the same as the
program's if and only if it keeps them all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache

import islpy as isl

from axiloom.isa.affine import Affine
from axiloom.nests.poly.sets import domain, function
from axiloom.nests.program import Load, Program, Statement, loads


class Kind(StrEnum):
    RAW = "RAW"
    WAR = "WAR"
    WAW = "WAW"


@dataclass(frozen=True)
class Dependence:
    """`pairs` maps instances of `source` to the instances of `sink` that come later and touch the same
    element of `array`. Both are over the statements' iterators, without tuple names."""

    kind: Kind
    array: str
    source: Statement
    sink: Statement
    pairs: isl.Map = field(compare=False)

    def __str__(self) -> str:
        return f"{self.kind} {self.source.name} -> {self.sink.name} by {self.array}"


@dataclass(frozen=True)
class LiveIn:
    """The elements that instances of `statement` read and no instance has written before."""

    array: str
    statement: Statement
    elements: isl.Map = field(compare=False)
    """Instances to subscripts, without tuple names."""


@dataclass(frozen=True)
class Dependences:
    all: tuple[Dependence, ...]
    live_in: tuple[LiveIn, ...]

    def of(self, *kinds: Kind) -> tuple[Dependence, ...]:
        return tuple(each for each in self.all if each.kind in kinds)

    def graph(self) -> dict[str, tuple[str, ...]]:
        """Each statement that is a source, and the statements that wait for it."""
        edges: dict[str, dict[str, None]] = {}
        for each in self.all:
            edges.setdefault(each.source.name, {})[each.sink.name] = None
        return {source: tuple(sinks) for source, sinks in edges.items()}


@lru_cache(maxsize=64)
def dependences(program: Program) -> Dependences:
    """Of the program in the order it is written. Computed once for each program."""
    found: list[Dependence] = []
    live: list[LiveIn] = []
    times = _Times(program)
    for array in dict.fromkeys(each.name for each in program.arrays):
        reads = [_Access(s, k, each) for k, s in enumerate(program.statements) for each in _reads(s, array)]
        writes = [
            _Access(s, k, s.target) for k, s in enumerate(program.statements) if s.target.array == array
        ]
        for kind, pairs in _flows(reads, writes, times, live, array):
            found += _parts(program, kind, array, pairs)
    return Dependences(tuple(found), tuple(live))


@dataclass(frozen=True)
class _Access:
    statement: Statement
    number: int
    load: Load

    def relation(self, side: str) -> isl.Map:
        """Instances to elements; `side` is R or W: a statement reads before it writes, so its reads and its
        write are events of different names."""
        names = self.statement.iterators
        event = f"{side}{self.number}"
        elements = function(names, self.load.subscripts, event, "E")
        return elements.intersect_domain(domain(names, self.statement.domain, event))


def _reads(statement: Statement, array: str) -> Iterator[Load]:
    seen = dict.fromkeys(loads(statement.value))
    return (each for each in seen if each.array == array)


class _Times:
    """The program's order as a map to vectors of one length; reads stand before the write of their
    instance."""

    def __init__(self, program: Program) -> None:
        self._length = max((len(s.iterators) for s in program.statements), default=0)
        self._maps: dict[str, isl.Map] = {}
        for k, each in enumerate(program.statements):
            for side, last in (("R", 0), ("W", 1)):
                self._maps[f"{side}{k}"] = self._map(each, f"{side}{k}", last)

    def _map(self, statement: Statement, event: str, last: int) -> isl.Map:
        vector: list[Affine] = [Affine.of(statement.place[0])]
        for name, static in zip(statement.iterators, statement.place[1:], strict=True):
            vector += [Affine.name(name), Affine.of(static)]
        vector += [Affine.of(0)] * (2 * self._length + 1 - len(vector))
        vector.append(Affine.of(last))
        at = function(statement.iterators, tuple(vector), event)
        return at.intersect_domain(domain(statement.iterators, statement.domain, event))

    def of(self, accesses: Iterable[tuple[str, _Access]]) -> isl.UnionMap:
        return _union(self._maps[f"{side}{each.number}"] for side, each in accesses)


def _union(maps: Iterable[isl.Map]) -> isl.UnionMap:
    total = isl.UnionMap("{ }")
    for each in maps:
        total = total.union(isl.UnionMap.from_map(each))
    return total


def _flows(
    reads: list[_Access], writes: list[_Access], times: _Times, live: list[LiveIn], array: str
) -> Iterator[tuple[Kind, isl.UnionMap]]:
    read, written = _union(each.relation("R") for each in reads), _union(e.relation("W") for e in writes)
    when = times.of([("R", each) for each in reads] + [("W", each) for each in writes])
    statements = {f"R{each.number}": each.statement for each in reads}
    unread = read
    if reads and writes:
        fed = isl.UnionAccessInfo.from_sink(read).set_must_source(written).set_schedule_map(when)
        flow = fed.compute_flow()
        unread = flow.get_must_no_source()
        yield Kind.RAW, flow.get_must_dependence()
        kills = isl.UnionAccessInfo.from_sink(written).set_may_source(read).set_kill(written)
        yield Kind.WAR, kills.set_schedule_map(when).compute_flow().get_may_dependence()
    if writes:
        again = isl.UnionAccessInfo.from_sink(written).set_must_source(written).set_schedule_map(when)
        yield Kind.WAW, again.compute_flow().get_must_dependence()
    for each in _maps(unread):
        if not each.is_empty():
            statement = statements[each.get_tuple_name(isl.dim_type.in_)]
            live.append(LiveIn(array, statement, _plain(each)))


def _parts(program: Program, kind: Kind, array: str, pairs: isl.UnionMap) -> Iterator[Dependence]:
    found = []
    for each in _maps(pairs):
        source, sink = (each.get_tuple_name(side) for side in (isl.dim_type.in_, isl.dim_type.out))
        numbers = int(source[1:]), int(sink[1:])
        plain = _plain(each).coalesce()
        if numbers[0] == numbers[1] and kind is Kind.WAR:
            plain = plain.subtract(isl.Map.identity(plain.get_space()))
        if not plain.is_empty():
            found.append((numbers, plain))
    for (first, second), plain in sorted(found, key=lambda each: each[0]):
        yield Dependence(kind, array, program.statements[first], program.statements[second], plain)


def _maps(union: isl.UnionMap) -> list[isl.Map]:
    found: list[isl.Map] = []
    union.foreach_map(found.append)
    return found


def _plain(pairs: isl.Map) -> isl.Map:
    """Without tuple names."""
    for side in (isl.dim_type.in_, isl.dim_type.out):
        if pairs.has_tuple_name(side):
            pairs = pairs.reset_tuple_id(side)
    return pairs
