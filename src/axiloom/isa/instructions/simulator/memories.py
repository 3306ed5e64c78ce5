"""Elements of memories in NumPy code: one, a part, rows whose index is computed, or any."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from axiloom.isa.instructions.arithmetic import RangeError, apply, plus, times
from axiloom.isa.instructions.simulator.linear import Linear, linear
from axiloom.isa.instructions.simulator.state import natural
from axiloom.isa.instructions.simulator.values import Access, Arrays, Code, Env, ordered
from axiloom.isa.instructions.tree import (
    BOOL,
    Const,
    Expr,
    Memory,
    Name,
    Range,
)  # fmt: skip


class Memories(Arrays):
    """How the elements at an index are reached, for all axes at once."""

    def read(self, memory: Memory, index: Sequence[Expr], env: Env) -> Code:
        dtype = natural(memory.type).name
        at = self.access(memory, index, env)
        name = memory.name
        if at.kind == "element":
            return Code(f"{name}.item({', '.join(at.index)})", memory.type)
        if at.kind in ("part", "rows"):
            return Code(at.text, memory.type, at.axes, dtype, owned=at.kind == "rows")
        if at.kind == "either":
            variable = self.writer.new()
            with self.writer.inside(f"if {at.test}:"):
                self.writer.line(f"{variable} = {at.text}")
            with self.writer.inside("else:"):
                self.writer.line(
                    f"{variable} = _gather({name}, {name!r}, {self.line}, ({', '.join(at.index)},))"
                )
            return Code(variable, memory.type, at.axes, dtype, owned=False)
        mask = self._mask_at(env)
        more = f", {mask.text}" if mask else ""
        arguments = f"{name}, {name!r}, {self.line}, ({', '.join(at.index)},){more}"
        if not at.axes:
            return Code(f"_element({arguments})", memory.type)
        axes = at.axes | (mask.axes if mask else frozenset())
        return Code(f"_gather({arguments})", memory.type, axes, dtype)

    def access(self, memory: Memory, index: Sequence[Expr], env: Env) -> Access:
        """How the elements at `index` are reached, their bounds checked where they are a part."""
        sums = [linear(part, env.linears, env.varies) for part in index]
        axes = frozenset(axis for sum_ in sums if sum_ for axis in sum_.axes)
        windowed = [sum_ for sum_ in sums if sum_ and sum_.window]
        if any(sum_ is None for sum_ in sums) or (len(windowed) > 0 and self.mask is not None):
            return self._rows(memory, index, sums, env) or self._gathered(index, env)
        known = [sum_ for sum_ in sums if sum_]
        limits = [self._limits(sum_, env) for sum_ in known]
        if any(limit is None for limit in limits):
            return self._gathered(index, env)
        if windowed:
            if len(known) > 1 and (rows := self._rows(memory, index, sums, env)):
                return rows
            return self._windowed(memory, index, known, [limit for limit in limits if limit], env)
        safe = all(
            low.range.low >= 0 and high.range.high < size
            for (low, high), size in zip([limit for limit in limits if limit], memory.shape, strict=True)
        )
        if self.mask is not None and not safe:
            return self._gathered(index, env)
        bases = []
        for dim, (sum_, limit, size) in enumerate(zip(known, limits, memory.shape, strict=True)):
            assert limit is not None
            bases.append(self._inside(memory, dim, sum_, limit, size, env))
        return self._part(memory, known, bases, axes, env)

    def _rows(
        self, memory: Memory, index: Sequence[Expr], sums: Sequence[Linear | None], env: Env
    ) -> Access | None:
        """One index is computed, the others are parts: NumPy takes whole rows."""
        computed = [dim for dim, sum_ in enumerate(sums) if sum_ is None or sum_.window]
        if self.mask is not None or len(computed) != 1 or len(sums) == 1:
            return None
        (dim,) = computed
        over = self._axes_of(index[dim], env)
        own = ordered(over, env)
        local = env.copied()
        for place, name in enumerate(reversed(own)):
            local.layout[name] = place + 1
        used: set[str] = set(own)
        for at, sum_ in enumerate(sums):
            if at != dim and (sum_ is None or len(sum_.steps) != 1 or sum_.axes & used):
                return None
            if at != dim and sum_:
                if any(not isinstance(step, Const) or step.value < 1 for step in sum_.steps.values()):
                    return None
                used |= sum_.axes
        code = self.code(index[dim], local)
        if not own or code.axes != frozenset(own):
            return None
        size = memory.shape[dim]
        taken = code.text
        if code.range.low < 0 or code.range.high >= size:
            taken = f"_rows({taken}, {memory.name!r}, {dim}, {size}, {self.line})"
        parts, order = [], []
        for at, sum_ in enumerate(sums):
            if at == dim or sum_ is None:
                parts.append(taken)
                order += own
                continue
            limits = self._limits(sum_, env)
            assert limits is not None
            base, text = self._inside(memory, at, sum_, limits, memory.shape[at], env)
            ((axis, step),) = sum_.steps.items()
            assert isinstance(step, Const)
            parts.append(self._slice(base, text, env.axes[axis].count, step.value, memory.shape[at], env))
            order.append(axis)
        text = f"{memory.name}[{', '.join(parts)}]"
        tight = [env.layout[axis] for axis in order] == [*range(len(order), 0, -1)]
        return Access(
            "rows", self.spread(text, order, env.layout), (), frozenset(order), "tight" if tight else ""
        )

    def _gathered(self, index: Sequence[Expr], env: Env) -> Access:
        parts = [self.code(part, env) for part in index]
        axes = frozenset().union(*(part.axes for part in parts))
        return Access("gather", "", tuple(part.text for part in parts), axes)

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
        used = [axis for sum_ in sums for axis in sum_.axes]
        simple = len(used) == len(axes) and all(
            len(sum_.steps) <= 1
            and all(isinstance(step, Const) and step.value > 0 for step in sum_.steps.values())
            for sum_ in sums
        )
        if simple:
            parts, order = [], []
            for sum_, (base, text), size in zip(sums, bases, memory.shape, strict=True):
                if not sum_.steps:
                    parts.append(text)
                    continue
                ((axis, step),) = sum_.steps.items()
                order.append(axis)
                assert isinstance(step, Const)
                parts.append(self._slice(base, text, env.axes[axis].count, step.value, size, env))
            return Access("part", self._indexed(name, parts, order, env), (), axes)
        return Access("part", self._view(memory, sums, bases, axes, env), (), axes)

    def _indexed(self, name: str, parts: list[str], order: list[str], env: Env) -> str:
        """One subscript takes the part and, where the order is right, puts missing axes in."""
        want = [env.layout[axis] for axis in order]
        if want != sorted(want, reverse=True):
            return self.spread(f"{name}[{', '.join(parts)}]", order, env.layout)
        subscripts, place = [], max(want)
        for part in parts:
            if ":" in part:
                while want and place > want[0]:
                    subscripts.append("None")
                    place -= 1
                want.pop(0)
                place -= 1
            subscripts.append(part)
        subscripts += ["None"] * place
        return f"{name}[{', '.join(subscripts)}]"

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
        for extent in reversed(memory.shape):
            weights.insert(0, weight)
            weight *= extent
        offset = " + ".join(_times(text, by) for (_base, text), by in zip(bases, weights, strict=True))
        shape, strides = [], []
        for place in range(max(env.layout[axis] for axis in axes), 0, -1):
            axis = next((axis for axis in axes if env.layout[axis] == place), None)
            if axis is None:
                shape.append("1")
                strides.append("0")
                continue
            shape.append(self.code(env.axes[axis].count, env).text)
            steps = [
                _times(self.code(sum_.steps[axis], env).text, by)
                for sum_, by in zip(sums, weights, strict=True)
                if axis in sum_.steps
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


def _times(text: str, by: int) -> str:
    if text.isdigit():
        return str(int(text) * by)
    return text if by == 1 else f"{text} * {by}"
