"""Random circuits that keep the rules of ports, units and values; for hypothesis."""

from __future__ import annotations

from collections import Counter as Count
from typing import Any

from hypothesis import strategies as st
from tests.nest.model import Point, holds, points

from axiloom.base.affine import Affine
from axiloom.hw.nest.circuit import (
    Choose,
    Circuit,
    Condition,
    Constant,
    Counter,
    Fifo,
    Memory,
    Node,
    Operate,
    Piece,
    Pipe,
    Place,
    Pop,
    Port,
    Position,
    Push,
    Read,
    Storage,
    Term,
    Write,
)

Draw = Any
FEW = st.integers(0, 3)


class _PipeMaker:
    """A pipe under way: nodes, when each value is there, and who is at each port in each phase."""

    def __init__(self, draw: Draw, name: str, counters: tuple[Counter, ...], interval: int) -> None:
        self.draw, self.name, self.counters, self.interval = draw, name, counters, interval
        self.points = list(points(counters))
        self.nodes: list[Node] = []
        self.there: dict[int, int] = {}
        self.busy: Count[object] = Count()

    def form(self, largest: int | None = None) -> Affine:
        """Any form; never negative if `largest` is asked for."""
        names = [each.name for each in self.counters]
        factors = {name: self.draw(st.integers(-3, 5)) for name in names if self.draw(st.booleans())}
        form = Affine.sum(factors, self.draw(st.integers(-2, 5)))
        if largest is None:
            return form
        return form + max(0, -form.range({each.name: each.range for each in self.counters})[0])

    def condition(self) -> Condition:
        if self.draw(st.booleans()):
            return ()
        form = self.form()
        middle = self.draw(st.sampled_from(self.points))
        form = form - form.value(middle)  # holds at some point
        return self.draw(st.sampled_from([(form,), (form, -form), (-form,)]))

    def place(self, size: int) -> Place:
        if size == 1 or self.draw(st.booleans()):
            return (Term(Affine.of(self.draw(st.integers(0, size - 1)))),)
        divisor = self.draw(st.sampled_from([1, 1, 2, 3, 4, 5]))
        return (Term(self.form(size), 1, divisor, size),)

    def slot(self, key: object, earliest: int, ways: int = 1) -> int | None:
        """From `earliest` on, where a port or unit is free."""
        first = earliest + self.draw(FEW)
        for slot in range(first, first + self.interval):
            if self.busy[key, slot % self.interval] < ways:
                self.busy[key, slot % self.interval] += 1
                return slot
        return None

    def add(self, node: Node, latency: int = 0) -> int:
        self.nodes.append(node)
        self.there[len(self.nodes) - 1] = node.slot + latency
        return len(self.nodes) - 1

    def value(self) -> int:
        return self.draw(st.sampled_from(list(self.there)))

    def read(self, memory: Memory) -> None:
        slot = self.slot(("read", memory.name), 0, memory.ports)
        if slot is None:
            return
        when = self.condition()
        node = Read(memory.name, self.place(memory.banks), self.place(memory.depth), when, slot)
        found = self.add(node, memory.latency)
        if when:  # otherwise it is anything
            other = self.add(Constant(self.draw(st.integers(0, 99)), 32))
            del self.there[found]
            self.add(Choose(((when, found), ((), other)), slot + memory.latency + self.draw(FEW)))

    def write(self, memory: Memory) -> None:
        value = self.value()
        slot = self.slot(("write", memory.name), self.there[value])
        if slot is not None:
            places = self.place(memory.banks), self.place(memory.depth)
            self.nodes.append(Write(memory.name, *places, value, self.condition(), slot))

    def operate(self) -> None:
        a, b = self.value(), self.value()
        name, latency = self.draw(st.sampled_from([("add", 0), ("add", 1), ("mul", 2), ("xor", 5)]))
        earliest, unit = max(self.there[a], self.there[b]), ""
        slot: int | None = earliest + self.draw(FEW)
        if self.interval > 1 and self.draw(st.booleans()):
            unit = f"{name}{latency}"
            slot = self.slot(unit, earliest)
        if slot is not None:
            self.add(Operate(name, "int32", "int32", (a, b), latency, slot, unit), latency)

    def choose(self) -> None:
        options = [(self.condition(), self.value()) for _ in range(self.draw(st.integers(1, 3)))]
        slot = max(self.there[option] for _, option in options) + self.draw(FEW)
        self.add(Choose(tuple(options), slot))

    def done(self) -> Pipe:
        return Pipe(self.name, self.counters, self.interval, len(self.points), tuple(self.nodes))


def _counters(draw: Draw, name: str) -> tuple[Counter, ...]:
    counters: list[Counter] = []
    for level in range(draw(st.integers(1, 3))):
        at = f"{name}{level}"
        outer = Affine.name(draw(st.sampled_from(counters)).name) if counters else Affine()
        kind = draw(st.sampled_from(["box", "box", "lower", "upper", "pieces"] if counters else ["box"]))
        low, size = draw(st.integers(-2, 2)), draw(st.integers(0, 3))
        lower: tuple[Piece, ...] = (Piece((), Affine.of(low)),)
        upper: tuple[Piece, ...] = (Piece((), Affine.of(low + size)),)
        known = list(points(tuple(counters)))
        values = [outer.value(point) for point in known]
        if kind == "lower":
            lower, upper = (Piece((), outer),), (Piece((), Affine.of(max(values) + size)),)
        elif kind == "upper":
            lower, upper = (Piece((), Affine.of(min(values))),), (Piece((), outer + size),)
        elif kind == "pieces":
            middle = draw(st.sampled_from(values))
            left, right = (middle - 1 - outer,), (outer - middle,)
            lower = (Piece(left, Affine.of(low)), Piece(right, outer - 1))
            upper = (Piece(left, Affine.of(low + size)), Piece(right, outer + 1))
        trial = (*counters, Counter(at, lower, upper, (0, 0)))
        seen = [point[at] for point in points(trial)]
        if len(seen) > 60:
            break
        counters.append(Counter(at, lower, upper, (min(seen), max(seen))))
    return tuple(counters)


def _fill(draw: Draw, maker: _PipeMaker, memories: list[Memory]) -> None:
    maker.add(Position(maker.form(), 32))
    for _ in range(draw(st.integers(1, 3))):
        maker.read(draw(st.sampled_from(memories)))
    for _ in range(draw(st.integers(1, 4))):
        draw(st.sampled_from([maker.operate, maker.operate, maker.choose]))()
    for memory in memories:
        if memory.external or draw(st.booleans()):
            maker.write(memory)


def _memories(draw: Draw, name: str) -> list[Memory]:
    storage = draw(st.sampled_from(list(Storage)))
    depth = draw(st.integers(1, 9))
    return [
        Memory(f"{name}_out", 32, draw(st.integers(1, 3)), draw(st.integers(1, 9)), ports=2, external=True),
        Memory(f"{name}_in", 32, draw(st.integers(1, 3)), depth, external=True),
        Memory(f"{name}_own", 32, draw(st.integers(1, 2)), draw(st.integers(1, 6)), storage),
    ]


@st.composite
def circuits(draw: Draw) -> Circuit:
    """One pipe, or two with a FIFO from the first to the second and credits back; streams at either end."""
    fifos: list[Fifo] = []
    interval = st.integers(1, 4)
    one = _PipeMaker(draw, "one", _counters(draw, "i"), draw(interval))
    memories = _memories(draw, "one")
    inputs: list[Port] = []
    if draw(st.booleans()):
        when = one.condition()
        fifos.append(Fifo("stream", 32, draw(st.integers(1, 5))))
        inputs.append(Port("stream", _count(one, when)))
        found = one.add(Pop("stream", when))
        if when:
            del one.there[found]
            other = one.add(Constant(7, 32))
            one.add(Choose(((when, found), ((), other)), draw(FEW)))
    _fill(draw, one, memories)
    if draw(st.booleans()):
        return Circuit("random", (one.done(),), tuple(memories), tuple(fifos), tuple(inputs))
    when = one.condition()
    count = _count(one, when)
    value = one.value()
    fifos.append(Fifo("link", 32, draw(st.integers(1, 4))))
    one.nodes.append(Push("link", value, when, one.there[value] + draw(FEW)))
    if draw(st.booleans()):
        depth = max(1, draw(st.integers(1, 3)))
        sent = draw(st.integers(1, count))
        return Circuit(
            "random", (one.done(),), tuple(memories),
            (*fifos[:-1], Fifo("link", 32, depth)), tuple(inputs), (Port("link", max(count, sent)),),
        )  # fmt: skip
    bounds = ((Piece((), Affine.of(low)),) for low in (0, count - 1))
    two = _PipeMaker(draw, "two", (Counter("n", *bounds, (0, count - 1)),), draw(interval))
    two.add(Pop("link", ()))
    mine = _memories(draw, "two")
    _fill(draw, two, mine)
    if draw(st.booleans()):
        credits = draw(st.integers(1, 3))
        fifos.append(Fifo("credit", 0, credits, credits))
        one.nodes.append(Pop("credit", when))
        two.nodes.append(Push("credit", None, (), draw(FEW)))
    return Circuit("random", (one.done(), two.done()), (*memories, *mine), tuple(fifos), tuple(inputs))


def _count(maker: _PipeMaker, when: Condition) -> int:
    found: list[Point] = [point for point in maker.points if holds(when, point)]
    return len(found)
