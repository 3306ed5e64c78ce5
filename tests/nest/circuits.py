"""Small circuits made by hand, each for one thing that RTL must get right."""

from __future__ import annotations

from axiloom.base.affine import Affine
from axiloom.hw.nest.circuit import (
    Choose,
    Circuit,
    Condition,
    Constant,
    Counter,
    Fifo,
    Memory,
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

i, j, k = (Affine.name(name) for name in "ijk")
Bound = int | Affine


def counter(name: str, lower: Bound, upper: Bound, span: tuple[int, int] | None = None) -> Counter:
    """From `lower` to `upper`, both included."""
    if span is None:
        assert isinstance(lower, int)
        assert isinstance(upper, int)
        span = lower, upper
    return Counter(name, (Piece((), Affine.of(lower)),), (Piece((), Affine.of(upper)),), span)


def at(value: Bound) -> Place:
    return (Term(Affine.of(value)),)


FIRST = at(0)


def words(name: str, depth: int, banks: int = 1, **options: object) -> Memory:
    return Memory(name, 32, banks, depth, **{"external": True, **options})  # type: ignore[arg-type]


def read(memory: str, address: Bound, slot: int, bank: Place = FIRST, when: Condition = ()) -> Read:
    return Read(memory, bank, at(address), when, slot)


def write(memory: str, address: Bound, value: int, slot: int, when: Condition = ()) -> Write:
    return Write(memory, at(0), at(address), value, when, slot)


def operate(name: str, a: int, b: int, latency: int, slot: int, unit: str = "") -> Operate:
    return Operate(name, "int32", "int32", (a, b), latency, slot, unit)


def one_pipe() -> Circuit:
    """y[i] += a[i] * x[i]."""
    nodes = (
        *(read("a", i, 0), read("x", i, 0), read("y", i, 3)),
        *(operate("mul", 0, 1, 3, 1), operate("add", 2, 3, 1, 4), write("y", i, 4, 5)),
    )
    pipe = Pipe("axpy", (counter("i", 0, 19),), 1, 20, nodes)
    return Circuit("one_pipe", (pipe,), tuple(words(name, 32) for name in "axy"))


def triangular() -> Circuit:
    """j begins at i, from i = 4 on at 2 i - 4; k is around j, and negative at first."""
    lower = (Piece((3 - i,), i), Piece((i - 4,), 2 * i - 4))
    upper = Piece((), 12 - i)
    counters = (
        counter("i", 0, 5),
        Counter("j", lower, (upper,), (0, 12)),
        counter("k", j - 1, j + 1, (-1, 13)),
    )
    nodes = (Position(7 * i - 3 * j + k, 32, 0), write("out", 170 - 16 * i - 4 * j + k, 0, 2))
    count = sum(3 * (12 - a - (a if a < 4 else 2 * a - 4) + 1) for a in range(6))
    return Circuit("triangular", (Pipe("p", counters, 1, count, nodes),), (words("out", 190),))


def shared_unit() -> Circuit:
    """II = 3: two multiplications share a unit, three reads share a port."""
    nodes = (
        *(read("a", i, 0), read("a", i + 16, 1), read("a", i + 32, 5)),
        operate("mul", 0, 1, 2, 2, "m"),
        operate("mul", 3, 2, 2, 6, "m"),
        *(write("b", i, 3, 4), write("b", i + 16, 4, 9)),
    )
    pipe = Pipe("p", (counter("i", 0, 15),), 3, 16, nodes)
    return Circuit("shared_unit", (pipe,), (words("a", 48), words("b", 32)))


def stalled_shared_unit() -> Circuit:
    """As above, but a slower pipe holds the iterations up, by numbers of cycles that 3 does not divide."""
    slow = Pipe("slow", (counter("i", 0, 15),), 4, 16, (read("a", i, 0), Push("f", 0, (), 1)))
    nodes = (
        *(Pop("f", ()), read("c", i, 1), read("c", i + 16, 5)),
        operate("mul", 0, 1, 2, 2, "m"),
        operate("mul", 3, 2, 2, 6, "m"),
        *(write("b", i, 3, 4), write("b", i + 16, 4, 8)),
    )
    fast = Pipe("fast", (counter("i", 0, 15),), 3, 16, nodes)
    memories = (words("a", 16), words("b", 32), words("c", 32))
    return Circuit("stalled_shared_unit", (slow, fast), memories, (Fifo("f", 32, 3),))


def fifo(depth: int, interval: int, bits: int = 32) -> Circuit:
    """A pipe that makes 3 of 4 elements, and one that takes them at its own pace."""
    some = (2 - j,)
    make = (read("a", 4 * i + j, 0), operate("add", 0, 0, 2, 1), Push("f", 1, some, 3))
    take = (Pop("f", ()), Position(i, 32), operate("xor", 0, 1, 1, 0), write("b", 3 * i + j, 2, 1))
    pipes = (
        Pipe("make", (counter("i", 0, 9), counter("j", 0, 3)), 1, 40, make),
        Pipe("take", (counter("i", 0, 9), counter("j", 0, 2)), interval, 30, take),
    )
    name = f"fifo_{depth}_{interval}"
    return Circuit(name, pipes, (words("a", 40), words("b", 30)), (Fifo("f", bits, depth),))


def tokens() -> Circuit:
    """Two pipes pass rows through an internal memory of two copies: tokens say what is full and free."""
    place = (Term(i, 1, 1, 2),)
    last, first = (j - 7,), (-j,)
    fill = (
        Pop("free", first),
        read("a", 8 * i + j, 0),
        Write("buffer", place, at(j), 1, (), 1),
        Push("full", None, last, 1),
    )
    use = (
        Pop("full", first),
        Read("buffer", place, at(7 - j), (), 0),
        operate("add", 1, 1, 1, 1),
        write("b", 8 * i + j, 2, 2),
        Push("free", None, last, 0),
    )
    counters = (counter("i", 0, 5), counter("j", 0, 7))
    memories = (words("a", 48), words("b", 48), words("buffer", 8, 2, external=False))
    fifos = (Fifo("full", 0, 2), Fifo("free", 0, 2, initial=2))
    return Circuit(
        "tokens", (Pipe("fill", counters, 1, 48, fill), Pipe("use", counters, 2, 48, use)), memories, fifos
    )


def streams(depth: int = 4, bits: int = 32) -> Circuit:
    """In by a stream, out by another: each row's prefix sums."""
    first = (-j,)
    nodes = (
        Pop("x", ()),
        Read("sum", at(0), at(0), (), 0),
        Constant(0, 32),
        Choose(((first, 2), ((), 1)), 0),
        operate("add", 0, 3, 0, 0),
        Write("sum", at(0), at(0), 4, (), 0),
        Push("y", 4, (), 1),
    )
    total = words("sum", 1, external=False, storage=Storage.REGISTERS)
    pipe = Pipe("sums", (counter("i", 0, 4), counter("j", 0, 6)), 1, 35, nodes)
    fifos = (Fifo("x", bits, depth), Fifo("y", bits, depth))
    return Circuit("streams", (pipe,), (total,), fifos, (Port("x", 35),), (Port("y", 35),))


def dynamic_banks() -> Circuit:
    """Bank (i + 2 j) mod 3 is read and i mod 3 written; address i div 3. A second read has a port of its own,
    a third takes the second's turn where that rests."""
    bank, rows = (Term(i + 2 * j, 1, 1, 3),), (Term(i, 1, 3),)
    left = (3 - j,)
    right = (j - 4,)
    nodes = (
        Read("a", bank, rows, (), 0),
        Read("a", (Term(i, 1, 1, 3),), at(j), left, 0),
        Read("a", (Term(i, 1, 1, 3),), at(7 - j), right, 0),
        Choose(((left, 1), (right, 2)), 1),
        operate("add", 0, 3, 1, 1),
        Write("b", (Term(i, 1, 1, 3),), (Term(i, 6, 3), Term(j)), 4, (j + i - 3,), 2),
    )
    pipe = Pipe("p", (counter("i", 0, 11), counter("j", 0, 5)), 1, 72, nodes)
    memories = (words("a", 8, 3, ports=2), words("b", 24, 3))
    return Circuit("dynamic_banks", (pipe,), memories)


def accumulate(storage: Storage, interval: int = 1) -> Circuit:
    """s[j] += a[i, j] in an internal memory, written out in the last round."""
    last = (i - 3,)
    latency = 1 if storage is Storage.BLOCK else 0
    nodes = (
        read("a", 8 * i + j, 0),
        Read("s", at(0), at(j), (i - 1,), 1 - latency),
        Constant(0, 32),
        Choose((((-i,), 2), ((), 1)), 1),
        operate("add", 0, 3, 1, 1),
        Write("s", at(0), at(j), 4, (), 2),
        Write("out", at(0), at(j), 4, last, 2),
    )
    pipe = Pipe("p", (counter("i", 0, 3), counter("j", 0, 7)), interval, 32, nodes)
    inner = words("s", 8, external=False, storage=storage)
    return Circuit(f"accumulate_{storage.value}", (pipe,), (words("a", 32), inner, words("out", 8)))
