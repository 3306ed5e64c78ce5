"""HLS C++ of a scheduled program: loops as people write them, with pragmas (AMD UG1399).

Without streams it is one function. If arrays pass through FIFOs, each nest is a function of its own and the
one that calls them is a dataflow region.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy.typing as npt
from xdsl.dialects import affine, arith
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from axiloom.base.errors import CompileError
from axiloom.base.wording.names import free_name
from axiloom.isa.numerics.formats import Format, Kind, format_of
from axiloom.nests.affine import c_forms
from axiloom.nests.affine.build import build
from axiloom.nests.affine.walk import Function, Memory, function
from axiloom.nests.hls import pragmas, regions, types
from axiloom.nests.hls.types import Text
from axiloom.nests.program import Program, Role
from axiloom.nests.schedule import Schedule
from axiloom.nests.schedule.plan import Plan

_WORDS = """
    abs alignas alignof and asm auto bitand bitor bool break case catch char class const continue
    default delete do double else enum exp explicit export extern fabs false float floor_div floor_mod
    for friend gamma goto hls if inline int j0 j1 jn largest least long main max min mutable namespace
    new not operator or private protected public register return short signed sizeof sqrt static struct
    switch template this throw true try typedef typename union unsigned using virtual void volatile
    while xor y0 y1 yn
"""
_TAKEN = frozenset(_WORDS.split())


class Names:
    """Names of C++ that clash neither with each other nor with its words."""

    def __init__(self, outer: frozenset[str] = _TAKEN) -> None:
        self._used = set(outer)

    def of(self, name: str) -> str:
        """A free name like this one."""
        plain = re.sub(r"\W", "_", name)
        plain = f"_{plain}" if plain[:1].isdigit() else plain
        free = free_name(plain, self._used, "_{}".format)
        self._used.add(free)
        return free

    def release(self, name: str) -> None:
        """Its scope has ended."""
        self._used.discard(name)

    def inner(self) -> Names:
        return Names(frozenset(self._used))


INDENT = "    "


def hls(
    source: Program | Schedule | ModuleOp,
    plan: Plan | None = None,
    contents: Mapping[str, npt.NDArray[Any]] | None = None,
) -> str:
    """The C++ of a program, a schedule or IR; arrays of `contents` are static in it, and no parameters.
    Raises CompileError for an operator that it has no text for."""
    module = source if isinstance(source, ModuleOp) else build(source, plan)
    return _File(function(module), contents or {}).text


class _File:
    def __init__(self, source: Function, contents: Mapping[str, npt.NDArray[Any]]) -> None:
        self.source, self.contents = source, contents
        self.names = Names()
        self.variables = {value: self.names.of(memory.name) for value, memory in source.memories.items()}
        self.numbers = sorted(
            {memory.number for memory in source.memories.values()} | set(source.numbers.values())
        )
        self.region = regions.region(source)
        top = self.names.of(source.name)
        self.calls = [self.names.of(part.name) for part in self.region.parts]
        functions = [self._nest(part, name) for part, name in zip(self.region.parts, self.calls, strict=True)]
        functions.append(self._top(top))
        body = "\n".join("\n".join(lines) + "\n" for lines in functions)
        helpers = [text for name, text in c_forms.HELPERS.items() if f"{name}(" in body]
        self.text = "\n".join([*self._head(), *helpers, *[""] * bool(helpers), body])

    def _head(self) -> list[str]:
        formats = [format_of(number) for number in self.numbers]
        lines = [f"// {self.source.name}: HLS C++ of a scheduled loop nest, made by Axiloom"]
        if self.region.why:
            lines.append(f"// nests run one after the other: {self.region.why}")
        lines.append("#include <stdint.h>")
        if any(format.kind is Kind.INTEGER and not types.is_native(format) for format in formats):
            lines.append("#include <ap_int.h>")
        if any(format.kind is Kind.FIXED for format in formats):
            lines.append("#include <ap_fixed.h>")
        if self.region.streams:
            lines.append("#include <hls_stream.h>")
        if any(format.kind is Kind.FLOAT for format in formats):
            lines.append("#include <math.h>")
        lines.append("")
        definitions = [line for format in formats for line in types.declarations(format)]
        return [*lines, *definitions, *([""] if definitions else [])]

    # --- functions ------------------------------------------------------------------------------------

    def _top(self, name: str) -> list[str]:
        memories = self.source.memories
        outside = {value: memory for value, memory in memories.items() if memory.role is not Role.LOCAL}
        inside = {value: memory for value, memory in memories.items() if memory.role is Role.LOCAL}
        tables = {
            value: outside.pop(value) for value in list(outside) if outside[value].name in self.contents
        }
        parameters = [_parameter(memory, self.variables[value]) for value, memory in outside.items()]
        lines = [f"void {name}({', '.join(parameters)})", "{"]
        for value, declared in outside.items():
            lines.append(pragmas.interface(declared, self.variables[value]))
            lines += pragmas.storage(declared, self.variables[value])
        lines.append("#pragma HLS interface mode=s_axilite port=return")
        if self.region.is_dataflow:
            lines.append("#pragma HLS dataflow")
        for value, table in tables.items():
            variable, format = self.variables[value], format_of(table.number)
            entries = ", ".join(
                types.literal(x, format).text for x in self.contents[table.name].ravel().tolist()
            )
            const = "const " if table.role is Role.IN else ""
            lines.append(f"{INDENT}static {const}{_declared(table, variable)} = {{{entries}}};")
            lines += pragmas.storage(table, variable)
        for value, declared in inside.items():
            variable = self.variables[value]
            if value in self.region.streams:
                kind = types.type_name(format_of(declared.number))
                lines.append(f'{INDENT}hls::stream<{kind}> {variable}("{variable}");')
                lines.append(pragmas.stream(declared, variable, regions.lanes(self.source, value)))
            else:
                lines.append(
                    f"{INDENT}{'static ' * self.region.is_static(value)}{_declared(declared, variable)};"
                )
                lines += pragmas.storage(declared, variable)
        if self.region.is_dataflow:
            for part, call in zip(self.region.parts, self.calls, strict=True):
                arguments = ", ".join(self.variables[memory] for memory in part.memories)
                lines.append(f"{INDENT}{call}({arguments});")
        else:
            lines += _Body(self, self.source.op.body.block.ops).lines
        return [*lines, "}"]

    def _nest(self, part: regions.Part, name: str) -> list[str]:
        parameters = []
        for value in part.memories:
            memory, variable = self.source.memories[value], self.variables[value]
            if value in self.region.streams:
                kind = types.type_name(format_of(memory.number))
                parameters.append(f"hls::stream<{kind}> &{variable}")
            else:
                parameters.append(_parameter(memory, variable, written=value in part.written))
        head = f"static void {name}({', '.join(parameters)})"
        return [head, "{", *_Body(self, part.ops).lines, "}"]


def _declared(memory: Memory, variable: str) -> str:
    shape = "".join(f"[{extent}]" for extent in memory.shape)
    return f"{types.type_name(format_of(memory.number))} {variable}{shape}"


def _parameter(memory: Memory, variable: str, written: bool | None = None) -> str:
    """Scalars that are read come by value, others by reference."""
    is_written = memory.role.is_result if written is None else written
    const = "" if is_written else "const "
    if memory.shape:
        return const + _declared(memory, variable)
    return f"{const}{types.type_name(format_of(memory.number))} {'&' * is_written}{variable}"


class _Body:
    """Operations as lines."""

    def __init__(self, file: _File, ops: Iterable[Operation]) -> None:
        self.file, self.source, self.names = file, file.source, file.names.inner()
        self.values: dict[SSAValue, Text] = {}
        self.indices: dict[SSAValue, str] = {}
        self.popped: dict[tuple[object, ...], Text] = {}
        self.lines: list[str] = []
        for op in ops:
            self._operation(op, 1)

    def _line(self, depth: int, text: str) -> None:
        self.lines.append(INDENT * depth + text)

    def _block(self, block: Block, depth: int) -> None:
        self.popped = {}
        for op in block.ops:
            self._operation(op, depth)
        self.popped = {}

    def _operation(self, op: Operation, depth: int) -> None:
        if isinstance(op, affine.ForOp):
            self._for(op, depth)
        elif isinstance(op, affine.IfOp):
            self._line(depth, f"if ({c_forms.condition(op.condition.data, self._at(op.args))}) {{")
            self._block(op.then_region.block, depth + 1)
            if op.else_region.blocks:
                self._line(depth, "} else {")
                self._block(op.else_region.block, depth + 1)
            self._line(depth, "}")
        elif isinstance(op, affine.StoreOp):
            value = self.values[op.value].text
            if op.memref in self.file.region.streams:
                self._line(depth, f"{self.file.variables[op.memref]}.write({value});")
            else:
                self._line(depth, f"{self._element(op)} = {value};")
            self.popped = {}
        elif op.results and op.results[0] in self.source.numbers:
            self.values[op.results[0]] = self._value(op, depth)

    def _for(self, op: affine.ForOp, depth: int) -> None:
        index = op.body.block.args[0]
        name = self.names.of(index.name_hint or "i")
        lower = c_forms.extreme(c_forms.LARGEST, op.lowerBoundMap.data, self._at(op.lowerBoundOperands))
        upper = c_forms.extreme(c_forms.LEAST, op.upperBoundMap.data, self._at(op.upperBoundOperands))
        step = op.step.value.data
        advance = f"{name}++" if step == 1 else f"{name} += {step}"
        self.indices[index] = name
        self._line(depth, f"for (int {name} = {lower}; {name} < {upper}; {advance}) {{")
        self.lines += pragmas.loop(op, self.source, self.file.variables)
        self._block(op.body.block, depth + 1)
        self._line(depth, "}")
        self.names.release(name)

    def _at(self, values: Sequence[SSAValue]) -> list[str]:
        return [self.indices[value] for value in values]

    def _element(self, op: affine.LoadOp | affine.StoreOp) -> str:
        names = self._at(op.indices)
        places = "".join(f"[{c_forms.form(result, names)}]" for result in op.map.data.results)
        return f"{self.file.variables[op.memref]}{places}"

    def _value(self, op: Operation, depth: int) -> Text:
        format = format_of(self.source.numbers[op.results[0]])
        if isinstance(op, affine.LoadOp):
            return (
                self._pop(op, format, depth)
                if op.memref in self.file.region.streams
                else Text(self._element(op))
            )
        try:
            if isinstance(op, arith.ConstantOp):
                return _constant(op, format)
            if isinstance(op, arith.IndexCastOp):
                source = op.input.owner
                assert isinstance(source, affine.ApplyOp)
                position = c_forms.form(source.map.data.results[0], self._at(source.mapOperands))
                return Text(f"{types.type_name(format)}({position})")
            what = self.source.meaning(op)
            assert what is not None
            return types.operator(what, [self.values[operand] for operand in op.operands])
        except ValueError as error:
            raise CompileError(f"@{self.source.name}: {error}") from None

    def _pop(self, op: affine.LoadOp, format: Format, depth: int) -> Text:
        """Each element is read once: a statement that names it twice has it in a variable."""
        key = (op.memref, op.map, *op.indices)
        if key not in self.popped:
            variable = self.file.variables[op.memref]
            name = self.names.of(f"{variable}_next")
            self._line(depth, f"const {types.type_name(format)} {name} = {variable}.read();")
            self.popped[key] = Text(name)
        return self.popped[key]


def _constant(op: arith.ConstantOp, format: Format) -> Text:
    value = op.value
    if isinstance(value, FloatAttr):
        return types.literal(value.value.data, format)
    assert isinstance(value, IntegerAttr)
    return types.literal((value.value.data - format.lowest) % (1 << format.bits) + format.lowest, format)
