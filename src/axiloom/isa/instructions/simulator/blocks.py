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
from axiloom.isa.instructions.simulator.nests import Accumulated, Nest, depth_of, plan, reads
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
from axiloom.isa.instructions.walk import writes, written

_NAME = re.compile(r"(?<![\w.])[^\W\d]\w*")


class Blocks:
    """Writes one instruction."""

    def __init__(self, isa: InstructionSet, instruction: Instruction, shared: Shared) -> None:
        self.isa, self.instruction = isa, instruction
        self.writer = Writer()
        self.values = Expressions(isa, self.writer, shared)
        self.shared = shared
        self.written = {write.memory.name for write in writes(instruction.body)}
        self.registers = {*written(instruction.body)}

    def source(self, result: Expr | None = None) -> str:
        """The function: it takes the state and the inputs, and returns what `result` is behind the body."""
        instruction, writer = self.instruction, self.writer
        env = Env()
        for let in instruction.fields:
            self.values.statement(let.line)
            self._let(let, env)
        legal = all_of([part.condition for part in instruction.legal])
        if legal != Const(1):
            self.values.statement(instruction.legal[0].line)
            known = [*self.isa.inputs, *(let.name for let in instruction.fields)]
            fields = ", ".join(f"{name!r}: {name}" for name in known)
            with writer.inside(f"if not {self.values.code(legal, env).text}:"):
                writer.line(f"_illegal({instruction.name!r}, {{{fields}}})")
        self.block(instruction.body, env)
        for name in sorted(self.registers):
            writer.line(f"_set(_state, {name!r}, {name})")
        if result is not None:
            self.values.statement(instruction.line)
            writer.line(f"return {self.values.code(result, env).text}")
        text = "\n".join(writer.lines)
        used = set(_NAME.findall(text))
        state = (*self.isa.registers, *self.isa.memories)
        loaded = [f"    {name} = _state[{name!r}]" for name in state if name in used]
        head = f"def {instruction.name}({', '.join(['_state', *self.isa.inputs])}):"
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
        local = replace(code, text=let.name, range=let.value.range)
        env.known[let.name] = self.shared.place(local, env.layout)
        env.linears.pop(let.name, None)
        if known and not next(reads(let.value), None):
            base = self.values.code(known.base, env)
            kept = Name(self.writer.keep(base).text, base.range) if base.text.startswith("(") else known.base
            env.linears[let.name] = replace(known, base=kept)

    def _write(self, write: Write, env: Env) -> None:
        value = self.values.code(write.value, env)
        self._store(write, value, env)

    def _store(self, write: Write, value: Code, env: Env) -> None:
        if "[" in value.text and not value.array:
            value = self.writer.keep(value)
        at = self.values.access(write.memory, write.index, env)
        name = write.memory.name
        if at.kind == "element":
            # Where all lanes write it, the last one stays.
            text = f"{value.text}.ravel()[-1]" if value.array else value.text
            self.writer.line(f"{name}[{', '.join(at.index)}] = {text}")
            return
        if at.kind == "rows":
            if at.test and value.axes <= at.axes:  # the last one of equal indices stays
                self.writer.line(f"{at.text} = {value.text}")
                return
            parts = [self.values.code(part, env).text for part in write.index]
            at = replace(at, kind="gather", index=tuple(parts), test="")
        apart = self._apart(write, env) if value.axes <= at.axes and at.kind in ("part", "either") else None
        tests = [test for test in (at.test, apart) if test]
        part = at.text if at.text.endswith("]") else f"{at.text}[...]"
        if apart is not None and not tests:
            self.writer.line(f"{part} = {value.text}")
            return
        index = at.index if at.kind != "part" else [self.values.code(part, env).text for part in write.index]
        scatter = f"_scatter({name}, {name!r}, {write.line}, ({', '.join(index)},), {value.text})"
        if apart is None:
            self.writer.line(scatter)
            return
        with self.writer.inside(f"if {' and '.join(tests)}:"):
            self.writer.line(f"{part} = {value.text}")
        with self.writer.inside("else:"):
            self.writer.line(scatter)

    def _apart(self, write: Write, env: Env) -> str | None:
        """When no two points of the axes write one element: empty for always, None for never or unknown."""
        sums = [linear(part, env.linears, env.varies) for part in write.index]
        flat: dict[str, Expr] = {}
        weight = 1
        for at, size in zip(reversed(sums), reversed(write.memory.shape), strict=True):
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

    def _if(self, branch: If, env: Env) -> None:
        with self.writer.inside(f"if {self.values.code(branch.condition, env).text}:"):
            self.block(branch.then, env)
        if branch.other:
            with self.writer.inside("else:"):
                self.block(branch.other, env)

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

    def _within(self, loop: For | Lanes, axes: Sequence[Axis], env: Env, top: int, nest: Nest | None) -> None:
        """The body of loops and lanes, with their iterators as axes; `top` is the outermost one's place."""
        inner = env.copied()
        own = [*loop.iterators] if isinstance(loop, Lanes) else [loop.iterator.name]
        for name, axis in zip(own, axes, strict=True):
            inner.known[name] = inner.linears[name] = inner.axes[axis.name] = axis
            inner.layout[axis.name] = top - depth_of(axis.name)
        for statement in loop.body:
            self.values.statement(statement.line)
            match statement:
                case Let():
                    self._let(statement, inner)
                case Write():
                    if nest and (accumulated := nest.accumulated.get(id(statement))):
                        self._accumulate(statement, accumulated, inner)
                    else:
                        self._write(statement, inner)
                case For():
                    assert nest is not None
                    self._loop(statement, nest.axes[id(statement)][0], inner, top, nest)
                case Lanes():
                    assert nest is not None
                    self._within(statement, nest.axes[id(statement)], inner, top, nest)

    def _for(self, loop: For, env: Env) -> None:
        nest = plan(loop, env.varies, env.linears) if not env.axes else None
        if nest is None:
            self._turns(loop, env)
            return
        if not nest.steps and not nest.different and not nest.apart:
            self._at_once(loop, nest, env)
        else:
            tests = []
            if nest.different or nest.apart:
                tests.append(self._looked_at(nest, env))
            for steps in nest.steps:
                parts = [
                    f"({self.values.code(a, env).text}, {self.values.code(b, env).text})" for a, b in steps
                ]
                tests.append(f"_distinct({', '.join(parts)})")
            with self.writer.inside(f"if {' and '.join(tests)}:"):
                self._at_once(loop, nest, env)
            with self.writer.inside("else:"):
                self._turns(loop, env)

    def _looked_at(self, nest: Nest, env: Env) -> str:
        """Computes indices and compares them; the name of whether the nest may run at once."""
        values, writer = self.values, self.writer
        used = {name for expr in (*nest.different, *(side for pair in nest.apart for side in pair))
                for name in names(expr)}  # fmt: skip
        axes = [axis for name, axis in nest.all_axes.items() if name in used]
        inner = env.copied()
        for place, axis in enumerate(sorted(axes, key=lambda axis: -depth_of(axis.name))):
            inner.known[axis.name] = inner.linears[axis.name] = inner.axes[axis.name] = axis
            inner.layout[axis.name] = place + 1
        counts = [values.code(axis.count, env).text for axis in axes]
        verdict = writer.new()
        writer.line(f"{verdict} = _few({', '.join(counts)})")
        with writer.inside(f"if {verdict}:"):
            kept = {}
            for expr in (*nest.different, *(side for pair in nest.apart for side in pair)):
                if expr not in kept:
                    kept[expr] = writer.keep(values.code(expr, inner))
            points = "*".join(f"({count})" for count in counts)
            tests = [f"_unique({kept[expr].text}, {points})" for expr in nest.different]
            tests += [f"_apart({kept[a].text}, {kept[b].text})" for a, b in nest.apart]
            writer.line(f"{verdict} = {' and '.join(tests)}")
        values.checked = {}
        return verdict

    def _turns(self, loop: For, env: Env) -> None:
        """One after the other."""
        low, high = self.values.code(loop.low, env).text, self.values.code(loop.high, env).text
        ends = high if low == "0" else f"{low}, {high}"
        with self.writer.inside(f"for {loop.iterator.name} in _range({ends}):"):
            inner = env.copied()
            inner.known.pop(loop.iterator.name, None)
            inner.linears.pop(loop.iterator.name, None)
            self.block(loop.body, inner)

    def _at_once(self, loop: For, nest: Nest, env: Env) -> None:
        self._loop(loop, nest.axes[id(loop)][0], env, nest.depth, nest)

    def _loop(self, loop: For, axis: Axis, env: Env, top: int, nest: Nest) -> None:
        low, count = self._kept(axis.low, env), self._kept(axis.count, env)
        whole = replace(axis, low=low, count=count)
        if count.range.low < 1:
            with self.writer.inside(f"if {self.values.code(count, env).text} > 0:"):
                self._chunked(loop, whole, env, top, nest)
        else:
            self._chunked(loop, whole, env, top, nest)

    def _kept(self, expr: Expr, env: Env) -> Expr:
        if isinstance(expr, Const | Name):
            return expr
        name = self.writer.new()
        self.writer.line(f"{name} = {self.values.code(expr, env).text}")
        return Name(name, expr.range)

    def _chunked(self, loop: For, axis: Axis, env: Env, top: int, nest: Nest) -> None:
        counts = [] if depth_of(axis.name) else list(_counts(loop.body, nest))
        largest = axis.count.range.high
        for turns in counts:
            largest *= max(1, turns.range.high)
        if depth_of(axis.name) or largest <= LARGE:
            self._within(loop, [axis], env, top, nest)
            return
        others = [self.values.code(count, env).text for count in counts if not names(count) & env.varies]
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
            self._within(loop, [part], env, top, nest)

    def _accumulate(self, write: Write, accumulated: Accumulated, env: Env) -> None:
        """The sum over all turns at once, then one addition to the element."""
        values = self.values
        axes = [env.axes[name] for name in accumulated.axes]
        before = values.read(write.memory, write.index, env)
        if accumulated.operation == "add":
            total = accumulated.term.range
            for axis in axes:
                most = axis.count.range.high
                total = Range(total.low * max(1, most), total.high * max(1, most))
            total = Range(min(0, total.low), max(0, total.high))
            wide = Range(-(1 << 63), (1 << 63) - 1)
            if not wide.holds(Range(total.low + before.range.low, total.high + before.range.high)):
                total = wide  # modulo 1 << 64, of which the low bits are taken
            wraps = total == wide and accumulated.kind == write.memory.type == signed(32)
            summed = values.summed(accumulated.term, axes, total, env, low=wraps)
            both = Range(
                max(wide.low, total.low + before.range.low), min(wide.high, total.high + before.range.high)
            )
            if wraps and before.dtype == summed.dtype == "int32":
                text = f"({before.text} + {summed.text})"
                self._store(write, Code(text, accumulated.kind, before.axes | summed.axes, "int32"), env)
                return
            if total == wide:
                summed = values.cast(summed, "int64") if summed.array else summed
            value = values.wrapped(values.apply("add", [before, summed], both), accumulated.kind)
        elif isinstance(accumulated.operation, Function):
            value = values.joined(accumulated.operation, before, accumulated.term, axes, env)
        else:
            summed = values.reduced(accumulated.operation, accumulated.term, axes, env)
            value = values.apply(accumulated.operation, [before, summed], accumulated.kind)
        self._store(write, value, env)


def _counts(body: Sequence[Statement], nest: Nest) -> Iterator[Expr]:
    """Sizes of the largest temporaries' inner axes, one a depth."""
    by_axis: dict[str, Expr] = {}
    stack = [*body]
    while stack:
        statement = stack.pop()
        if isinstance(statement, For | Lanes):
            for axis in nest.axes[id(statement)]:
                by_axis.setdefault(axis.name, axis.count)
            stack += statement.body
    yield from by_axis.values()


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
