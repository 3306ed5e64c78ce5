"""Random circuits that do nothing but wait for each other, and small ones by hand."""

from __future__ import annotations

from hypothesis import strategies as st
from tests.nest.circuits import counter
from tests.nest.model import holds, points

from axiloom.base.affine import Affine
from axiloom.hw.nest.circuit import (
    Circuit,
    Condition,
    Constant,
    Counter,
    Fifo,
    Node,
    Piece,
    Pipe,
    Pop,
    Port,
    Push,
)

ALWAYS: Condition = ()


def loops(*sizes: int) -> tuple[Counter, ...]:
    """Counters i0, i1, ... from 0 to their size - 1."""
    return tuple(counter(f"i{n}", 0, size - 1) for n, size in enumerate(sizes))


def form(name: str, constant: int = 0, factor: int = 1) -> Affine:
    return Affine.sum({name: factor}, constant)


def equals(name: str, value: int) -> Condition:
    return (form(name, -value), form(name, value, -1))


def pipe(name: str, counters: tuple[Counter, ...], nodes: tuple[Node, ...], interval: int = 1) -> Pipe:
    return Pipe(name, counters, interval, count_of(counters), nodes)


def count_of(counters: tuple[Counter, ...], when: Condition = ALWAYS) -> int:
    """Iterations at which `when` holds, counted one by one."""
    return sum(holds(when, at) for at in points(counters))


@st.composite
def conditions(draw: st.DrawFn, counters: tuple[Counter, ...]) -> Condition:
    kinds = draw(st.lists(st.sampled_from(["from", "upto", "equal", "sum"]), max_size=2))
    found: Condition = ()
    for kind in kinds:
        one, two = draw(st.sampled_from(counters)).name, draw(st.sampled_from(counters)).name
        value = draw(st.integers(0, 3))
        if kind == "from":
            found += (form(one, -value, 2),)
        elif kind == "upto":
            found += (form(one, value, -1),)
        elif kind == "equal":
            found += equals(one, value)
        else:
            found += (form(one, -value) + form(two),)
    return found


@st.composite
def nests(draw: st.DrawFn) -> tuple[Counter, ...]:
    """Rectangular or triangular, one to three deep, at most some 60 iterations."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    found = list(loops(*sizes))
    if len(found) > 1 and draw(st.booleans()):
        found[-1] = Counter(
            found[-1].name,
            (Piece((form("i0", -1),), Affine.of(1)), Piece((form("i0", 0, -1),), Affine.of(0))),
            (Piece((), form("i0", 1)),),
            (0, sizes[0] + 1),
        )
    return tuple(found)


@st.composite
def circuits(draw: st.DrawFn, *, balanced: bool = False) -> Circuit:
    """One to four pipes with FIFOs between any two of them, backwards ones with initial elements too, and
    streams. Where all pipes have the same loops (`balanced`: always) each FIFO is popped as often as it is
    pushed, and most circuits end; else few do."""
    count = draw(st.integers(1, 4))
    same = balanced or draw(st.sampled_from([True, True, False]))
    shapes = [draw(nests())] * count if same else [draw(nests()) for _ in range(count)]
    nodes: list[list[Node]] = [[Constant(0, 8, draw(st.integers(0, 5)))] for _ in range(count)]
    fifos, inputs, outputs = [], [], []
    for number in range(draw(st.integers(1, 4))):
        source, target = draw(st.integers(-1, count - 1)), draw(st.integers(-1, count - 1))
        if source == target == -1:
            target = 0
        when = draw(conditions(shapes[max(source, 0)]))
        wanted = when if same else draw(conditions(shapes[max(target, 0)]))
        length = count_of(shapes[0], when) if same else draw(st.integers(1, 30))
        port = Port(f"f{number}", length)
        least = 1 if same and source >= target else 0
        initial = 0 if -1 in (source, target) else draw(st.integers(least, 3))
        fifos.append(Fifo(port.fifo, 8, max(initial, draw(st.integers(1, 6))), initial))
        if source < 0:
            inputs.append(port)
        else:
            nodes[source].append(
                Push(port.fifo, 0, when, max(nodes[source][0].slot, draw(st.integers(0, 6))))
            )
        if target < 0:
            outputs.append(port)
        else:
            nodes[target].append(Pop(port.fifo, wanted))
    pipes = tuple(pipe(f"p{n}", shapes[n], tuple(nodes[n]), draw(st.integers(1, 3))) for n in range(count))
    return Circuit("random", pipes, (), tuple(fifos), tuple(inputs), tuple(outputs))
