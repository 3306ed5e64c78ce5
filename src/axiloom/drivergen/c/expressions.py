"""SSA values as C expressions, folded into the statements that use them.

Sums and products of elements are computed unsigned, so that they wrap as in the hardware instead of being
undefined; floats as they are written, each operation rounded once (the toolchain contracts nothing).
"""

from __future__ import annotations

import math as pymath
import re
from collections.abc import Callable, Sequence
from operator import add, mul, sub
from typing import NoReturn

from xdsl.dialects import arith, func, math, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    Float32Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    MemRefType,
    StringAttr,
    i1,
    i32,
)
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.traits import SymbolTable

from axiloom.drivergen.c.names import Names, c_type, identifier
from axiloom.drivergen.dialects import accel, queue, table
from axiloom.drivergen.dialects.mlir import fail, index

MATH_HEADER = "axiloom_math.h"
"""Where the functions of _MATH are that are not the compiler's own."""

_MATH: dict[type[Operation], str] = {
    math.ExpOp: "axl_exp",
    math.ExpM1Op: "axl_expm1",
    math.LogOp: "axl_log",
    math.Log1pOp: "axl_log1p",
    math.FPowIOp: "axl_powi",
    math.SinOp: "axl_sin",
    math.CosOp: "axl_cos",
    math.TanhOp: "axl_tanh",
    math.ErfOp: "axl_erf",
    math.RsqrtOp: "axl_rsqrt",
    math.RoundEvenOp: "axl_roundeven",
    math.SqrtOp: "__builtin_sqrt",
    math.AbsFOp: "__builtin_fabs",
    math.FloorOp: "axl_floor",
    math.CeilOp: "axl_ceil",
}
"""Functions of f32 (with an f behind) or, where the compiler has it, f64."""

_WRAPPING: dict[type[Operation], str] = {arith.AddiOp: "+", arith.SubiOp: "-", arith.MuliOp: "*"}
_FLOATING: dict[type[Operation], str] = {
    arith.AddfOp: "+",
    arith.SubfOp: "-",
    arith.MulfOp: "*",
    arith.DivfOp: "/",
}
_FOLDED: dict[type[Operation], Callable[[int, int], int]] = {
    arith.AddiOp: add,
    arith.SubiOp: sub,
    arith.MuliOp: mul,
}
_BITWISE: dict[type[Operation], str] = {
    arith.AndIOp: "&",
    arith.OrIOp: "|",
    arith.XOrIOp: "^",
    arith.ShLIOp: "<<",
}
_COMPARED = ("==", "!=", "<", "<=", ">", ">=", "<", "<=", ">", ">=")
"""By predicate of arith.cmpi: equal, not equal, four signed, four unsigned."""
_FIRST_UNSIGNED = 6

_ORDERED = (
    "0",
    "{a} == {b}",
    "{a} > {b}",
    "{a} >= {b}",
    "{a} < {b}",
    "{a} <= {b}",
    "({a} < {b} || {a} > {b})",
    "({a} == {a} && {b} == {b})",
    "!({a} < {b} || {a} > {b})",
    "!({a} <= {b})",
    "!({a} < {b})",
    "!({a} >= {b})",
    "!({a} > {b})",
    "{a} != {b}",
    "({a} != {a} || {b} != {b})",
    "1",
)
"""By predicate of arith.cmpf; unordered ones are true where an operand is NaN."""

_CHOICE: dict[type[Operation], str] = {
    arith.MinUIOp: "<",
    arith.MinSIOp: "<",
    arith.MaxUIOp: ">",
    arith.MaxSIOp: ">",
}
_FLOAT_CHOICE: dict[type[Operation], str] = {
    arith.MaximumfOp: ">",
    arith.MaxnumfOp: ">",
    arith.MinimumfOp: "<",
    arith.MinnumfOp: "<",
}


def known(value: SSAValue) -> int | None:
    """The value of an index that is computed from constants alone."""
    fold = _FOLDED.get(type(value.owner)) if isinstance(value.owner, Operation) else None
    if fold is None or not isinstance(value.type, IndexType):
        return accel.constant(value)
    left, right = (known(operand) for operand in value.owner.operands)  # type: ignore[union-attr]
    if left is None or right is None or not 0 <= fold(left, right) < 1 << 32:
        return None
    return fold(left, right)


def global_of(op: memref.GetGlobalOp) -> memref.GlobalOp:
    """The array that it has."""
    array = SymbolTable.lookup_symbol(op, op.name_)
    assert isinstance(array, memref.GlobalOp)
    return array


class Expressions:
    """What the values of a function are in C; `names` are those that have a variable."""

    function: func.FuncOp
    names: Names

    def _scalar(self, value: SSAValue) -> str:
        text = c_type(value.type)
        if text is None:
            self._no_c(value, f"type {value.type}")
        return text

    def _no_c(self, value: SSAValue, what: str) -> NoReturn:
        owner = value.owner if isinstance(value.owner, Operation) else self.function
        fail(owner, f"there is no C for {what}")

    # --- expressions ----------------------------------------------------------------------------------

    def expression(self, value: SSAValue) -> str:
        if value in self.names:
            return self.names[value]
        op = value.owner
        rule = _EXPRESSIONS.get(type(op)) if isinstance(op, Operation) else None
        if rule is None:
            self._no_c(value, f"this use of {value.name_hint or 'a value'}")
        return rule(self, op)

    def word(self, value: SSAValue) -> str:
        """A stream word: hexadecimal where it is constant, an index as it is."""
        known = accel.constant(value)
        if known is not None:
            return f"{known & 0xFFFFFFFF:#x}u"
        if isinstance(value.owner, arith.IndexCastOp):
            return self.expression(value.owner.input)
        return self.expression(value)

    def term(self, value: SSAValue) -> str:
        """An expression that can stand beside any operator."""
        text = self.expression(value)
        return text if _PLAIN.fullmatch(text) else f"({text})"

    def summand(self, value: SSAValue) -> str:
        """An expression that can stand beside a plus."""
        text = self.expression(value)
        sums = arith.AddiOp | arith.MuliOp | arith.DivUIOp
        plain = isinstance(value.owner, sums) and isinstance(value.type, IndexType)
        return text if plain or _PLAIN.fullmatch(text) else f"({text})"

    def factor(self, value: SSAValue) -> str:
        """An expression that can stand in front of a times."""
        plain = isinstance(value.owner, arith.MuliOp | arith.DivUIOp) and isinstance(value.type, IndexType)
        return self.expression(value) if plain else self.term(value)

    def constant(self, op: arith.ConstantOp) -> str:
        if isinstance(op.value, FloatAttr):
            return floating(op.value.value.data, single=isinstance(op.result.type, Float32Type))
        if not isinstance(op.value, IntegerAttr):
            fail(op, "there is no C for it")
        value = op.value.value.data
        if op.result.type == i1:
            return str(value & 1)
        if isinstance(op.result.type, IndexType):
            address = value >= 1 << 16 and value % (1 << 12) == 0
            return f"{value:#x}u" if address else f"{value}u" if value >= 1 << 31 else str(value)
        return integer(value)

    def wrapping(self, op: Operation) -> str:
        """Addition and so on modulo the width of the type."""
        if isinstance(op.results[0].type, IndexType):
            if (total := known(op.results[0])) is not None:
                return str(total)
            left, right = (self.term(v) for v in op.operands)
            if isinstance(op, arith.AddiOp) and left == "0":
                return self.expression(op.rhs)
            if isinstance(op, arith.AddiOp | arith.SubiOp) and right == "0":
                return self.expression(op.lhs)
            if isinstance(op, arith.AddiOp):
                left, right = (self.summand(v) for v in op.operands)
            elif isinstance(op, arith.MuliOp):
                left = self.factor(op.lhs)
            else:
                left = self.summand(op.operands[0])
            return f"{left} {_WRAPPING[type(op)]} {right}"
        return f"({self._scalar(op.results[0])})({self._modular(op)})"

    def _modular(self, op: Operation) -> str:
        """The same in unsigned arithmetic, whose overflow C defines."""
        left, right = (self._unsigned(v, op) for v in op.operands)
        return f"{left} {_WRAPPING[type(op)]} {right}"

    def _unsigned(self, value: SSAValue, user: Operation) -> str:
        inner = value.owner
        folded = value.type == i32 and value not in self.names
        if folded and isinstance(inner, arith.AddiOp | arith.SubiOp | arith.MuliOp):
            text = self._modular(inner)
            return text if isinstance(inner, arith.MuliOp) and isinstance(user, arith.AddiOp) else f"({text})"
        wide = "uint64_t" if self._scalar(value) == "int64_t" else "uint32_t"
        return f"({wide}){self.term(value)}"

    def floating(self, op: Operation) -> str:
        left, right = (self.term(v) for v in op.operands)
        return f"{left} {_FLOATING[type(op)]} {right}"

    def negative(self, op: arith.NegfOp) -> str:
        return f"-{self.term(op.operand)}"

    def function_of(self, op: Operation) -> str:
        name = _MATH[type(op)]
        if not isinstance(op.results[0].type, Float32Type) and not name.startswith("__"):
            fail(op, f"there is no C for it in {op.results[0].type}; accepted is f32")
        single = "f" if isinstance(op.results[0].type, Float32Type) else ""
        return f"{name}{single}({', '.join(map(self.expression, op.operands))})"

    def quotient(self, op: arith.DivUIOp) -> str:
        if isinstance(op.result.type, IndexType):
            return f"{self.term(op.lhs)} / {self.term(op.rhs)}"
        return self._of_unsigned(op, "/")

    def remainder(self, op: arith.RemUIOp) -> str:
        if isinstance(op.result.type, IndexType):
            return f"{self.term(op.lhs)} % {self.term(op.rhs)}"
        return self._of_unsigned(op, "%")

    def signed_quotient(self, op: arith.DivSIOp | arith.RemSIOp) -> str:
        sign = "/" if isinstance(op, arith.DivSIOp) else "%"
        left, right = (self._as_signed(v) for v in op.operands)
        return f"({self._scalar(op.result)})({left} {sign} {right})"

    def floor_quotient(self, op: arith.FloorDivSIOp) -> str:
        left, right = (self._as_signed(v) for v in op.operands)
        less = f"({left} % {right} != 0 && ({left} < 0) != ({right} < 0))"
        return f"({self._scalar(op.result)})({left} / {right} - {less})"

    def _as_signed(self, value: SSAValue) -> str:
        """An index is unsigned in C, but has a sign in MLIR."""
        text = self.term(value)
        constant = accel.constant(value)
        return f"(int32_t){text}" if isinstance(value.type, IndexType) and constant is None else text

    def _as_unsigned(self, value: SSAValue) -> str:
        kind = value.type
        return self.term(value) if isinstance(kind, IndexType) else f"(u{c_type(kind)}){self.term(value)}"

    def _of_unsigned(self, op: Operation, sign: str) -> str:
        left, right = (self._as_unsigned(v) for v in op.operands)
        return f"({self._scalar(op.results[0])})({left} {sign} {right})"

    def compare(self, op: arith.CmpiOp) -> str:
        predicate = op.predicate.value.data
        index = isinstance(op.lhs.type, IndexType)
        if op.lhs.type == i1 or predicate < 2 or (index and predicate >= _FIRST_UNSIGNED):
            left, right = self.term(op.lhs), self.term(op.rhs)
        elif predicate < _FIRST_UNSIGNED:
            left, right = self._as_signed(op.lhs), self._as_signed(op.rhs)
        else:
            left, right = self._as_unsigned(op.lhs), self._as_unsigned(op.rhs)
        return f"{left} {_COMPARED[predicate]} {right}"

    def compare_floats(self, op: arith.CmpfOp) -> str:
        return _ORDERED[op.predicate.value.data].format(a=self.term(op.lhs), b=self.term(op.rhs))

    def select(self, op: arith.SelectOp) -> str:
        condition = self.expression(op.cond)
        condition = f"({condition})" if "&&" in condition or "||" in condition else condition
        return f"{condition} ? {self.summand(op.lhs)} : {self.summand(op.rhs)}"

    def bitwise(self, op: Operation) -> str:
        if op.results[0].type == i1:
            sign = {arith.AndIOp: "&&", arith.OrIOp: "||", arith.XOrIOp: "!="}[type(op)]  # type: ignore[index]
            texts = [self.expression(v) for v in op.operands]
            bare = [not isinstance(v.owner, arith.AndIOp | arith.OrIOp | arith.XOrIOp) for v in op.operands]
            if sign == "!=":
                bare = [_PLAIN.fullmatch(text) is not None for text in texts]
            return f" {sign} ".join(t if b else f"({t})" for t, b in zip(texts, bare, strict=True))
        left, right = (self.term(v) for v in op.operands)
        wide = "uint64_t" if self._scalar(op.results[0]) == "int64_t" else "uint32_t"
        return f"({self._scalar(op.results[0])})(({wide}){left} {_BITWISE[type(op)]} ({wide}){right})"

    def shift_right(self, op: arith.ShRSIOp | arith.ShRUIOp) -> str:
        if isinstance(op, arith.ShRSIOp):
            return f"({self._scalar(op.result)})({self.term(op.lhs)} >> {self.term(op.rhs)})"
        return f"({self._scalar(op.result)})({self._as_unsigned(op.lhs)} >> {self.term(op.rhs)})"

    def choice(self, op: Operation) -> str:
        left, right = (self.term(v) for v in op.operands)
        index = isinstance(op.results[0].type, IndexType)
        unsigned = isinstance(op, arith.MinUIOp | arith.MaxUIOp) and not index
        cast = f"(u{self._scalar(op.results[0])})" if unsigned else ""
        return f"{cast}{left} {_CHOICE[type(op)]} {cast}{right} ? {left} : {right}"

    def choice_of_floats(self, op: Operation) -> str:
        """NaN wins in maximumf and minimumf, the other operand in maxnumf and minnumf."""
        left, right = (self.term(v) for v in op.operands)
        better = f"{left} {_FLOAT_CHOICE[type(op)]} {right}"
        nan = left if isinstance(op, arith.MaximumfOp | arith.MinimumfOp) else right
        return f"({better} || {nan} != {nan}) ? {left} : {right}"

    def cast(self, op: Operation) -> str:
        return f"({self._scalar(op.results[0])}){self.term(op.operands[0])}"

    def widen(self, op: arith.ExtSIOp) -> str:
        if op.input.type == i1:
            return f"({self._scalar(op.result)})-{self.term(op.input)}"
        return self.cast(op)

    def cast_index(self, op: arith.IndexCastOp) -> str:
        if isinstance(op.input.type, IndexType) and self._scalar(op.result) == "int64_t":
            return f"(int64_t)(int32_t){self.term(op.input)}"
        return self.cast(op)

    def narrow(self, op: arith.TruncIOp) -> str:
        if op.result.type == i1:
            return f"({self.term(op.input)} & 1) != 0"
        return self.cast(op)

    def cast_unsigned(self, op: arith.ExtUIOp | arith.UIToFPOp) -> str:
        if op.input.type == i1:
            return self.cast(op)
        return f"({self._scalar(op.result)})(u{c_type(op.input.type)}){self.term(op.input)}"

    def address(self, op: memref.CastOp) -> str:
        place, text = self.place(op.source)
        return f"&{place}[{text}]" if text != "0" else place

    def bytes(self, op: queue.BytesOp) -> str:
        text = self.expression(op.address)
        if op.offset is None:
            return text
        source = op.address.owner.source if isinstance(op.address.owner, memref.CastOp) else op.address
        const = "const " if self._only_read(source) else ""
        return f"({const}uint8_t *){text} + {op.offset.value.data}"

    def _only_read(self, matrix: SSAValue) -> bool:
        """Is it a part of an argument that is const, or of a constant?"""
        owner = matrix.owner
        if isinstance(owner, memref.SubviewOp):
            return self._only_read(owner.source)
        if isinstance(owner, memref.ExpandShapeOp | memref.CollapseShapeOp):
            return self._only_read(owner.src)
        if isinstance(matrix, BlockArgument) and owner is self.function.body.block:
            attrs = list(self.function.arg_attrs or [])
            return bool(attrs) and attrs[matrix.index].data.get("accel.kind") == StringAttr("in")
        return isinstance(owner, memref.GetGlobalOp) and global_of(owner).constant is not None

    def taker(self, op: queue.TakerNameOp) -> str:
        return identifier(op.of.data) if op.of.data else "NULL"

    def table(self, op: table.TableNameOp) -> str:
        return f"&{identifier(op.of.data)}"

    def element(self, matrix: SSAValue, indices: Sequence[SSAValue]) -> str:
        base, offset = self.place(matrix, list(indices))
        return f"{base}[{offset}]"

    def place(self, matrix: SSAValue, indices: Sequence[SSAValue] | None = None) -> tuple[str, str]:
        """Name of the array behind a memref, and the offset of the element at `indices` (or the first)."""
        kind = matrix.type
        assert isinstance(kind, MemRefType)
        strides = kind.get_strides()
        if strides is None or any(s is None for s in strides):
            self._no_c(matrix, f"a matrix without known strides, {kind}")
        terms = [
            text
            for index, stride in zip(indices or [], strides, strict=False)
            if (text := self._scaled(index, stride or 1)) != "0"
        ]
        if isinstance(matrix.owner, memref.SubviewOp):
            base, start = self.place(matrix.owner.source, self._offsets(matrix.owner))
            terms = [start, *terms] if start != "0" else terms
        else:
            base = self.names[matrix]
        return base, " + ".join(terms) or "0"

    def _scaled(self, index: SSAValue, stride: int) -> str:
        if stride == 1:
            return self.summand(index)
        text = self.term(index)
        return text if text == "0" else f"{text} * {stride}"

    def _offsets(self, view: memref.SubviewOp) -> list[SSAValue]:
        """Where a view begins in its source, as values."""
        dynamic = iter(view.offsets)
        return [
            next(dynamic) if offset == DYNAMIC_INDEX else index(view, offset)
            for offset in view.static_offsets.get_values()
        ]


_PLAIN = re.compile(r"\w+|\d+(\.\d*)?(e[+-]?\d+)?f?")
"""Names and numbers: what needs no parentheses."""


def integer(value: int) -> str:
    """An integer constant; the smallest ones have no literal in C."""
    if value == -(1 << 31):
        return "INT32_MIN"
    if value == -(1 << 63):
        return "INT64_MIN"
    return f"{value}ll" if not -(1 << 31) < value < 1 << 32 else str(value)


def floating(value: float, *, single: bool) -> str:
    """A constant with as many digits as give the same number back."""
    if pymath.isnan(value):
        return '__builtin_nanf("")' if single else '__builtin_nan("")'
    if pymath.isinf(value):
        return f"{'-' if value < 0 else ''}__builtin_inf{'f' if single else ''}()"
    text = f"{value:.9g}" if single else f"{value:.17g}"
    text = text if re.search(r"[.e]", text) else f"{text}.0"
    return f"{text}f" if single else text


_EXPRESSIONS: dict[type[Operation], Callable[..., str]] = {
    arith.ConstantOp: Expressions.constant,
    **dict.fromkeys(_WRAPPING, Expressions.wrapping),
    **dict.fromkeys(_BITWISE, Expressions.bitwise),
    **dict.fromkeys(_CHOICE, Expressions.choice),
    **dict.fromkeys(_FLOATING, Expressions.floating),
    **dict.fromkeys(_FLOAT_CHOICE, Expressions.choice_of_floats),
    **dict.fromkeys(_MATH, Expressions.function_of),
    arith.NegfOp: Expressions.negative,
    arith.DivUIOp: Expressions.quotient,
    arith.RemUIOp: Expressions.remainder,
    arith.DivSIOp: Expressions.signed_quotient,
    arith.RemSIOp: Expressions.signed_quotient,
    arith.FloorDivSIOp: Expressions.floor_quotient,
    arith.ShRSIOp: Expressions.shift_right,
    arith.ShRUIOp: Expressions.shift_right,
    arith.CmpiOp: Expressions.compare,
    arith.CmpfOp: Expressions.compare_floats,
    arith.SelectOp: Expressions.select,
    arith.ExtSIOp: Expressions.widen,
    arith.TruncIOp: Expressions.narrow,
    arith.ExtUIOp: Expressions.cast_unsigned,
    arith.UIToFPOp: Expressions.cast_unsigned,
    arith.SIToFPOp: Expressions.cast,
    arith.FPToSIOp: Expressions.cast,
    arith.ExtFOp: Expressions.cast,
    arith.TruncFOp: Expressions.cast,
    arith.IndexCastOp: Expressions.cast_index,
    memref.CastOp: Expressions.address,
    queue.TakerNameOp: Expressions.taker,
    queue.BytesOp: Expressions.bytes,
    table.TableNameOp: Expressions.table,
}


def has_rule(op: Operation) -> bool:
    """Whether `op` is an expression in C."""
    return type(op) in _EXPRESSIONS


def uses_math(op: Operation) -> bool:
    """Whether its C calls a function of MATH_HEADER."""
    return type(op) in _MATH and not _MATH[type(op)].startswith("__")
