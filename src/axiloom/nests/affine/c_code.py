"""The IR of a scheduled program as a function of C, for the interpreter: ``void run(void **arrays)``."""

from __future__ import annotations

import re
from collections.abc import Sequence

from xdsl.dialects import affine, arith
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from axiloom.base.errors import CompileError
from axiloom.isa.numerics.formats import Format, Kind, format_of
from axiloom.nests.affine import c_forms
from axiloom.nests.affine.c_exp import c_exp
from axiloom.nests.affine.c_numbers import HEADER, c_type, definition, function_name, wrapped
from axiloom.nests.affine.walk import Function, function

ENTRY = "run"


def c_code(module: ModuleOp) -> str:
    """Arrays are passed in the order of `walk.Function.memories`, row major."""
    return _Code(function(module)).text


class _Code:
    def __init__(self, source: Function) -> None:
        self.source = source
        self.functions: dict[str, str] = {}
        self.names: dict[SSAValue, str] = {}
        self.lines: list[str] = []
        for place, (value, memory) in enumerate(source.memories.items()):
            self.names[value] = f"m{place}"
            kind = c_type(format_of(memory.number))
            self._line(1, f"{kind} *restrict m{place} = arrays[{place}]; /* {memory.name} */")
        self._block(source.op.body.block, 1)
        exp = [c_exp()] if any("circuit_exp" in text for text in self.functions.values()) else []
        helpers = "\n".join([*exp, *c_forms.HELPERS.values(), *self.functions.values()])
        body = "\n".join(self.lines)
        self.text = f"{HEADER}{helpers}\n\nvoid {ENTRY}(void **arrays)\n{{\n{body}\n}}\n"

    def _line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def _name(self, value: SSAValue) -> str:
        return self.names.setdefault(value, f"v{len(self.names)}")

    def _block(self, block: Block, depth: int) -> None:
        for op in block.ops:
            self._operation(op, depth)

    def _operation(self, op: Operation, depth: int) -> None:
        if isinstance(op, affine.ForOp):
            lower = self._operands(op.lowerBoundOperands)
            upper = self._operands(op.upperBoundOperands)
            i = self._name(op.body.block.args[0])
            start = c_forms.extreme(c_forms.LARGEST, op.lowerBoundMap.data, lower)
            end = c_forms.extreme(c_forms.LEAST, op.upperBoundMap.data, upper)
            step = op.step.value.data
            self._line(depth, f"for (long {i} = {start}, {i}_end = {end}; {i} < {i}_end; {i} += {step}) {{")
            self._block(op.body.block, depth + 1)
            self._line(depth, "}")
        elif isinstance(op, affine.IfOp):
            self._line(depth, f"if ({c_forms.condition(op.condition.data, self._operands(op.args))}) {{")
            self._block(op.then_region.block, depth + 1)
            if op.else_region.blocks:
                self._line(depth, "} else {")
                self._block(op.else_region.block, depth + 1)
            self._line(depth, "}")
        elif isinstance(op, affine.StoreOp):
            self._line(depth, f"{self._element(op)} = {self._name(op.value)};")
        elif op.results and not isinstance(op, affine.ApplyOp) and op.results[0] in self.source.numbers:
            result = op.results[0]
            kind = c_type(format_of(self.source.numbers[result]))
            self._line(depth, f"const {kind} {self._name(result)} = {self._value(op)};")

    def _operands(self, values: Sequence[SSAValue]) -> list[str]:
        return [self._name(value) for value in values]

    def _element(self, op: affine.LoadOp | affine.StoreOp) -> str:
        names = self._operands(op.indices)
        shape = self.source.memories[op.memref].shape
        place = ""
        for form, extent in zip(op.map.data.results, shape, strict=True):
            index = c_forms.factor(form, names)
            place = f"({place}) * {extent} + {index}" if place else index
        return f"{self._name(op.memref)}[{place or 0}]"

    def _value(self, op: Operation) -> str:
        format = format_of(self.source.numbers[op.results[0]])
        if isinstance(op, affine.LoadOp):
            return self._element(op)
        if isinstance(op, arith.ConstantOp):
            return constant(op, format)
        if isinstance(op, arith.IndexCastOp):
            source = op.input.owner
            if not isinstance(source, affine.ApplyOp):
                raise CompileError(f"`{op}`: only the result of affine.apply becomes a number")
            return wrapped(
                c_forms.form(source.map.data.results[0], self._operands(source.mapOperands)), format
            )
        what = self.source.meaning(op)
        assert what is not None
        name = function_name(what)
        if name not in self.functions:
            try:
                self.functions[name] = definition(what)
            except ValueError as error:
                raise CompileError(f"@{self.source.name}: {error}") from None
        return f"{name}({', '.join(self._name(operand) for operand in op.operands)})"


def constant(op: arith.ConstantOp, format: Format) -> str:
    value = op.value
    if isinstance(value, FloatAttr):
        return float_literal(value.value.data, format)
    assert isinstance(value, IntegerAttr)
    number = (value.value.data - format.lowest) % (1 << format.bits) + format.lowest
    if format.kind is Kind.BOOL or -(1 << 31) < number < 1 << 31:
        return str(number)
    return (
        f"{number}u"
        if number > 0 and not format.signed
        else f"({number + 1}L - 1)"
        if number < 0
        else str(number)
    )


def float_literal(value: float, format: Format) -> str:
    suffix = "f" if format.bits == 32 else ""
    if value != value:
        return f'__builtin_nan{suffix}("")'
    if value in (float("inf"), float("-inf")):
        return f"{'-' * (value < 0)}__builtin_inf{suffix}()"
    text = re.sub(r"\.?0*p", "p", value.hex())
    return f"{text}{suffix}"
