"""What generated NumPy code is made of: texts of values with their types and axes, and the lines they need.

Each iterator that runs all at once has a place among an array's axes, counted from the last one: arrays of
different iterators broadcast. A sum's iterator comes below those around it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from axiloom.isa.instructions.simulator.linear import Axis, Linear, names
from axiloom.isa.instructions.tree import (
    Expr,
    InstructionSet,
    Range,
    signed,
)  # fmt: skip

SCALAR = ""
LARGE = 1 << 22
"""Elements of a temporary above which a sum is made in parts."""


@dataclass(frozen=True)
class Code:
    """Python text of a value. `dtype` is an array's: ``object`` beyond 63 bits; SCALAR for an integer."""

    text: str
    range: Range
    axes: frozenset[str] = frozenset()
    dtype: str = SCALAR
    truth: bool = False
    """Whether it is a `bool`, Python's or NumPy's."""
    owned: bool = True
    """Whether nothing else writes it: not so a part of a memory."""

    @property
    def array(self) -> bool:
        return self.dtype != SCALAR


@dataclass
class Env:
    """What names are at one place, and where each axis lies."""

    known: dict[str, Code | Axis] = field(default_factory=dict)
    linears: dict[str, Linear | Axis] = field(default_factory=dict)
    axes: dict[str, Axis] = field(default_factory=dict)
    layout: dict[str, int] = field(default_factory=dict)
    """Place of each axis, counted from the last one: 1, 2, ..."""

    def copied(self) -> Env:
        return Env(dict(self.known), dict(self.linears), dict(self.axes), dict(self.layout))

    def with_axis(self, iterator: str, axis: Axis) -> Env:
        """With a sum's iterator, whose place is yet to come."""
        inner = self.copied()
        inner.known[iterator] = inner.linears[iterator] = inner.axes[axis.name] = axis
        return inner

    @property
    def varies(self) -> frozenset[str]:
        return frozenset(n for n, local in self.known.items() if isinstance(local, Axis) or local.array)


@dataclass(frozen=True)
class Access:
    """Elements of a memory: ``element``, ``part`` (a view, as text), ``either`` (a part under a test),
    ``rows`` (as text, one index computed) or ``gather`` (index texts)."""

    kind: str
    text: str
    index: tuple[str, ...]
    axes: frozenset[str]
    test: str = ""
    """When the part is right, else the indices are; of rows, whether they can be written as they are."""


class Writer:
    """Lines of a function, with the names that they need from outside."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.depth = 1
        self.temporaries = 0

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def new(self) -> str:
        self.temporaries += 1
        return f"_{self.temporaries}"

    def keep(self, code: Code) -> Code:
        """The value under a name of its own."""
        if code.text.isidentifier() or code.text.lstrip("-").isdigit():
            return code
        name = self.new()
        self.line(f"{name} = {code.text}")
        return replace(code, text=name)

    @contextmanager
    def inside(self, head: str) -> Iterator[None]:
        self.line(head)
        self.depth += 1
        before = len(self.lines)
        yield
        if len(self.lines) == before:
            self.line("pass")
        self.depth -= 1


class Arrays:
    """Types and axes of arrays; `shared` are functions and tables of the whole text."""

    def __init__(self, isa: InstructionSet, writer: Writer, shared: Any) -> None:
        self.isa, self.writer, self.shared = isa, writer, shared
        self.line = 0
        self.mask: Code | None = None
        self.mask_layout: dict[str, int] = {}
        """Where values count, in an `a if c else b` or after an `and`: elsewhere an index may be anything."""

        self.checked: dict[tuple[str, int, Expr, Expr, Expr], tuple[Expr, str]] = {}
        """Indices of this statement that lie inside, as has been looked at: base, and its text."""

    def statement(self, line: int) -> None:
        """What follows is of another statement."""
        self.line = line
        self.checked = {}

    def code(self, expr: Expr, env: Env) -> Code:
        """An expression's value."""
        raise NotImplementedError

    def apply(self, operation: str, parts: Sequence[Code], kind: Range) -> Code:
        """An operation on values."""
        raise NotImplementedError

    def _mask_at(self, env: Env) -> Code | None:
        return self.placed(self.mask, self.mask_layout, env.layout) if self.mask is not None else None

    def _axes_of(self, expr: Expr, env: Env) -> set[str]:
        axes: set[str] = set()
        for name in names(expr):
            local = env.known.get(name)
            axes |= {local.name} if isinstance(local, Axis) else set(local.axes) if local else set()
        return axes

    def cast(self, code: Code, dtype: str) -> Code:
        if not code.array or code.dtype == dtype:
            return code
        return replace(code, text=f"{code.text}.astype(_{dtype})", dtype=dtype, truth=False, owned=True)

    def computing(self, *ranges: Range) -> str:
        """The type in which values of these ranges are computed with."""
        if all(signed(32).holds(kind) for kind in ranges):
            return "int32"
        return "int64" if all(signed(64).holds(kind) for kind in ranges) else "object"

    def common(self, parts: Sequence[Code], *kinds: Range) -> str:
        """The type in which NumPy computes with these, where the result is of `kinds`."""
        dtype = self.computing(*kinds, *(part.range for part in parts))
        wide = any(part.dtype in ("int64", "uint32") for part in parts)
        return "int64" if dtype == "int32" and wide else dtype

    def aligned(self, parts: Sequence[Code], dtype: str) -> list[Code]:
        """So that NumPy computes in `dtype`: one array of it is enough, the others are smaller."""
        arrays = [part for part in parts if part.array]
        if any(array.dtype == "object" for array in arrays) and dtype != "object":
            return [self.cast(part, dtype) for part in parts]
        if any(array.dtype == dtype for array in arrays):
            return [*parts]
        first = next((at for at, part in enumerate(parts) if part.array), -1)
        return [self.cast(part, dtype) if at == first else part for at, part in enumerate(parts)]

    def placed(self, code: Code, have: Mapping[str, int], want: Mapping[str, int]) -> Code:
        """An array whose axes lie as in `have`, with its axes as in `want`."""
        order = sorted(code.axes, key=lambda axis: -have[axis])
        if all(have[axis] == want[axis] for axis in order):
            return code
        # The axes without gaps, then as `want` has them.
        tight = self._without_gaps(code.text, [have[axis] for axis in order])
        return replace(code, text=self.spread(tight, order, want))

    def _without_gaps(self, text: str, places: Sequence[int]) -> str:
        top = max(places)
        if [*places] == [*range(top, 0, -1)]:
            return text
        parts = [":" if place in places else "0" for place in range(top, 0, -1)]
        return f"{text}[{', '.join(parts)}]"

    def spread(self, text: str, order: Sequence[str], want: Mapping[str, int]) -> str:
        """`text` has the axes `order`, one after the other; brings them to their places."""
        sorted_order = sorted(order, key=lambda axis: -want[axis])
        if [*order] != sorted_order:
            text = f"{text}.transpose({', '.join(str(order.index(axis)) for axis in sorted_order)})"
        places = {want[axis] for axis in order}
        top = max(places)
        if len(places) < top:
            text = f"{text}[{', '.join(':' if at in places else 'None' for at in range(top, 0, -1))}]"
        return text


def ordered(axes: set[str], env: Env) -> list[str]:
    return sorted(axes, key=lambda axis: -env.layout[axis])
