"""Sums in NumPy code, and what is like them; sums of products are matrix products."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from axiloom.isa.instructions import externals
from axiloom.isa.instructions.simulator.linear import Axis
from axiloom.isa.instructions.simulator.memories import Memories
from axiloom.isa.instructions.simulator.state import natural
from axiloom.isa.instructions.simulator.values import Code, Env, ordered
from axiloom.isa.instructions.tree import (
    Apply,
    Const,
    Expr,
    Fold,
    Function,
    Range,
    signed,
    unsigned,
)  # fmt: skip

EXACT = {"float32": 1 << 24, "float64": 1 << 53}
"""Sums up to there are exact."""


class Sums(Memories):
    """An operation over all values of iterators."""

    def _fold(self, expr: Fold, env: Env) -> Code:
        axis = Axis(f"{expr.iterator}.{self.writer.new()}", Const(0), Const(expr.count))
        inner = env.with_axis(expr.iterator, axis)
        if expr.operation == "add":
            return self.summed(expr.body, [axis], expr.range, inner)
        folded = self.reduced(expr.operation, expr.body, [axis], inner)
        return replace(folded, range=expr.range)

    def reduced(self, operation: str, body: Expr, axes: Sequence[Axis], env: Env, dtype: str = "") -> Code:
        """`operation` over `axes`, which come below all others, and are gone then."""
        local = env.copied()
        many = len(axes)
        local.layout = {axis: place + many for axis, place in env.layout.items()}
        local.layout |= {axis.name: many - at for at, axis in enumerate(axes)}
        code = self.code(body, local)
        there = [axis.name for axis in axes if axis.name in code.axes]
        left = code.axes - {*there}
        truth = operation in ("and", "or")
        name = {"add": "sum", "and": "all", "or": "any"}.get(operation, operation)
        result = dtype or ("bool" if truth else code.dtype)
        if dtype and code.dtype == "object":
            code = self.cast(code, "int64")
        options = [f"dtype=_{dtype}"] if dtype else []
        if not left:
            text = f"{code.text}.{name}({', '.join(options)}).item()" if there else code.text
            reduced = Code(text, code.range, truth=truth and code.truth)
            return self._repeated(operation, reduced, [axis for axis in axes if axis.name not in there], env)
        text = code.text
        if there:
            places = [f"-{local.layout[axis]}" for axis in there]
            along = places[0] if len(places) == 1 else f"({', '.join(places)})"
            keep = [] if len(there) == many else ["keepdims=True"]
            text = f"{text}.{name}({', '.join([f'axis={along}', *keep, *options])})"
        else:
            result = code.dtype
        if len(there) < many:
            text = f"{text}[..., {', '.join('0' * many)}]"
        reduced = Code(text, code.range, left, result, truth=result == "bool", owned=bool(there))
        return self._repeated(operation, reduced, [axis for axis in axes if axis.name not in there], env)

    def joined(self, function: Function, before: Code, body: Expr, axes: Sequence[Axis], env: Env) -> Code:
        """`before`, joined with `body` for each turn of `axes`, one after the other: the order counts."""
        top, many = max(env.layout.values()), len(axes)
        local = env.copied()
        local.layout |= {axis.name: top + many - at for at, axis in enumerate(axes)}
        term = self.code(body, local)
        counts = ", ".join(self.code(axis.count, env).text for axis in axes)
        name, kind = self.shared.external(function.external), function.result
        plain = externals.function(function.external).patterns is None
        whole = f"{name}_all"
        name = f"_partial(_external, {name}, {kind.low}, {kind.high}, {kind.bits})" if plain else name
        text = f"_joined({name}, {whole}, {before.text}, {term.text}, ({counts},), {top})"
        left = before.axes | (term.axes - {axis.name for axis in axes})
        if not left:
            return Code(f"_np.asarray({text}).item()", kind)
        return Code(text, kind, left, "int64" if plain else natural(kind).name)

    def _repeated(self, operation: str, code: Code, axes: Sequence[Axis], env: Env) -> Code:
        """Over axes along which a value is always the same: a sum is so many times the value."""
        if operation == "add":
            for axis in axes:
                code = self.apply("mul", [replace(code, truth=False), self.code(axis.count, env)], signed(64))
        return code

    def summed(self, body: Expr, axes: Sequence[Axis], kind: Range, env: Env, *, low: bool = False) -> Code:
        """The sum over `axes`, which `env` knows. `low`: an int32 of its low bits is enough."""
        while isinstance(body, Fold) and body.operation == "add":
            axis = Axis(f"{body.iterator}.{self.writer.new()}", Const(0), Const(body.count))
            env = env.with_axis(body.iterator, axis)
            axes, body = [*axes, axis], body.body
        if (product := self._product(body, axes, kind, env, low)) is not None:
            return product
        dtype = self.computing(kind) if self.computing(kind) != "object" else "int64"
        total = self.reduced("add", body, axes, env, dtype)
        return replace(total, range=kind, truth=False)

    def _product(self, body: Expr, axes: Sequence[Axis], kind: Range, env: Env, low: bool) -> Code | None:
        """A sum of products as a matrix product, in floats where they are exact; both vary along `axes`."""
        if not isinstance(body, Apply) or body.operation != "mul":
            return None
        bound = max(abs(body.range.low), abs(body.range.high))
        for axis in axes:
            bound *= max(1, axis.count.range.high)
        # Without floats it is slower, and modulo 1 << 64.
        number = next((name for name, limit in EXACT.items() if bound <= limit), "int64")
        narrow = all(
            signed(32).holds(part.range) or unsigned(32).holds(part.range) for part in body.arguments
        )
        low = low and narrow and number == "int64"
        if self.mask is not None:
            return None
        if any(axis not in env.axes for argument in body.arguments for axis in self._axes_of(argument, env)):
            return None  # a function's parameters: how many there are does not stand here
        sides = [self._axes_of(argument, env) for argument in body.arguments]
        summed = {axis.name for axis in axes}
        if not summed <= sides[0] & sides[1] or not sides[0] | sides[1] > summed:
            return None
        batch = sides[0] & sides[1] - summed
        own = [side - summed - batch for side in sides]
        # Rows from the left, columns from the right: one that has none of its own has a 1 there.
        order = [ordered(group, env) for group in (batch, *own)]
        inner = [axis.name for axis in axes]
        texts = []
        for expr, groups in zip(body.arguments, ([order[1], inner], [inner, order[2]]), strict=True):
            local = env.copied()
            places = [*order[0], *groups[0], *groups[1]]
            for place, name in enumerate(reversed(places)):
                local.layout[name] = place + 1
            code = self.code(expr, local)
            if code.axes != frozenset(places):
                return None
            texts.append(self._flat(code, order[0], groups, code.dtype if low else number, env))
        text = f"{'_product' if low else '_matmul'}({texts[0]}, {texts[1]})"
        result = [*order[0], *order[1], *order[2]]
        left, right = (len(group) for group in order[1:])
        if left != 1 or right != 1:
            shape = [self.code(env.axes[axis].count, env).text for axis in result]
            text = f"{text}.reshape({', '.join(shape)})"
        if low:
            number, kind = "int32", signed(32)
        dtype = self.computing(kind)
        text = text if dtype == number else f"{text}.astype(_{dtype})"
        if not result:
            return Code(f"{text}.item()", kind)
        return Code(self.spread(text, result, env.layout), kind, frozenset(result), dtype)

    def _flat(self, code: Code, batch: list[str], groups: list[list[str]], number: str, env: Env) -> str:
        text = f"{self.cast(code, number).text}"
        if all(len(group) == 1 for group in groups):
            return text
        counts = [[self.code(env.axes[axis].count, env).text for axis in group] for group in (batch, *groups)]
        shape = [*counts[0], *(" * ".join(count) if count else "1" for count in counts[1:])]
        return f"{text}.reshape({', '.join(shape)})"
