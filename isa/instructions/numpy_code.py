"""Expressions as NumPy code. What depends on no axis is a Python integer; the rest are arrays.

Each iterator that runs all at once has a place among an array's axes, counted from the last one: arrays of
different iterators broadcast. A sum's iterator comes below those around it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from axiloom.isa.instructions.arithmetic import RangeError, apply
from axiloom.isa.instructions.linear import Axis, Linear, linear, names, plus, times
from axiloom.isa.instructions.state import natural
from axiloom.isa.instructions.tree import (
    BOOL,
    Apply,
    Bits,
    Call,
    Choice,
    Const,
    Expr,
    Fold,
    Function,
    InstructionSet,
    Lookup,
    Memory,
    Name,
    Range,
    Read,
    Wrapped,
    signed,
)  # fmt: skip

SCALAR = ""
EXACT = {"float32": 1 << 24, "float64": 1 << 53}
"""Sums up to there are exact."""
_FIELDS = (8, 16, 32)
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
        return frozenset(n for n, one in self.known.items() if isinstance(one, Axis) or one.array)


@dataclass(frozen=True)
class Access:
    """Elements of a memory: ``element``, ``part`` (a view, as text) or ``gather`` (index texts)."""

    kind: str
    text: str
    index: tuple[str, ...]
    axes: frozenset[str]
    test: str = ""
    """When the part is right; else the indices are."""


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


_SYMBOLS = {
    "add": "+", "sub": "-", "mul": "*", "floordiv": "//", "mod": "%", "shl": "<<", "shr": ">>", "bitand": "&",
    "bitor": "|", "bitxor": "^", "eq": "==", "ne": "!=", "lt": "<", "le": "<=",
}  # fmt: skip
_COMPARED = ("eq", "ne", "lt", "le")


class Expressions:
    """Writes expressions for `writer`; `shared` are functions and tables of the whole text."""

    def __init__(self, isa: InstructionSet, writer: Writer, shared: Shared) -> None:
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

    # --- arrays -------------------------------------------------------------------------------------------

    def cast(self, code: Code, dtype: str) -> Code:
        if not code.array or code.dtype == dtype:
            return code
        return replace(code, text=f"{code.text}.astype(_{dtype})", dtype=dtype, truth=False, owned=True)

    def computing(self, *ranges: Range) -> str:
        """The type in which values of these ranges are computed with."""
        if all(signed(32).holds(one) for one in ranges):
            return "int32"
        return "int64" if all(signed(64).holds(one) for one in ranges) else "object"

    def common(self, parts: Sequence[Code], *kinds: Range) -> str:
        """The type in which NumPy computes with these, where the result is of `kinds`."""
        dtype = self.computing(*kinds, *(one.range for one in parts))
        wide = any(one.dtype in ("int64", "uint32") for one in parts)
        return "int64" if dtype == "int32" and wide else dtype

    def aligned(self, parts: Sequence[Code], dtype: str) -> list[Code]:
        """So that NumPy computes in `dtype`: one array of it is enough, the others are smaller."""
        arrays = [one for one in parts if one.array]
        if any(one.dtype == "object" for one in arrays) and dtype != "object":
            return [self.cast(one, dtype) for one in parts]
        if any(one.dtype == dtype for one in arrays):
            return [*parts]
        first = next((at for at, one in enumerate(parts) if one.array), -1)
        return [self.cast(one, dtype) if at == first else one for at, one in enumerate(parts)]

    def placed(self, code: Code, have: Mapping[str, int], want: Mapping[str, int]) -> Code:
        """An array whose axes lie as in `have`, with its axes as in `want`."""
        order = sorted(code.axes, key=lambda one: -have[one])
        if all(have[one] == want[one] for one in order):
            return code
        # The axes without gaps, then as `want` has them.
        tight = self._without_gaps(code.text, [have[one] for one in order])
        return replace(code, text=self.spread(tight, order, want))

    def _without_gaps(self, text: str, places: Sequence[int]) -> str:
        top = max(places)
        if [*places] == [*range(top, 0, -1)]:
            return text
        parts = [":" if place in places else "0" for place in range(top, 0, -1)]
        return f"{text}[{', '.join(parts)}]"

    def spread(self, text: str, order: Sequence[str], want: Mapping[str, int]) -> str:
        """`text` has the axes `order`, one after the other; brings them to their places."""
        sorted_order = sorted(order, key=lambda one: -want[one])
        if [*order] != sorted_order:
            text = f"{text}.transpose({', '.join(str(order.index(one)) for one in sorted_order)})"
        places = {want[one] for one in order}
        top = max(places)
        if len(places) < top:
            text = f"{text}[{', '.join(':' if at in places else 'None' for at in range(top, 0, -1))}]"
        return text

    # --- expressions --------------------------------------------------------------------------------------

    def code(self, expr: Expr, env: Env) -> Code:
        match expr:
            case Const(value=value):
                return Code(str(value) if value >= 0 else f"({value})", expr.range)
            case Name(name=name, range=kind):
                return self._name(name, kind, env)
            case Read(memory=memory, index=index):
                return self.read(memory, index, env)
            case Apply(operation="and" | "or" as operation, arguments=(left, right)):
                return self._logical(operation, left, right, env)
            case Apply(operation="cat", arguments=arguments):
                return self._cat(arguments, expr.range, env)
            case Apply(operation=operation, arguments=arguments, range=kind):
                return self.apply(operation, [self.code(one, env) for one in arguments], kind)
            case Bits():
                return self._bits(expr, env)
            case Wrapped(value=value, range=kind):
                return self.wrapped(self.code(value, env), kind)
            case Choice():
                return self._choice(expr, env)
            case Lookup(table=table, index=index):
                at = self.code(index, env)
                name = self.shared.table(table.name, array=at.array)
                dtype = natural(expr.range).name if at.array else SCALAR
                return Code(f"{name}[{at.text}]", expr.range, at.axes, dtype)
            case Fold():
                return self._fold(expr, env)
            case Call(function=function, arguments=arguments):
                return self._call(function, [self.code(one, env) for one in arguments], env)
        raise AssertionError(expr)

    def _name(self, name: str, kind: Range, env: Env) -> Code:
        found = env.known.get(name)
        if found is None:
            return Code(name, kind)
        if isinstance(found, Axis):
            low, count = self.code(found.low, env), self.code(found.count, env)
            text = f"_axis({count.text}, {env.layout[found.name]})"
            text = text if found.low == Const(0) else f"({text} + {low.text})"
            return Code(text, kind, frozenset((found.name,)), "int64")
        return self.placed(found, self.shared.layouts.get(id(found), env.layout), env.layout)

    def apply(self, operation: str, parts: Sequence[Code], kind: Range) -> Code:
        axes = frozenset().union(*(one.axes for one in parts))
        truth = operation in (*_COMPARED, "not")
        if not any(one.array for one in parts):
            return Code(_scalar(operation, [one.text for one in parts]), kind, truth=truth)
        if operation == "not":
            return Code(f"(~{self.truth(parts[0]).text})", BOOL, axes, "bool", truth=True)
        if operation in _COMPARED:
            a, b = parts
            return Code(f"({a.text} {_SYMBOLS[operation]} {b.text})", BOOL, axes, "bool", truth=True)
        dtype = self.common(parts, kind)
        texts = [one.text for one in self.aligned(parts, dtype)]
        if operation in _SYMBOLS:
            text = f"({texts[0]} {_SYMBOLS[operation]} {texts[1]})"
        elif operation in ("min", "max"):
            text = f"_{operation}imum({texts[0]}, {texts[1]})"
        elif operation == "abs":
            text = f"_np.abs({texts[0]})"
        else:
            text = f"({'~' if operation == 'invert' else '-'}{texts[0]})"
        return Code(text, kind, axes, dtype)

    def truth(self, code: Code) -> Code:
        if code.truth or not code.array:
            return code
        return replace(code, text=f"({code.text} != 0)", dtype="bool", truth=True)

    def _logical(self, operation: str, left: Expr, right: Expr, env: Env) -> Code:
        a = self.code(left, env)
        if not a.array and not names(right) & env.varies:
            return self._lazy(operation, a, right, env)
        a = self.writer.keep(a)
        with self.masked(a, operation == "and", env):
            b = self.code(right, env)
        if not a.array and not b.array:
            return Code(f"({a.text} {operation} {b.text})", BOOL)
        a, b = self.truth(a), self.truth(b)
        sign = "&" if operation == "and" else "|"
        axes = a.axes | b.axes
        return Code(f"(({a.text} != 0) {sign} ({b.text} != 0))", BOOL, axes, "bool", truth=True)

    def _lazy(self, operation: str, a: Code, right: Expr, env: Env) -> Code:
        """Scalars: what stands on the right is evaluated only where it counts."""
        mark, checked = len(self.writer.lines), self.checked
        self.checked = dict(checked)
        b = self.code(right, env)
        self.checked = checked
        if len(self.writer.lines) == mark:
            return Code(f"({a.text} {operation} {b.text})", BOOL, truth=a.truth and b.truth)
        made = self.writer.lines[mark:]
        del self.writer.lines[mark:]
        name = self.writer.new()
        self.writer.line(f"{name} = {a.text}")
        with self.writer.inside(f"if {'' if operation == 'and' else 'not '}{name}:"):
            self.writer.lines += ["    " + one for one in made]
            self.writer.line(f"{name} = {b.text}")
        return Code(name, BOOL, truth=a.truth and b.truth)

    @contextmanager
    def masked(self, condition: Code, holds: bool, env: Env) -> Iterator[None]:
        """Values count only where `condition` holds, or does not."""
        before, layout = self.mask, self.mask_layout
        own, around = self.truth(condition), self._mask_at(env)
        if not own.array:
            text = f"_bool({own.text})" if holds else f"(not {own.text})"
        else:
            text = own.text if holds else f"(~{own.text})"
        if around is not None:
            text = f"_np.logical_and({around.text}, {text})"
        axes = own.axes | (around.axes if around else frozenset())
        self.mask, self.mask_layout = Code(text, BOOL, axes, "bool", truth=True), dict(env.layout)
        yield
        self.mask, self.mask_layout = before, layout

    def _mask_at(self, env: Env) -> Code | None:
        return self.placed(self.mask, self.mask_layout, env.layout) if self.mask is not None else None

    def _choice(self, expr: Choice, env: Env) -> Code:
        condition = self.writer.keep(self.truth(self.code(expr.condition, env)))
        varies = env.varies
        if not condition.array and not (names(expr.yes) | names(expr.no)) & varies:
            return self._either(condition, expr, env)
        with self.masked(condition, True, env):
            yes = self.code(expr.yes, env)
        with self.masked(condition, False, env):
            no = self.code(expr.no, env)
        dtype = self.common([yes, no], expr.range)
        axes = condition.axes | yes.axes | no.axes
        if not any(one.array for one in (condition, yes, no)):
            return Code(f"({yes.text} if {condition.text} else {no.text})", expr.range)
        if yes.array and no.array:
            if yes.dtype == no.dtype:
                dtype = yes.dtype
            else:
                yes, no = self.aligned([yes, no], dtype)
        else:
            yes, no = (
                self.cast(one, dtype) if one.array else replace(one, text=f"_{dtype}({one.text})")
                for one in (yes, no)
            )
            if dtype == "object":
                yes, no = (replace(one, text=one.text.removeprefix("_object")) for one in (yes, no))
        truth = yes.truth and no.truth and dtype == "bool"
        text = f"_where({condition.text}, {yes.text}, {no.text})"
        return Code(text, expr.range, axes, dtype, truth=truth)

    def _either(self, condition: Code, expr: Choice, env: Env) -> Code:
        writer, parts, checked = self.writer, [], self.checked
        for branch in (expr.yes, expr.no):
            mark = len(writer.lines)
            self.checked = dict(checked)
            code = self.code(branch, env)
            self.checked = checked
            parts.append((code, writer.lines[mark:]))
            del writer.lines[mark:]
        (yes, before), (no, after) = parts
        if not before and not after:
            return Code(f"({yes.text} if {condition.text} else {no.text})", expr.range)
        name = writer.new()
        for head, (code, lines) in ((f"if {condition.text}:", parts[0]), ("else:", parts[1])):
            with writer.inside(head):
                writer.lines += ["    " + one for one in lines]
                writer.line(f"{name} = {code.text}")
        return Code(name, expr.range)

    # --- bits ---------------------------------------------------------------------------------------------

    def wrapped(self, code: Code, kind: Range) -> Code:
        if kind.holds(code.range):
            return code
        bits = kind.bits
        if not code.array:
            low = f"({code.text} & {hex((1 << bits) - 1)})"
            if not kind.signed:
                return Code(low, kind)
            half = hex(1 << bits - 1)
            return Code(f"(({code.text} + {half} & {hex((1 << bits) - 1)}) - {half})", kind)
        if bits in (8, 16, 32) and code.dtype != "object":
            dtype = f"{'' if kind.signed else 'u'}int{bits}"
            return replace(self.cast(code, dtype), range=kind)
        dtype = self.computing(code.range, kind)
        code = self.cast(code, dtype)
        if dtype == "object" or not kind.signed:
            text = f"({code.text} & {hex((1 << bits) - 1)})"
            if kind.signed:
                text = f"({text} ^ {hex(1 << bits - 1)}) - {hex(1 << bits - 1)}"
            made = replace(code, text=f"({text})", range=kind)
            return self.cast(made, "int64") if signed(64).holds(kind) else made
        shift = (64 if dtype == "int64" else 32) - bits
        return replace(code, text=f"({code.text} << {shift} >> {shift})", range=kind, owned=True)

    def _bits(self, expr: Bits, env: Env) -> Code:
        value, width = self.code(expr.value, env), expr.width
        if not value.array and names(expr.low) & env.varies:
            return self._fields(value, expr, env)
        low = self.code(expr.low, env)
        if not value.array:
            text = value.text if low.text == "0" else f"{value.text} >> {low.text}"
            if value.range.signed or low.range.low + width < value.range.bits:
                text = f"{text} & {hex((1 << width) - 1)}"
            return Code(f"({text})" if " " in text else text, expr.range)
        axes = value.axes | low.axes
        dtype = self.computing(value.range, expr.range)
        shift = low.text
        if (
            low.range.high > 63 and dtype != "object"
        ):  # of a negative number, all bits from there on are the sign
            shift = f"_np.minimum({low.text}, 63)" if low.array else f"min({low.text}, 63)"
        text = self.cast(value, dtype).text
        text = text if shift == "0" else f"({text} >> {shift})"
        made = Code(f"({text} & {hex((1 << width) - 1)})", expr.range, axes, dtype)
        return self.cast(made, "int64") if dtype == "object" and width <= 63 else made

    def _fields(self, value: Code, expr: Bits, env: Env) -> Code:
        """Bits of one integer, from a place that varies."""
        width = expr.width
        at = linear(expr.low, env.linears, env.varies)
        if at and width in _FIELDS and not at.window and [*at.steps.values()] == [Const(width)]:
            (axis,) = at.axes
            base, count = self.code(at.base, env), self.code(env.axes[axis].count, env)
            text = f"_scalar_fields({value.text}, {base.text}, {count.text}, {width}, {env.layout[axis]})"
            return Code(text, expr.range, at.axes, "int64")
        low = self.code(expr.low, env)
        dtype = "int64" if width <= 63 else "object"
        return Code(f"_scalar_bits({value.text}, {low.text}, {width})", expr.range, low.axes, dtype)

    def _cat(self, arguments: Sequence[Expr], kind: Range, env: Env) -> Code:
        parts = [self.code(one, env) for one in arguments]
        dtype = self.computing(kind)
        texts, place = [], 0
        for one, part in zip(arguments, parts, strict=True):
            text = self.cast(part, dtype).text
            texts.append(f"({text} << {place})" if place else text)
            place += one.range.bits  # of the type that the text says: a part may be known to be smaller
        axes = frozenset().union(*(one.axes for one in parts))
        array = any(one.array for one in parts)
        return Code(f"({' | '.join(texts)})", kind, axes, dtype if array else SCALAR)

    # --- memories -----------------------------------------------------------------------------------------

    def read(self, memory: Memory, index: Sequence[Expr], env: Env) -> Code:
        dtype = natural(memory.type).name
        at = self.access(memory, index, env)
        name = memory.name
        if at.kind == "element":
            return Code(f"{name}.item({', '.join(at.index)})", memory.type)
        if at.kind == "part":
            return Code(at.text, memory.type, at.axes, dtype, owned=False)
        if at.kind == "either":
            found = self.writer.new()
            with self.writer.inside(f"if {at.test}:"):
                self.writer.line(f"{found} = {at.text}")
            with self.writer.inside("else:"):
                self.writer.line(
                    f"{found} = _gather({name}, {name!r}, {self.line}, ({', '.join(at.index)},))"
                )
            return Code(found, memory.type, at.axes, dtype, owned=False)
        mask = self._mask_at(env)
        more = f", {mask.text}" if mask else ""
        arguments = f"{name}, {name!r}, {self.line}, ({', '.join(at.index)},){more}"
        if not at.axes:
            return Code(f"_element({arguments})", memory.type)
        axes = at.axes | (mask.axes if mask else frozenset())
        return Code(f"_gather({arguments})", memory.type, axes, dtype)

    def access(self, memory: Memory, index: Sequence[Expr], env: Env) -> Access:
        """How the elements at `index` are reached, their bounds checked where they are a part."""
        sums = [linear(one, env.linears, env.varies) for one in index]
        axes = frozenset(axis for one in sums if one for axis in one.axes)
        windowed = [one for one in sums if one and one.window]
        if any(one is None for one in sums) or (len(windowed) > 0 and self.mask is not None):
            return self._gathered(index, env)
        known = [one for one in sums if one]
        limits = [self._limits(one, env) for one in known]
        if any(one is None for one in limits):
            return self._gathered(index, env)
        if windowed:
            return self._windowed(memory, index, known, [one for one in limits if one], env)
        safe = all(
            low.range.low >= 0 and high.range.high < size
            for (low, high), size in zip([one for one in limits if one], memory.shape, strict=True)
        )
        if self.mask is not None and not safe:
            return self._gathered(index, env)
        bases = []
        for dim, (one, limit, size) in enumerate(zip(known, limits, memory.shape, strict=True)):
            assert limit is not None
            bases.append(self._inside(memory, dim, one, limit, size, env))
        return self._part(memory, known, bases, axes, env)

    def _gathered(self, index: Sequence[Expr], env: Env) -> Access:
        parts = [self.code(one, env) for one in index]
        axes = frozenset().union(*(one.axes for one in parts))
        return Access("gather", "", tuple(one.text for one in parts), axes)

    def _limits(self, at: Linear, env: Env) -> tuple[Expr, Expr] | None:
        """The least and the greatest index; None where a step's sign does not show."""
        low = high = at.base
        try:
            for axis, step in at.steps.items():
                reach = times(step, apply("sub", env.axes[axis].count, Const(1)))
                if step.range.low >= 0:
                    high = plus(high, reach)
                elif step.range.high <= 0:
                    low = plus(low, reach)
                else:
                    return None
        except RangeError:
            return None
        return low, high

    def _inside(
        self, memory: Memory, dim: int, at: Linear, limit: tuple[Expr, Expr], size: int, env: Env
    ) -> tuple[Expr, str]:
        """Writes the check, where it does not show; returns the base, and its text."""
        low, high = limit
        key = (memory.name, dim, at.base, low, high)
        if key in self.checked:
            return self.checked[key]
        base = None
        if at.base.range.low != at.base.range.high:
            code = self.code(at.base, env)
            base = self.writer.keep(replace(code, text=f"+{code.text}") if BOOL.holds(code.range) else code)
        kept: Expr = Name(base.text, at.base.range) if base and base.text.isidentifier() else at.base
        tests, texts = [], []
        for end, wrong in ((low, low.range.low < 0), (high, high.range.high >= size)):
            text = base.text if base and end == at.base else self.code(end, env).text
            texts.append(text)
            if wrong:
                tests.append(
                    f"{text} < 0"
                    if end is low and low.range.low < 0 and len(texts) == 1
                    else f"{text} >= {size}"
                )
        if tests:
            with self.writer.inside(f"if {' or '.join(tests)}:"):
                self.writer.line(
                    f"_outside({memory.name!r}, {dim}, {texts[0]}, {texts[1]}, {size}, {self.line})"
                )
        self.checked[key] = kept, base.text if base else self.code(at.base, env).text
        return self.checked[key]

    def _part(
        self,
        memory: Memory,
        sums: Sequence[Linear],
        bases: Sequence[tuple[Expr, str]],
        axes: frozenset[str],
        env: Env,
    ) -> Access:
        name = memory.name
        if not axes:
            return Access("element", "", tuple(text for _base, text in bases), axes)
        used = [axis for one in sums for axis in one.axes]
        simple = len(used) == len(axes) and all(
            len(one.steps) <= 1
            and all(isinstance(step, Const) and step.value > 0 for step in one.steps.values())
            for one in sums
        )
        if simple:
            parts, order = [], []
            for one, (base, text), size in zip(sums, bases, memory.shape, strict=True):
                if not one.steps:
                    parts.append(text)
                    continue
                ((axis, step),) = one.steps.items()
                order.append(axis)
                assert isinstance(step, Const)
                parts.append(self._slice(base, text, env.axes[axis].count, step.value, size, env))
            return Access("part", self._indexed(name, parts, order, env), (), axes)
        return Access("part", self._view(memory, sums, bases, axes, env), (), axes)

    def _indexed(self, name: str, parts: list[str], order: list[str], env: Env) -> str:
        """One subscript takes the part and, where the order is right, puts missing axes in."""
        want = [env.layout[one] for one in order]
        if want != sorted(want, reverse=True):
            return self.spread(f"{name}[{', '.join(parts)}]", order, env.layout)
        made, place = [], max(want)
        for part in parts:
            if ":" in part:
                while want and place > want[0]:
                    made.append("None")
                    place -= 1
                want.pop(0)
                place -= 1
            made.append(part)
        made += ["None"] * place
        return f"{name}[{', '.join(made)}]"

    def _slice(self, base: Expr, text: str, count: Expr, step: int, size: int, env: Env) -> str:
        if base == Const(0) and count == Const(size) and step == 1:
            return ":"
        if isinstance(base, Const) and isinstance(count, Const):
            end = str(base.value + step * (count.value - 1) + 1)
        else:
            reach = plus(times(apply("sub", count, Const(1)), Const(step)), Const(1))
            reach = count if step == 1 else reach
            end = f"{text} + {self.code(reach, env).text}"
        return f"{text}:{end}" + (f":{step}" if step != 1 else "")

    def _view(
        self,
        memory: Memory,
        sums: Sequence[Linear],
        bases: Sequence[tuple[Expr, str]],
        axes: frozenset[str],
        env: Env,
    ) -> str:
        """Elements at any sum of steps, without a copy."""
        size = natural(memory.type).itemsize
        weight = size
        weights: list[int] = []
        for one in reversed(memory.shape):
            weights.insert(0, weight)
            weight *= one
        offset = " + ".join(_times(text, by) for (_base, text), by in zip(bases, weights, strict=True))
        shape, strides = [], []
        for place in range(max(env.layout[one] for one in axes), 0, -1):
            axis = next((one for one in axes if env.layout[one] == place), None)
            if axis is None:
                shape.append("1")
                strides.append("0")
                continue
            shape.append(self.code(env.axes[axis].count, env).text)
            steps = [
                _times(self.code(one.steps[axis], env).text, by)
                for one, by in zip(sums, weights, strict=True)
                if axis in one.steps
            ]
            strides.append(" + ".join(steps))
        dtype = natural(memory.type).name
        return f"_ndarray(({', '.join(shape)},), _{dtype}, {memory.name}, {offset}, ({', '.join(strides)},))"

    def _windowed(
        self,
        memory: Memory,
        index: Sequence[Expr],
        sums: Sequence[Linear],
        limits: Sequence[tuple[Expr, Expr]],
        env: Env,
    ) -> Access:
        """An index modulo something: a part where it does not wrap in between, else element by element."""
        gathered = self._gathered(index, env)
        if len(sums) != 1 or sums[0].window > memory.shape[0]:
            return gathered
        (at,), ((low, high),) = sums, limits
        first = self.writer.keep(self.code(low, env))
        start = self.writer.new()
        self.writer.line(f"{start} = {first.text} - {first.text} % {at.window}")
        base = Code(f"({self.code(at.base, env).text} - {start})", Range(0, at.window - 1))
        kept = self.writer.keep(base)
        test = f"{self.code(high, env).text} - {start} < {at.window}"
        inside = Linear(Name(kept.text, base.range), at.steps)
        part = self._part(memory, [inside], [(inside.base, kept.text)], at.axes, env)
        if part.kind == "element":
            return Access("element", "", (kept.text,), frozenset())
        return Access("either", part.text, gathered.index, gathered.axes, test)

    # --- sums and the like --------------------------------------------------------------------------------

    def _fold(self, expr: Fold, env: Env) -> Code:
        axis = Axis(f"{expr.iterator}.{self.writer.new()}", Const(0), Const(expr.count))
        inner = env.with_axis(expr.iterator, axis)
        if expr.operation == "add":
            return self.summed(expr.body, [axis], expr.range, inner)
        made = self.reduced(expr.operation, expr.body, [axis], inner)
        return replace(made, range=expr.range)

    def reduced(self, operation: str, body: Expr, axes: Sequence[Axis], env: Env, dtype: str = "") -> Code:
        """`operation` over `axes`, which come below all others, and are gone then."""
        local = env.copied()
        many = len(axes)
        local.layout = {one: place + many for one, place in env.layout.items()}
        local.layout |= {one.name: many - at for at, one in enumerate(axes)}
        code = self.code(body, local)
        there = [one.name for one in axes if one.name in code.axes]
        left = code.axes - {*there}
        truth = operation in ("and", "or")
        name = {"add": "sum", "and": "all", "or": "any"}.get(operation, operation)
        result = dtype or ("bool" if truth else code.dtype)
        if dtype and code.dtype == "object":
            code = self.cast(code, "int64")
        options = [f"dtype=_{dtype}"] if dtype else []
        if not left:
            text = f"{code.text}.{name}({', '.join(options)}).item()" if there else code.text
            return Code(text, code.range, truth=truth and code.truth)
        text = code.text
        if there:
            places = [f"-{local.layout[one]}" for one in there]
            along = places[0] if len(places) == 1 else f"({', '.join(places)})"
            keep = [] if len(there) == many else ["keepdims=True"]
            text = f"{text}.{name}({', '.join([f'axis={along}', *keep, *options])})"
        else:
            result = code.dtype
        if len(there) < many:
            text = f"{text}[..., {', '.join('0' * many)}]"
        return Code(text, code.range, left, result, truth=result == "bool", owned=bool(there))

    def summed(self, body: Expr, axes: Sequence[Axis], kind: Range, env: Env) -> Code:
        """The sum over `axes`, which `env` knows."""
        while isinstance(body, Fold) and body.operation == "add":
            axis = Axis(f"{body.iterator}.{self.writer.new()}", Const(0), Const(body.count))
            env = env.with_axis(body.iterator, axis)
            axes, body = [*axes, axis], body.body
        if (found := self._product(body, axes, kind, env)) is not None:
            return found
        dtype = self.computing(kind) if self.computing(kind) != "object" else "int64"
        varies = self._axes_of(body, env)
        there = [one for one in axes if one.name in varies]
        made = self.reduced("add", body, there, env, dtype) if there else self.code(body, env)
        for axis in axes:
            if axis not in there:
                made = self.apply("mul", [replace(made, truth=False), self.code(axis.count, env)], kind)
        return replace(made, range=kind, truth=False)

    def _product(self, body: Expr, axes: Sequence[Axis], kind: Range, env: Env) -> Code | None:
        """A sum of products as a matrix product, in floats where they are exact; both vary along `axes`."""
        if not isinstance(body, Apply) or body.operation != "mul":
            return None
        bound = max(abs(body.range.low), abs(body.range.high))
        for axis in axes:
            bound *= max(1, axis.count.range.high)
        # Without floats it is slower, and modulo 1 << 64.
        number = next((name for name, limit in EXACT.items() if bound <= limit), "int64")
        if self.mask is not None:
            return None
        if any(axis not in env.axes for one in body.arguments for axis in self._axes_of(one, env)):
            return None  # a function's parameters: how many there are does not stand here
        sides = [self._axes_of(one, env) for one in body.arguments]
        summed = {one.name for one in axes}
        if not summed <= sides[0] & sides[1] or not sides[0] | sides[1] > summed:
            return None
        batch = sides[0] & sides[1] - summed
        own = [side - summed - batch for side in sides]
        # Rows from the left, columns from the right: one that has none of its own has a 1 there.
        order = [_ordered(one, env) for one in (batch, *own)]
        inner = [one.name for one in axes]
        texts = []
        for expr, groups in zip(body.arguments, ([order[1], inner], [inner, order[2]]), strict=True):
            local = env.copied()
            places = [*order[0], *groups[0], *groups[1]]
            for place, name in enumerate(reversed(places)):
                local.layout[name] = place + 1
            code = self.code(expr, local)
            if code.axes != frozenset(places):
                return None
            texts.append(self._flat(code, order[0], groups, number, env))
        text = f"_matmul({texts[0]}, {texts[1]})"
        result = [*order[0], *order[1], *order[2]]
        left, right = (len(one) for one in order[1:])
        if left != 1 or right != 1:
            shape = [self.code(env.axes[one].count, env).text for one in result]
            text = f"{text}.reshape({', '.join(shape)})"
        dtype = self.computing(kind)
        text = text if dtype == number else f"{text}.astype(_{dtype})"
        if not result:
            return Code(f"{text}.item()", kind)
        return Code(self.spread(text, result, env.layout), kind, frozenset(result), dtype)

    def _flat(self, code: Code, batch: list[str], groups: list[list[str]], number: str, env: Env) -> str:
        text = f"{self.cast(code, number).text}"
        if all(len(one) == 1 for one in groups):
            return text
        counts = [[self.code(env.axes[one].count, env).text for one in group] for group in (batch, *groups)]
        shape = [*counts[0], *(" * ".join(one) if one else "1" for one in counts[1:])]
        return f"{text}.reshape({', '.join(shape)})"

    def _axes_of(self, expr: Expr, env: Env) -> set[str]:
        found: set[str] = set()
        for name in names(expr):
            one = env.known.get(name)
            found |= {one.name} if isinstance(one, Axis) else set(one.axes) if one else set()
        return found

    # --- functions ----------------------------------------------------------------------------------------

    def _call(self, function: Function, arguments: Sequence[Code], env: Env) -> Code:
        kind = function.result
        axes = frozenset().union(*(one.axes for one in arguments))
        texts = ", ".join(one.text for one in arguments)
        if function.external:
            name = self.shared.external(function.external)
            text = f"_external({name}, {kind.low}, {kind.high}, {kind.bits}, {texts})"
            return Code(text, kind, axes, "int64" if axes else SCALAR)
        name, result = self.shared.function(self.isa, function, arguments, env)
        back = {place: axis for axis, place in env.layout.items() if axis in axes}
        found = frozenset(back[int(one.removeprefix("at"))] for one in result.axes)
        return replace(result, text=f"{name}({texts})", axes=found, range=kind)


class Shared:
    """Functions, tables and externals that the instructions' code uses, each made once."""

    def __init__(self) -> None:
        self.sources: dict[str, str] = {}
        self.tables: set[tuple[str, bool]] = set()
        self.externals: dict[str, str] = {}
        self.layouts: dict[int, dict[str, int]] = {}
        self._results: dict[Any, tuple[str, Code]] = {}
        self.kept: list[Code] = []
        self.keys: dict[int, str] = {}
        """Instructions by the bits that alone say that they come."""

    def table(self, name: str, *, array: bool) -> str:
        self.tables.add((name, array))
        return f"_{name}_array" if array else f"_{name}_values"

    def external(self, name: str) -> str:
        return self.externals.setdefault(name, f"_external_{len(self.externals)}")

    def place(self, code: Code, layout: Mapping[str, int]) -> Code:
        """Remembers where the axes of a named array lie."""
        self.kept.append(code)
        self.layouts[id(code)] = {one: layout[one] for one in code.axes}
        return code

    def function(
        self, isa: InstructionSet, function: Function, arguments: Sequence[Code], env: Env
    ) -> tuple[str, Code]:
        """A function for arguments of these kinds: its name, and its result with axes ``at1``, ``at2``."""
        kinds = tuple((one.dtype, tuple(sorted(env.layout[axis] for axis in one.axes))) for one in arguments)
        key = (function.name, kinds)
        if key in self._results:
            return self._results[key]
        name = f"_{function.name}" + (f"_{len(self._results)}" if any(one.array for one in arguments) else "")
        writer = Writer()
        expressions = Expressions(isa, writer, self)
        inner = Env()
        for (parameter, kind), one in zip(function.parameters.items(), arguments, strict=True):
            places = {f"at{env.layout[axis]}": env.layout[axis] for axis in one.axes}
            inner.layout |= places
            code = Code(parameter, kind, frozenset(places), one.dtype, truth=one.truth and one.array)
            inner.known[parameter] = self.place(code, inner.layout)
        for let in function.lets:
            code = expressions.code(let.value, inner)
            writer.line(f"{let.name} = {code.text}")
            inner.known[let.name] = self.place(replace(code, text=let.name), inner.layout)
        assert function.value is not None
        result = expressions.code(function.value, inner)
        writer.line(f"return {result.text}")
        head = f"def {name}({', '.join(function.parameters)}):"
        self.sources[name] = "\n".join([head, *writer.lines])
        self._results[key] = (name, replace(result, owned=not isinstance(function.value, Name)))
        return self._results[key]


def _ordered(axes: set[str], env: Env) -> list[str]:
    return sorted(axes, key=lambda one: -env.layout[one])


def _times(text: str, by: int) -> str:
    if text.isdigit():
        return str(int(text) * by)
    return text if by == 1 else f"{text} * {by}"


def _scalar(operation: str, texts: Sequence[str]) -> str:
    if operation in _SYMBOLS:
        return f"({texts[0]} {_SYMBOLS[operation]} {texts[1]})"
    if operation in ("min", "max", "abs"):
        return f"_{operation}({', '.join(texts)})"
    return {"invert": f"(-1 - {texts[0]})", "neg": f"(-{texts[0]})", "not": f"(not {texts[0]})"}[operation]
