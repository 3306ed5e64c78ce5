"""Which loops run all at once: where that is the same as one turn after the other.

A nest of loops whose statements are names and writes does each statement for all turns, then the next. That
is the same where no turn sees another's writes. Either a written memory is read and written at one element in
a turn, and at another one in each other turn. Or it is written by one statement and not read: the last turn's
value stays. Or it accumulates (`acc[i] = int32(acc[i] + e)`), and the sum over all turns is added at the end.
That elements differ shows from the steps of an index, or is looked at as it runs: of micro-ops, say.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from axiloom.isa.instructions.arithmetic import RangeError, apply, minus, plus, times
from axiloom.isa.instructions.simulator.linear import Axis, Linear, linear, names
from axiloom.isa.instructions.tree import (
    Apply,
    Call,
    Const,
    Expr,
    For,
    Function,
    Lanes,
    Let,
    Memory,
    Name,
    Range,
    Read,
    Statement,
    Wrapped,
    Write,
)  # fmt: skip
from axiloom.isa.instructions.walk import folded, parts, substituted

MOST_CLOSED = 400
"""Operations of an index that is computed."""


@dataclass(frozen=True)
class Accumulated:
    """`M[index] = wrap(M[index] + e)`, or ``min``, ``max`` or an external function in place of the sum; over
    turns of `axes`."""

    operation: str | Function
    term: Expr
    kind: Range
    axes: tuple[str, ...]


@dataclass
class Nest:
    """A nest that runs all at once."""

    axes: dict[int, list[Axis]] = field(default_factory=dict)
    """Of each loop and lanes, by the statement's identity."""
    accumulated: dict[int, Accumulated] = field(default_factory=dict)
    steps: list[tuple[tuple[Expr, Expr], ...]] = field(default_factory=list)
    """Steps and counts whose sums must all be different, as must show when it runs."""
    different: list[Expr] = field(default_factory=list)
    """Indices, by axis, of which no two may be the same, as must show when it runs."""
    apart: list[tuple[Expr, Expr]] = field(default_factory=list)
    """Two such indices: they are the same at each point, or none of one is one of the other."""
    all_axes: dict[str, Axis] = field(default_factory=dict)
    depth: int = 0


@dataclass
class _Place:
    """A write or a read, and the iterators around it, from the outermost one."""

    index: tuple[Expr, ...]
    axes: tuple[str, ...]
    write: Write | None = None
    at: list[Linear | None] = field(default_factory=list)
    computed: list[Expr | None] = field(default_factory=list)
    """Of what is no sum, by axis."""


class _NotAtOnceError(Exception):
    """One turn after the other, then."""


def plan(loop: For, varies: frozenset[str], known: dict[str, Linear | Axis] | None = None) -> Nest | None:
    """How `loop` runs all at once; None where it does not."""
    try:
        return _Planner(varies, known or {}).plan(loop)
    except (_NotAtOnceError, RangeError):
        return None


class _Planner:
    def __init__(self, varies: frozenset[str], known: dict[str, Linear | Axis]) -> None:
        self.varies, self.known = set(varies), dict(known)
        self.nest = Nest()
        self.axes: dict[str, Axis] = {}
        self.writes: dict[str, list[_Place]] = {}
        self.reads: dict[str, list[_Place]] = {}
        self.memories: dict[str, Memory] = {}
        self.reads_of: dict[str, frozenset[str]] = {}
        """Memories that a local was made of."""
        self.bounds: list[Expr] = []
        self.closed: dict[str, Expr | None] = {}
        """Locals and iterators by axis; None where that is too long."""

    def plan(self, loop: For) -> Nest:
        self._statement(loop, ())
        for bound in self.bounds:
            if any(read.memory.name in self.writes for read in reads(bound)):
                raise _NotAtOnceError
        for name, places in self.writes.items():
            self._memory(self.memories[name], places, self.reads.get(name, []))
        return self.nest

    # --- what there is ------------------------------------------------------------------------------------

    def _block(self, block: Sequence[Statement], axes: tuple[str, ...]) -> None:
        before = set(self.varies), dict(self.known), dict(self.closed)
        for statement in block:
            self._statement(statement, axes)
        self.varies, self.known, self.closed = before

    def _statement(self, statement: Statement, axes: tuple[str, ...]) -> None:
        match statement:
            case Let(name=name, value=value):
                self._read(value, axes)
                self.closed[name] = self._by_axis(value)
                at = linear(value, self.known, frozenset(self.varies))
                if names(value) & self.varies or (axes and next(reads(value), None)):
                    self.varies.add(name)
                    # A sum of what a memory holds may be another one later: it is no known sum.
                    if at and not next(reads(value), None):
                        self.known[name] = at
                elif axes:
                    self.varies.add(name)
                    if at:
                        self.known[name] = at
            case Write(memory=memory, index=index, value=value):
                for part in (*index, value):
                    self._read(part, axes)
                self.memories[memory.name] = memory
                self.writes.setdefault(memory.name, []).append(self._place(index, axes, statement))
            case For(iterator=iterator, low=low, high=high, body=body):
                self.bounds += [low, high]
                if (names(low) | names(high)) & self.varies:
                    raise _NotAtOnceError
                for part in (low, high):
                    self._read(part, axes)
                count = minus(high, low)
                if count.range.high < 1:
                    raise _NotAtOnceError
                axis = self._axis(len(axes), low, count, loop=True)
                self._inside(statement, [(iterator.name, axis)], body, axes)
            case Lanes(iterators=iterators, body=body):
                named_axes = [
                    (name, self._axis(len(axes) + at, Const(0), Const(lanes), loop=False))
                    for at, (name, lanes) in enumerate(iterators.items())
                ]
                self._inside(statement, named_axes, body, axes)
            case _:
                raise _NotAtOnceError

    def _inside(
        self,
        loop: For | Lanes,
        named_axes: Sequence[tuple[str, Axis]],
        body: Sequence[Statement],
        axes: tuple[str, ...],
    ) -> None:
        self.nest.axes[id(loop)] = [axis for _name, axis in named_axes]
        for name, axis in named_axes:
            self.varies.add(name)
            self.known[name] = axis
            self.closed[name] = Name(
                axis.name, Range(axis.low.range.low, axis.low.range.high + axis.count.range.high)
            )
        inner = (*axes, *(axis.name for _name, axis in named_axes))
        self.nest.depth = max(self.nest.depth, len(inner))
        self._block(body, inner)

    def _axis(self, depth: int, low: Expr, count: Expr, *, loop: bool) -> Axis:
        """Loops beside each other have the same axis if they do the same turns."""
        for name, there in self.axes.items():
            if depth_of(name) == depth and there == Axis(name, low, count, loop):
                return there
        name = f"{depth}.{len(self.axes)}"
        self.axes[name] = self.nest.all_axes[name] = Axis(name, low, count, loop)
        return self.axes[name]

    def _by_axis(self, expr: Expr) -> Expr | None:
        """The same with axes in place of iterators, and without locals; None where it is long."""
        if folded(expr) & self.varies:
            raise _NotAtOnceError  # a sum's iterator that hides another one
        used = {name: self.closed[name] for name in names(expr) if name in self.closed}
        if any(expr is None for expr in used.values()):
            return None
        known = {name: expr for name, expr in used.items() if expr is not None}
        closed = substituted(expr, lambda local: known.get(local.name, local))
        return closed if sum(1 for _ in islice(parts(closed), MOST_CLOSED)) < MOST_CLOSED else None

    def _read(self, expr: Expr, axes: tuple[str, ...]) -> None:
        if folded(expr) & self.varies:
            raise _NotAtOnceError
        for read in reads(expr):
            self.reads.setdefault(read.memory.name, []).append(self._place(read.index, axes))

    def _place(self, index: tuple[Expr, ...], axes: tuple[str, ...], write: Write | None = None) -> _Place:
        at = [linear(part, self.known, frozenset(self.varies)) for part in index]
        computed = [
            self._by_axis(part) if sum_ is None or sum_.window else None
            for part, sum_ in zip(index, at, strict=True)
        ]
        return _Place(index, axes, write, at, computed)

    # --- what is allowed ----------------------------------------------------------------------------------

    def _memory(self, memory: Memory, writes: Sequence[_Place], others: Sequence[_Place]) -> None:
        if len(writes) == 1:
            (write,) = writes
            assert write.write is not None
            if not others:
                return  # axes come in the order of turns: the last write of an element stays
            if len(others) == 1 and (split := _accumulates(write.write)) is not None:
                loops = [axis for axis in write.axes if self.axes[axis].loop]
                at = self._flat(memory, write)
                missing = tuple(axis for axis in loops if at is not None and axis not in at)
                if at is not None and missing and others[0].index == write.index:
                    lanes = [axis for axis in write.axes if axis not in missing]
                    self._all_different(at, lanes)
                    operation, term, kind = split
                    self.nest.accumulated[id(write.write)] = Accumulated(operation, term, kind, missing)
                    return
        self._same_elements(memory, writes, others)

    def _same_elements(self, memory: Memory, writes: Sequence[_Place], others: Sequence[_Place]) -> None:
        first = writes[0]
        if any(sum_ is None or sum_.window for sum_ in first.at):
            self._computed_elements(memory, writes, others)
            return
        for place in (*writes, *others):
            if place.at != first.at or place.axes != first.axes:
                raise _NotAtOnceError
        # What a base is made of must be the same in all turns: no memory that is written here.
        for at in first.at:
            if at and any(read.memory.name in self.writes for read in reads(at.base)):
                raise _NotAtOnceError
        flat = self._flat(memory, first)
        if flat is None:
            raise _NotAtOnceError
        self._all_different(flat, first.axes)

    def _computed_elements(self, memory: Memory, writes: Sequence[_Place], others: Sequence[_Place]) -> None:
        """One index is computed, such as from a micro-op: that its values differ is looked at as it runs."""
        first = writes[0]
        dims = [dim for dim, at in enumerate(first.at) if at is None or at.window]
        dim, own = dims[0], first.computed[dims[0]]
        if len(dims) > 1 or own is None:
            raise _NotAtOnceError
        over = names(own) & {*self.axes}
        rest = self._flat(memory, first, without=dim)
        if rest is None or over & {*rest} or not {*first.axes} <= over | {*rest}:
            raise _NotAtOnceError
        self._all_different(rest, [axis for axis in first.axes if axis not in over])
        if over:
            self.nest.different.append(own)
        for place in (*writes, *others):
            if place.axes != first.axes:
                raise _NotAtOnceError
            if any(a != b for at, (a, b) in enumerate(zip(place.at, first.at, strict=True)) if at != dim):
                raise _NotAtOnceError
            other = place.computed[dim]
            if other is None or any(read.memory.name in self.writes for read in reads(other)):
                raise _NotAtOnceError
            if other != own:
                if place.write is not None:
                    raise _NotAtOnceError
                self.nest.apart.append((own, other))

    def _flat(self, memory: Memory, place: _Place, without: int = -1) -> dict[str, Expr] | None:
        """Steps of a row-major element number along each axis; without those of a dim."""
        exprs: dict[str, Expr] = {}
        weight = 1
        for dim, (size, at) in reversed([*enumerate(zip(memory.shape, place.at, strict=True))]):
            if dim == without:
                weight *= size
                continue
            if at is None or at.window or any(read.memory.name in self.writes for read in reads(at.base)):
                return None
            for axis, step in at.steps.items():
                more = times(step, Const(weight))
                exprs[axis] = plus(exprs[axis], more) if axis in exprs else more
            weight *= size
        return exprs

    def _all_different(self, flat: dict[str, Expr], axes: Sequence[str]) -> None:
        """Element numbers differ between any two points of `axes`: it shows, or is looked at as it runs."""
        if any(axis not in flat and self.axes[axis].count != Const(1) for axis in axes):
            raise _NotAtOnceError
        steps = [(flat[axis], self.axes[axis].count) for axis in axes if axis in flat]
        if all(isinstance(step, Const) for step, _count in steps):
            reach = 0
            for size, count in sorted((abs(s.value), c.range.high) for s, c in steps if isinstance(s, Const)):
                if size <= reach:
                    break
                reach += size * (count - 1)
            else:
                return
        self.nest.steps.append(tuple(steps))


def depth_of(axis: str) -> int:
    """How many axes are around one of a plan."""
    return int(axis.split(".")[0])


def reads(expr: Expr) -> Iterator[Read]:
    """Every element that `expr` reads."""
    return (part for part in parts(expr) if isinstance(part, Read))


def _accumulates(write: Write) -> tuple[str | Function, Expr, Range] | None:
    """What `write` adds to its own element, or takes the least or greatest with; and in which range."""
    own = Read(write.memory, write.index)
    value, kind = write.value, write.memory.type
    if isinstance(value, Call) and value.function.external:
        first, *rest = value.arguments
        return (value.function, rest[0], kind) if first == own and len(rest) == 1 else None
    if isinstance(value, Wrapped):
        value, kind = value.value, value.range
        operations: tuple[str, ...] = ("add",)
    else:
        operations = ("min", "max")
    if not isinstance(value, Apply) or value.operation not in operations:
        return None
    terms = _terms(value, value.operation)
    rest = [term for term in terms if term != own]
    if len(rest) != len(terms) - 1 or not rest:
        return None
    total = rest[0]
    for addend in rest[1:]:
        total = apply(value.operation, total, addend)
    return value.operation, total, kind


def _terms(expr: Expr, operation: str) -> list[Expr]:
    if isinstance(expr, Apply) and expr.operation == operation:
        return [term for part in expr.arguments for term in _terms(part, operation)]
    return [expr]


__all__ = ["Accumulated", "Name", "Nest", "depth_of", "plan", "reads"]
