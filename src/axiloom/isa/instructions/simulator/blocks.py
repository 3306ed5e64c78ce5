"""Instructions as NumPy functions: statements, lanes and loops.

Their expressions: :mod:`axiloom.isa.instructions.simulator.code`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from string import Formatter
from typing import Any

import numpy as np

from axiloom.isa.instructions import externals
from axiloom.isa.instructions.arithmetic import all_of, plus, times
from axiloom.isa.instructions.simulator import parts
from axiloom.isa.instructions.simulator.code import Expressions, Shared
from axiloom.isa.instructions.simulator.linear import Axis, linear, names
from axiloom.isa.instructions.simulator.nests import Accumulated, Plan, depth_of, plan, reads
from axiloom.isa.instructions.simulator.state import natural
from axiloom.isa.instructions.simulator.values import LARGE, Code, Env, Writer
from axiloom.isa.instructions.tree import (
    BOOL,
    Const,
    Expr,
    For,
    Function,
    If,
    Instruction,
    InstructionSet,
    Lanes,
    Let,
    Name,
    Range,
    Requirement,
    SetRegister,
    Statement,
    Write,
    signed,
)  # fmt: skip

_NAME = re.compile(r"(?<![\w.])[^\W\d]\w*")


class Blocks:
    """Writes one instruction."""

    def __init__(self, isa: InstructionSet, instruction: Instruction, shared: Shared) -> None:
        self.isa, self.instruction = isa, instruction
        self.writer = Writer()
        self.values = Expressions(isa, self.writer, shared)
        self.shared = shared
        self.written = {write.memory.name for write in _writes(instruction.body)}
        self.registers = {one.register.name for one in _sets(instruction.body)}

    def source(self, result: Expr | None = None) -> str:
        """The function: it takes the state and the inputs, and returns what `result` is behind the body."""
        one, writer = self.instruction, self.writer
        env = Env()
        for let in one.fields:
            self.values.statement(let.line)
            self._let(let, env)
        legal = all_of([part.condition for part in one.legal])
        if legal != Const(1):
            self.values.statement(one.legal[0].line)
            known = [*self.isa.inputs, *(let.name for let in one.fields)]
            fields = ", ".join(f"{name!r}: {name}" for name in known)
            with writer.inside(f"if not {self.values.code(legal, env).text}:"):
                writer.line(f"_illegal({one.name!r}, {{{fields}}})")
        self.block(one.body, env)
        for name in sorted(self.registers):
            writer.line(f"_set(_state, {name!r}, {name})")
        if result is not None:
            self.values.statement(one.line)
            writer.line(f"return {self.values.code(result, env).text}")
        text = "\n".join(writer.lines)
        used = set(_NAME.findall(text))
        state = (*self.isa.registers, *self.isa.memories)
        loaded = [f"    {name} = _state[{name!r}]" for name in state if name in used]
        head = f"def {one.name}({', '.join(['_state', *self.isa.inputs])}):"
        return "\n".join([head, *loaded, *(writer.lines or ["    pass"])])

    # --- statements ---------------------------------------------------------------------------------------

    def block(self, statements: Sequence[Statement], env: Env) -> None:
        env = env.copied()
        for statement in statements:
            self.values.statement(statement.line)
            match statement:
                case Let():
                    self._let(statement, env)
                case SetRegister(register=register, value=value):
                    text = self.values.code(value, env).text
                    plus = "+" if BOOL.holds(value.range) else ""
                    self.writer.line(f"{register.name} = {plus}{text}")
                case Write():
                    self._write(statement, env)
                case If():
                    self._if(statement, env)
                case Requirement():
                    self._require(statement, env)
                case Lanes():
                    self._lanes(statement, env)
                case For():
                    self._for(statement, env)

    def _let(self, let: Let, env: Env) -> None:
        known = linear(let.value, env.linears, env.varies)
        code = self.values.code(let.value, env)
        text = code.text
        if not code.array:
            self.writer.line(f"{let.name} = {'+' if BOOL.holds(code.range) else ''}{text}")
            env.known.pop(let.name, None)
            env.linears.pop(let.name, None)
            return
        if not code.owned and any(read.memory.name in self.written for read in reads(let.value)):
            text += ".copy()"
        self.writer.line(f"{let.name} = {text}")
        made = replace(code, text=let.name, range=let.value.range)
        env.known[let.name] = self.shared.place(made, env.layout)
        env.linears.pop(let.name, None)
        if known and not next(reads(let.value), None):
            base = self.values.code(known.base, env)
            kept = Name(self.writer.keep(base).text, base.range) if base.text.startswith("(") else known.base
            env.linears[let.name] = replace(known, base=kept)

    def _write(self, write: Write, env: Env) -> None:
        value = self.values.code(write.value, env)
        self._store(write, value, env)

    def _store(self, one: Write, value: Code, env: Env) -> None:
        if "[" in value.text and not value.array:
            value = self.writer.keep(value)
        at = self.values.access(one.memory, one.index, env)
        name = one.memory.name
        if at.kind == "element":
            # Where all lanes write it, the last one stays.
            text = f"{value.text}.ravel()[-1]" if value.array else value.text
            self.writer.line(f"{name}[{', '.join(at.index)}] = {text}")
            return
        if at.kind == "rows":
            if at.test and value.axes <= at.axes:  # the last one of equal indices stays
                self.writer.line(f"{at.text} = {value.text}")
                return
            parts = [self.values.code(each, env).text for each in one.index]
            at = replace(at, kind="gather", index=tuple(parts), test="")
        apart = self._apart(one, env) if value.axes <= at.axes and at.kind in ("part", "either") else None
        tests = [test for test in (at.test, apart) if test]
        part = at.text if at.text.endswith("]") else f"{at.text}[...]"
        if apart is not None and not tests:
            self.writer.line(f"{part} = {value.text}")
            return
        index = at.index if at.kind != "part" else [self.values.code(each, env).text for each in one.index]
        scatter = f"_scatter({name}, {name!r}, {one.line}, ({', '.join(index)},), {value.text})"
        if apart is None:
            self.writer.line(scatter)
            return
        with self.writer.inside(f"if {' and '.join(tests)}:"):
            self.writer.line(f"{part} = {value.text}")
        with self.writer.inside("else:"):
            self.writer.line(scatter)

    def _apart(self, one: Write, env: Env) -> str | None:
        """When no two points of the axes write one element: empty for always, None for never or unknown."""
        sums = [linear(part, env.linears, env.varies) for part in one.index]
        flat: dict[str, Expr] = {}
        weight = 1
        for at, size in zip(reversed(sums), reversed(one.memory.shape), strict=True):
            assert at is not None
            for axis, step in at.steps.items():
                flat[axis] = plus(flat.get(axis, Const(0)), times(step, Const(weight)))
            weight *= size
        steps = [(step, env.axes[axis].count) for axis, step in flat.items()]
        reach, known = 0, True
        for size, most in sorted(
            (abs(step.value), count.range.high) for step, count in steps if isinstance(step, Const)
        ):
            known = known and size > reach
            reach += size * (most - 1)
        if known and all(isinstance(step, Const) for step, _count in steps):
            return ""
        if all(isinstance(part, Const) for pair in steps for part in pair):
            return None
        parts = [f"({self.values.code(a, env).text}, {self.values.code(b, env).text})" for a, b in steps]
        return f"_distinct({', '.join(parts)})"

    def _if(self, one: If, env: Env) -> None:
        with self.writer.inside(f"if {self.values.code(one.condition, env).text}:"):
            self.block(one.then, env)
        if one.other:
            with self.writer.inside("else:"):
                self.block(one.other, env)

    def _require(self, requirement: Requirement, env: Env) -> None:
        """The device stops, and says why with the values of now."""
        shown = sorted(
            {field for _, field, _, _ in Formatter().parse(requirement.message) if field} - {"opcode"}
        )
        values = ", ".join(f"{name!r}: {name}" for name in shown)
        with self.writer.inside(f"if not {self.values.code(requirement.condition, env).text}:"):
            self.writer.line(f"_refused({self.shared.requirement(requirement)}, {{{values}}})")

    # --- lanes and loops ----------------------------------------------------------------------------------

    def _lanes(self, lanes: Lanes, env: Env) -> None:
        """Lanes that stand in no loop that runs all at once."""
        axes = [Axis(f"{at}.", Const(0), Const(count)) for at, count in enumerate(lanes.iterators.values())]
        self._within(lanes, axes, env, len(axes), None)

    def _within(self, one: For | Lanes, axes: Sequence[Axis], env: Env, top: int, made: Plan | None) -> None:
        """The body of loops and lanes, with their iterators as axes; `top` is the outermost one's place."""
        inner = env.copied()
        own = [*one.iterators] if isinstance(one, Lanes) else [one.iterator.name]
        for name, axis in zip(own, axes, strict=True):
            inner.known[name] = inner.linears[name] = inner.axes[axis.name] = axis
            inner.layout[axis.name] = top - depth_of(axis.name)
        for statement in one.body:
            self.values.statement(statement.line)
            match statement:
                case Let():
                    self._let(statement, inner)
                case Write():
                    if made and (found := made.accumulated.get(id(statement))):
                        self._accumulate(statement, found, inner)
                    else:
                        self._write(statement, inner)
                case For():
                    assert made is not None
                    self._loop(statement, made.axes[id(statement)][0], inner, top, made)
                case Lanes():
                    assert made is not None
                    self._within(statement, made.axes[id(statement)], inner, top, made)

    def _for(self, one: For, env: Env) -> None:
        made = plan(one, env.varies, env.linears) if not env.axes else None
        if made is None:
            self._turns(one, env)
            return
        if not made.steps and not made.different and not made.apart:
            self._at_once(one, made, env)
        else:
            tests = []
            if made.different or made.apart:
                tests.append(self._looked_at(made, env))
            for steps in made.steps:
                parts = [
                    f"({self.values.code(a, env).text}, {self.values.code(b, env).text})" for a, b in steps
                ]
                tests.append(f"_distinct({', '.join(parts)})")
            with self.writer.inside(f"if {' and '.join(tests)}:"):
                self._at_once(one, made, env)
            with self.writer.inside("else:"):
                self._turns(one, env)

    def _looked_at(self, made: Plan, env: Env) -> str:
        """Computes indices and compares them; the name of whether the nest may run at once."""
        values, writer = self.values, self.writer
        used = {name for expr in (*made.different, *(one for pair in made.apart for one in pair))
                for name in names(expr)}  # fmt: skip
        axes = [axis for name, axis in made.all_axes.items() if name in used]
        inner = env.copied()
        for place, axis in enumerate(sorted(axes, key=lambda one: -depth_of(one.name))):
            inner.known[axis.name] = inner.linears[axis.name] = inner.axes[axis.name] = axis
            inner.layout[axis.name] = place + 1
        counts = [values.code(axis.count, env).text for axis in axes]
        found = writer.new()
        writer.line(f"{found} = _few({', '.join(counts)})")
        with writer.inside(f"if {found}:"):
            kept = {}
            for expr in (*made.different, *(one for pair in made.apart for one in pair)):
                if expr not in kept:
                    kept[expr] = writer.keep(values.code(expr, inner))
            points = "*".join(f"({count})" for count in counts)
            tests = [f"_unique({kept[expr].text}, {points})" for expr in made.different]
            tests += [f"_apart({kept[a].text}, {kept[b].text})" for a, b in made.apart]
            writer.line(f"{found} = {' and '.join(tests)}")
        values.checked = {}
        return found

    def _turns(self, one: For, env: Env) -> None:
        """One after the other."""
        low, high = self.values.code(one.low, env).text, self.values.code(one.high, env).text
        ends = high if low == "0" else f"{low}, {high}"
        with self.writer.inside(f"for {one.iterator.name} in _range({ends}):"):
            inner = env.copied()
            inner.known.pop(one.iterator.name, None)
            inner.linears.pop(one.iterator.name, None)
            self.block(one.body, inner)

    def _at_once(self, one: For, made: Plan, env: Env) -> None:
        self._loop(one, made.axes[id(one)][0], env, made.depth, made)

    def _loop(self, one: For, axis: Axis, env: Env, top: int, made: Plan) -> None:
        low, count = self._kept(axis.low, env), self._kept(axis.count, env)
        whole = replace(axis, low=low, count=count)
        if count.range.low < 1:
            with self.writer.inside(f"if {self.values.code(count, env).text} > 0:"):
                self._chunked(one, whole, env, top, made)
        else:
            self._chunked(one, whole, env, top, made)

    def _kept(self, expr: Expr, env: Env) -> Expr:
        if isinstance(expr, Const | Name):
            return expr
        name = self.writer.new()
        self.writer.line(f"{name} = {self.values.code(expr, env).text}")
        return Name(name, expr.range)

    def _chunked(self, one: For, axis: Axis, env: Env, top: int, made: Plan) -> None:
        counts = [] if depth_of(axis.name) else list(_counts(one.body, made))
        largest = axis.count.range.high
        for each in counts:
            largest *= max(1, each.range.high)
        if depth_of(axis.name) or largest <= LARGE:
            self._within(one, [axis], env, top, made)
            return
        others = [self.values.code(each, env).text for each in counts if not names(each) & env.varies]
        step, first, many = self.writer.new(), self.writer.new(), self.writer.new()
        low, count = self.values.code(axis.low, env).text, self.values.code(axis.count, env).text
        self.writer.line(f"{step} = _chunk({', '.join(others)})")
        with self.writer.inside(f"for {first} in _range(0, {count}, {step}):"):
            self.writer.line(f"{many} = _min({step}, {count} - {first})")
            start = first if low == "0" else self.writer.new()
            if start != first:
                self.writer.line(f"{start} = {low} + {first}")
            kind = Range(axis.low.range.low, axis.low.range.high + axis.count.range.high - 1)
            part = Axis(axis.name, Name(start, kind), Name(many, Range(1, axis.count.range.high)), axis.loop)
            self._within(one, [part], env, top, made)

    def _accumulate(self, one: Write, accumulated: Accumulated, env: Env) -> None:
        """The sum over all turns at once, then one addition to the element."""
        values = self.values
        axes = [env.axes[name] for name in accumulated.axes]
        before = values.read(one.memory, one.index, env)
        if accumulated.operation == "add":
            total = accumulated.term.range
            for axis in axes:
                most = axis.count.range.high
                total = Range(total.low * max(1, most), total.high * max(1, most))
            total = Range(min(0, total.low), max(0, total.high))
            wide = Range(-(1 << 63), (1 << 63) - 1)
            if not wide.holds(Range(total.low + before.range.low, total.high + before.range.high)):
                total = wide  # modulo 1 << 64, of which the low bits are taken
            wraps = total == wide and accumulated.kind == one.memory.type == signed(32)
            made = values.summed(accumulated.term, axes, total, env, low=wraps)
            both = Range(
                max(wide.low, total.low + before.range.low), min(wide.high, total.high + before.range.high)
            )
            if wraps and before.dtype == made.dtype == "int32":
                text = f"({before.text} + {made.text})"
                self._store(one, Code(text, accumulated.kind, before.axes | made.axes, "int32"), env)
                return
            if total == wide:
                made = values.cast(made, "int64") if made.array else made
            value = values.wrapped(values.apply("add", [before, made], both), accumulated.kind)
        elif isinstance(accumulated.operation, Function):
            value = values.joined(accumulated.operation, before, accumulated.term, axes, env)
        else:
            made = values.reduced(accumulated.operation, accumulated.term, axes, env)
            value = values.apply(accumulated.operation, [before, made], accumulated.kind)
        self._store(one, value, env)


def _counts(body: Sequence[Statement], made: Plan) -> Iterator[Expr]:
    """Sizes of the largest temporaries' inner axes, one a depth."""
    by_axis: dict[str, Expr] = {}
    stack = [*body]
    while stack:
        one = stack.pop()
        if isinstance(one, For | Lanes):
            for axis in made.axes[id(one)]:
                by_axis.setdefault(axis.name, axis.count)
            stack += one.body
    yield from by_axis.values()


def _inner(block: Sequence[Statement]) -> Iterator[Statement]:
    for one in block:
        yield one
        if isinstance(one, For | Lanes):
            yield from _inner(one.body)
        elif isinstance(one, If):
            yield from _inner((*one.then, *one.other))


def _writes(block: Sequence[Statement]) -> Iterator[Write]:
    yield from (one for one in _inner(block) if isinstance(one, Write))


def _sets(block: Sequence[Statement]) -> Iterator[SetRegister]:
    yield from (one for one in _inner(block) if isinstance(one, SetRegister))


def setting(isa: InstructionSet) -> dict[str, Any]:
    """What generated code finds around it."""
    return {
        "_np": np,
        "_ndarray": np.ndarray, "_matmul": np.matmul, "_where": np.where,
        "_minimum": np.minimum, "_maximum": np.maximum, "_element": parts.element,
        **{f"_{name}": np.dtype(name).type for name in ("int32", "int64", "float32", "float64")},
        **{f"_{name}": np.dtype(name).type for name in ("int8", "uint8", "int16", "uint16", "uint32")},
        "_object": object, "_int": int, "_bool": bool,
        "_range": range, "_min": min, "_max": max, "_abs": abs, "_len": len, "_set": dict.__setitem__,
        "_axis": parts.axis, "_outside": parts.outside, "_gather": parts.gather,
        "_scatter": parts.scatter, "_scalar_bits": parts.scalar_bits,
        "_scalar_fields": parts.scalar_fields, "_distinct": parts.distinct,
        "_external": parts.external, "_chunk": parts.chunk, "_few": parts.few,
        "_unique": parts.unique, "_joined": parts.joined, "_partial": partial, "_product": parts.product,
        "_chosen": parts.chosen,
        "_apart": parts.apart, "_rows": parts.rows,
        **{f"_{table.name}_values": table.values for table in isa.tables.values()},
        **{
            f"_{table.name}_array": np.array(
                table.values, natural(Range(min(table.values), max(table.values)))
            )
            for table in isa.tables.values()
        },
    }  # fmt: skip


def names_of(shared: Shared) -> dict[str, Any]:
    """The external functions."""
    known = {own: externals.function(name) for name, own in shared.externals.items()}
    whole = {f"{own}_all": external.accumulate for own, external in known.items()}
    return {own: external.patterns or external.python for own, external in known.items()} | whole
