"""Which instance must wait for which: exact dependences of a program, by isl.

A dependence of kind RAW goes from the write of an element to each read of that value; WAW from a write to the
next write of the same element; WAR from a read to the next write. Together they order, by transitivity, all
pairs of accesses to one element of which one is a write: an order of instances computes the same as the
program's if and only if it keeps them all.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache

import islpy as isl

from axiloom.base.affine import Affine
from axiloom.nests.poly.sets import domain, function, union
from axiloom.nests.program import Program, Statement, loads


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
        return tuple(dependence for dependence in self.all if dependence.kind in kinds)

    def graph(self) -> dict[str, tuple[str, ...]]:
        """Each statement that is a source, and the statements that wait for it."""
        edges: dict[str, dict[str, None]] = {}
        for dependence in self.all:
            edges.setdefault(dependence.source.name, {})[dependence.sink.name] = None
        return {source: tuple(sinks) for source, sinks in edges.items()}


@lru_cache(maxsize=64)
def dependences(program: Program) -> Dependences:
    """Of the program in the order it is written. Computed once for each program; for an array whose users
    another program has too, once for both."""
    edges: list[Dependence] = []
    live: list[LiveIn] = []
    for array in dict.fromkeys(array.name for array in program.arrays):
        users = [(statement, use) for statement in program.statements if (use := _use(statement, array))]
        flows, unwritten = _flows(tuple(use for _, use in users))
        for kind, source, sink, pairs in flows:
            edges.append(Dependence(kind, array, users[source][0], users[sink][0], pairs))
        live += [LiveIn(array, users[reader][0], elements) for reader, elements in unwritten]
    return Dependences(tuple(edges), tuple(live))


@dataclass(frozen=True)
class _Use:
    """What counts of a statement for one array: when it is executed, and what it touches."""

    iterators: tuple[str, ...]
    domain: tuple[Affine, ...]
    place: tuple[int, ...]
    reads: tuple[tuple[Affine, ...], ...]
    write: tuple[Affine, ...] | None

    def elements(self, event: str, subscripts: tuple[Affine, ...]) -> isl.Map:
        """Instances to elements."""
        touched = function(self.iterators, subscripts, event, "E")
        return touched.intersect_domain(domain(self.iterators, self.domain, event))

    def time(self, event: str, length: int, last: int) -> isl.Map:
        """The order of the program as vectors of one length: reads stand before the write of their
        instance."""
        vector: list[Affine] = [Affine.of(self.place[0])]
        for name, static in zip(self.iterators, self.place[1:], strict=True):
            vector += [Affine.name(name), Affine.of(static)]
        vector += [Affine.of(0)] * (2 * length + 1 - len(vector))
        at = function(self.iterators, (*vector, Affine.of(last)), event)
        return at.intersect_domain(domain(self.iterators, self.domain, event))


def _use(statement: Statement, array: str) -> _Use | None:
    reads = dict.fromkeys(load.subscripts for load in loads(statement.value) if load.array == array)
    write = statement.target.subscripts if statement.target.array == array else None
    if not reads and write is None:
        return None
    return _Use(statement.iterators, statement.domain, statement.place, tuple(reads), write)


_Flow = tuple[Kind, int, int, isl.Map]
"""Kind, numbers of source and sink, and their pairs."""


@lru_cache(maxsize=512)
def _flows(users: tuple[_Use, ...]) -> tuple[tuple[_Flow, ...], tuple[tuple[int, isl.Map], ...]]:
    """All dependences by one array, and the reads that nothing has written before.

    The read and the write of a user are events of different names, R and W with its number.
    """
    numbered = list(enumerate(users))
    length = max((len(user.iterators) for user in users), default=0)
    read = union(use.elements(f"R{k}", form) for k, use in numbered for form in use.reads)
    written = union(use.elements(f"W{k}", use.write) for k, use in numbered if use.write is not None)
    when = union(use.time(f"R{k}", length, 0) for k, use in numbered if use.reads)
    when = when.union(union(e.time(f"W{k}", length, 1) for k, e in numbered if e.write is not None))
    flows: list[_Flow] = []
    unwritten = read
    if not read.is_empty() and not written.is_empty():
        fed = isl.UnionAccessInfo.from_sink(read).set_must_source(written).set_schedule_map(when)
        flow = fed.compute_flow()
        unwritten = flow.get_must_no_source()
        flows += _pairs(Kind.RAW, flow.get_must_dependence())
        kept = isl.UnionAccessInfo.from_sink(written).set_may_source(read).set_kill(written)
        flows += _pairs(Kind.WAR, kept.set_schedule_map(when).compute_flow().get_may_dependence())
    if not written.is_empty():
        again = isl.UnionAccessInfo.from_sink(written).set_must_source(written).set_schedule_map(when)
        flows += _pairs(Kind.WAW, again.compute_flow().get_must_dependence())
    live = [
        (_number(relation, isl.dim_type.in_), _plain(relation))
        for relation in _maps(unwritten)
        if not relation.is_empty()
    ]
    return tuple(flows), tuple(sorted(live, key=lambda pair: pair[0]))


def _pairs(kind: Kind, pairs: isl.UnionMap) -> list[_Flow]:
    flows = []
    for relation in _maps(pairs):
        source, sink = _number(relation, isl.dim_type.in_), _number(relation, isl.dim_type.out)
        plain = _plain(relation).coalesce()
        if source == sink and kind is Kind.WAR:
            plain = plain.subtract(isl.Map.identity(plain.get_space()))
        if not plain.is_empty():
            flows.append((kind, source, sink, plain))
    return sorted(flows, key=lambda flow: flow[1:3])


def _number(pairs: isl.Map, side: isl.dim_type) -> int:
    return int(pairs.get_tuple_name(side)[1:])


def _maps(union: isl.UnionMap) -> list[isl.Map]:
    maps: list[isl.Map] = []
    union.foreach_map(maps.append)
    return maps


def _plain(pairs: isl.Map) -> isl.Map:
    """Without tuple names."""
    for side in (isl.dim_type.in_, isl.dim_type.out):
        if pairs.has_tuple_name(side):
            pairs = pairs.reset_tuple_id(side)
    return pairs
