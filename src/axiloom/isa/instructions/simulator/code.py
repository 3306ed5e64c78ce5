"""Expressions as NumPy code. What depends on no axis is a Python integer; the rest are arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from axiloom.isa.instructions import externals
from axiloom.isa.instructions.simulator.linear import Axis, linear, names
from axiloom.isa.instructions.simulator.state import natural
from axiloom.isa.instructions.simulator.sums import Sums
from axiloom.isa.instructions.simulator.values import SCALAR, Code, Env, Writer
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
    Name,
    Range,
    Read,
    Requirement,
    Wrapped,
    signed,
)  # fmt: skip

_FIELDS = (8, 16, 32)
_SYMBOLS = {
    "add": "+", "sub": "-", "mul": "*", "floordiv": "//", "mod": "%", "shl": "<<", "shr": ">>", "bitand": "&",
    "bitor": "|", "bitxor": "^", "eq": "==", "ne": "!=", "lt": "<", "le": "<=",
}  # fmt: skip
_COMPARED = ("eq", "ne", "lt", "le")


class Expressions(Sums):
    """Writes expressions for `writer`; `shared` are functions and tables of the whole text."""

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
                return self.apply(operation, [self.code(argument, env) for argument in arguments], kind)
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
                return self._call(function, [self.code(argument, env) for argument in arguments], env)
        raise AssertionError(expr)

    def _name(self, name: str, kind: Range, env: Env) -> Code:
        local = env.known.get(name)
        if local is None:
            return Code(name, kind)
        if isinstance(local, Axis):
            low, count = self.code(local.low, env), self.code(local.count, env)
            text = f"_axis({count.text}, {env.layout[local.name]})"
            text = text if local.low == Const(0) else f"({text} + {low.text})"
            return Code(text, kind, frozenset((local.name,)), "int64")
        return self.placed(local, self.shared.layouts.get(id(local), env.layout), env.layout)

    def apply(self, operation: str, parts: Sequence[Code], kind: Range) -> Code:
        axes = frozenset().union(*(part.axes for part in parts))
        truth = operation in (*_COMPARED, "not")
        if not any(part.array for part in parts):
            return Code(_scalar(operation, [part.text for part in parts]), kind, truth=truth)
        if operation == "not":
            return Code(f"(~{self.truth(parts[0]).text})", BOOL, axes, "bool", truth=True)
        if operation in _COMPARED:
            a, b = parts
            return Code(f"({a.text} {_SYMBOLS[operation]} {b.text})", BOOL, axes, "bool", truth=True)
        dtype = self.common(parts, kind)
        texts = [part.text for part in self.aligned(parts, dtype)]
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
        lines = self.writer.lines[mark:]
        del self.writer.lines[mark:]
        name = self.writer.new()
        self.writer.line(f"{name} = {a.text}")
        with self.writer.inside(f"if {'' if operation == 'and' else 'not '}{name}:"):
            self.writer.lines += ["    " + line for line in lines]
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
        if not any(operand.array for operand in (condition, yes, no)):
            return Code(f"({yes.text} if {condition.text} else {no.text})", expr.range)
        if yes.array and no.array:
            if yes.dtype == no.dtype:
                dtype = yes.dtype
            else:
                yes, no = self.aligned([yes, no], dtype)
        else:
            yes, no = (
                self.cast(side, dtype) if side.array else replace(side, text=f"_{dtype}({side.text})")
                for side in (yes, no)
            )
            if dtype == "object":
                yes, no = (replace(side, text=side.text.removeprefix("_object")) for side in (yes, no))
        truth = yes.truth and no.truth and dtype == "bool"
        new = condition.array and yes.array and yes.owned and yes.dtype == dtype
        text = f"{'_chosen' if new else '_where'}({condition.text}, {yes.text}, {no.text})"
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
                writer.lines += ["    " + line for line in lines]
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
            narrowed = replace(code, text=f"({text})", range=kind)
            return self.cast(narrowed, "int64") if signed(64).holds(kind) else narrowed
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
        code = Code(f"({text} & {hex((1 << width) - 1)})", expr.range, axes, dtype)
        return self.cast(code, "int64") if dtype == "object" and width <= 63 else code

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
        parts = [self.code(argument, env) for argument in arguments]
        dtype = self.computing(kind)
        texts, place = [], 0
        for argument, part in zip(arguments, parts, strict=True):
            text = self.cast(part, dtype).text
            texts.append(f"({text} << {place})" if place else text)
            place += argument.range.bits  # of the type that the text says: a part may be known to be smaller
        axes = frozenset().union(*(part.axes for part in parts))
        array = any(part.array for part in parts)
        return Code(f"({' | '.join(texts)})", kind, axes, dtype if array else SCALAR)

    # --- functions ----------------------------------------------------------------------------------------

    def _call(self, function: Function, arguments: Sequence[Code], env: Env) -> Code:
        kind = function.result
        axes = frozenset().union(*(argument.axes for argument in arguments))
        texts = ", ".join(argument.text for argument in arguments)
        if function.external:
            name = self.shared.external(function.external)
            if externals.function(function.external).patterns is None:
                text = f"_external({name}, {kind.low}, {kind.high}, {kind.bits}, {texts})"
                return Code(text, kind, axes, "int64" if axes else SCALAR)
            text = f"{name}({texts})"
            return Code(text if axes else f"_int({text})", kind, axes, natural(kind).name if axes else SCALAR)
        result: Code
        name, result = self.shared.function(self.isa, function, arguments, env)
        back = {place: axis for axis, place in env.layout.items() if axis in axes}
        own = frozenset(back[int(axis.removeprefix("at"))] for axis in result.axes)
        return replace(result, text=f"{name}({texts})", axes=own, range=kind)


class Shared:
    """Functions, tables and externals that the instructions' code uses, each made once."""

    def __init__(self) -> None:
        self.sources: dict[str, str] = {}
        self.tables: set[tuple[str, bool]] = set()
        self.externals: dict[str, str] = {}
        self.layouts: dict[int, dict[str, int]] = {}
        self._results: dict[Any, tuple[str, Code]] = {}
        self.kept: list[Code] = []
        self.requirements: list[Requirement] = []
        """Those that stand in bodies."""
        self.keys: dict[int, str] = {}
        """Instructions by the bits that alone say that they come."""

    def table(self, name: str, *, array: bool) -> str:
        self.tables.add((name, array))
        return f"_{name}_array" if array else f"_{name}_values"

    def requirement(self, requirement: Requirement) -> int:
        """Its number."""
        self.requirements.append(requirement)
        return len(self.requirements) - 1

    def external(self, name: str) -> str:
        return self.externals.setdefault(name, f"_external_{len(self.externals)}")

    def place(self, code: Code, layout: Mapping[str, int]) -> Code:
        """Remembers where the axes of a named array lie."""
        self.kept.append(code)
        self.layouts[id(code)] = {axis: layout[axis] for axis in code.axes}
        return code

    def function(
        self, isa: InstructionSet, function: Function, arguments: Sequence[Code], env: Env
    ) -> tuple[str, Code]:
        """A function for arguments of these kinds: its name, and its result with axes ``at1``, ``at2``."""
        kinds = tuple(
            (argument.dtype, tuple(sorted(env.layout[axis] for axis in argument.axes)))
            for argument in arguments
        )
        key = (function.name, kinds)
        if key in self._results:
            return self._results[key]
        name = f"_{function.name}" + (
            f"_{len(self._results)}" if any(argument.array for argument in arguments) else ""
        )
        writer = Writer()
        expressions = Expressions(isa, writer, self)
        inner = Env()
        for (parameter, kind), argument in zip(function.parameters.items(), arguments, strict=True):
            places = {f"at{env.layout[axis]}": env.layout[axis] for axis in argument.axes}
            inner.layout |= places
            code = Code(
                parameter, kind, frozenset(places), argument.dtype, truth=argument.truth and argument.array
            )
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


def _scalar(operation: str, texts: Sequence[str]) -> str:
    if operation in _SYMBOLS:
        return f"({texts[0]} {_SYMBOLS[operation]} {texts[1]})"
    if operation in ("min", "max", "abs"):
        return f"_{operation}({', '.join(texts)})"
    return {"invert": f"(-1 - {texts[0]})", "neg": f"(-{texts[0]})", "not": f"(not {texts[0]})"}[operation]
