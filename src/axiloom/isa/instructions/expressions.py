"""Python's expressions to ours: each name is looked up, each operation checked."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from axiloom.base.errors import SpecError
from axiloom.base.wording.names import hint
from axiloom.isa.instructions.arithmetic import MOST_WIDE, RangeError, all_of, apply, choice, fold
from axiloom.isa.instructions.tree import (
    MOST_BITS,
    Bits,
    Call,
    Const,
    Expr,
    Function,
    InstructionSet,
    Lookup,
    Memory,
    Name,
    Range,
    Read,
    Wrapped,
    signed,
    unsigned,
)  # fmt: skip

MOST_TERMS = 1 << 20
"""Of a sum."""
MOST_SAID = 160
"""Characters of a message's quotation."""
_TYPE = re.compile(r"(u?)int([1-9][0-9]{0,3})")
_BINARY: Mapping[type[ast.operator], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.FloorDiv: "floordiv", ast.Mod: "mod",
    ast.LShift: "shl", ast.RShift: "shr", ast.BitAnd: "bitand", ast.BitOr: "bitor", ast.BitXor: "bitxor",
}  # fmt: skip
_COMPARED: Mapping[type[ast.cmpop], tuple[str, bool]] = {
    ast.Eq: ("eq", False), ast.NotEq: ("ne", False), ast.Lt: ("lt", False), ast.LtE: ("le", False),
    ast.Gt: ("lt", True), ast.GtE: ("le", True),
}  # fmt: skip
_FOLDED = {"sum": "add", "min": "min", "max": "max", "all": "and", "any": "or"}


def said(node: ast.AST) -> str:
    """The text of a node, cut where it is long."""
    try:
        text = ast.unparse(node)
    except ValueError:  # an integer of thousands of digits
        text = "..."
    return text if len(text) <= MOST_SAID else f"{text[:MOST_SAID]} ..."


def type_of(name: str) -> Range | None:
    """``int8``, ``uint5``; None for what is no type."""
    match = _TYPE.fullmatch(name)
    if not match:
        return None
    bits = int(match[2])
    if bits > MOST_WIDE:
        return None
    return unsigned(bits) if match[1] else signed(bits)


@dataclass
class Scope:
    """What names mean at one place of a text."""

    place: str
    known: InstructionSet
    constants: Mapping[str, int]
    locals: dict[str, Range] = field(default_factory=dict)
    state: bool = True
    """Whether registers, memories and inputs can be read: not in functions."""
    most: int = MOST_BITS
    """Bits of what is computed with."""

    def fault(self, node: ast.AST, why: str) -> SpecError:
        return SpecError([f"{self.place}:{getattr(node, 'lineno', 1)}: {why}"])

    def within(self, locals_: Mapping[str, Range]) -> Scope:
        return replace(self, locals={**self.locals, **locals_})

    def apply(self, operation: str, *arguments: Expr) -> Expr:
        return apply(operation, *arguments, most=self.most)

    # --- expressions --------------------------------------------------------------------------------------

    def expr(self, node: ast.expr) -> Expr:
        """The tree of an expression. Raises SpecError with the line."""
        try:
            return self._expr(node)
        except RangeError as error:
            raise self.fault(node, f"`{said(node)}`: {error}") from None

    def condition(self, node: ast.expr) -> Expr:
        expr = self.expr(node)
        if not Range(0, 1).holds(expr.range):
            raise self.fault(node, f"`{said(node)}` is a number of {expr.range}, not a condition: compare it")
        return expr

    def fitting(self, node: ast.expr, wanted: Range, what: str) -> Expr:
        """An expression whose values `wanted` holds; what may not fit is refused, never wrapped."""
        expr = self.expr(node)
        if not wanted.holds(expr.range):
            kind = f"{'' if wanted.signed else 'u'}int{wanted.bits}"
            raise self.fault(
                node,
                f"`{said(node)}` is {expr.range}, which {what} does not hold ({wanted}): say what "
                f"happens to the rest, as in {kind}(x) (low bits) or clamp(x, {wanted.low}, {wanted.high})",
            )
        return expr

    def constant(self, node: ast.expr, what: str) -> int:
        expr = self.expr(node)
        if not isinstance(expr, Const):
            raise self.fault(node, f"{what} must be a constant, not `{said(node)}`")
        return expr.value

    def _expr(self, node: ast.expr) -> Expr:
        match node:
            case ast.Constant(value=bool(value)):
                return Const(int(value))
            case ast.Constant(value=int(value)):
                if value.bit_length() > MOST_WIDE:
                    raise RangeError(f"{value.bit_length()} bits: no number has more than {MOST_WIDE}")
                return Const(value)
            case ast.Name(id=name):
                return self._name(node, name)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
                return self.apply(_BINARY[type(op)], self.expr(left), self.expr(right))
            case ast.UnaryOp(op=ast.USub(), operand=value):
                return self.apply("neg", self.expr(value))
            case ast.UnaryOp(op=ast.Invert(), operand=value):
                return self.apply("invert", self.expr(value))
            case ast.UnaryOp(op=ast.Not(), operand=value):
                return self.apply("not", self.expr(value))
            case ast.BoolOp(op=op, values=values):
                parts = [self.condition(value) for value in values]
                expr = parts[0]
                for part in parts[1:]:
                    expr = self.apply("and" if isinstance(op, ast.And) else "or", expr, part)
                return expr
            case ast.Compare():
                return self._compare(node)
            case ast.IfExp(test=test, body=yes, orelse=no):
                return choice(self.condition(test), self.expr(yes), self.expr(no))
            case ast.Subscript(value=value, slice=index):
                return self._subscript(node, value, index)
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
                return self._call(node, name, arguments)
        has = "integers, names, x[lo:hi], + - * // % << >> & | ^ ~, comparisons, and, or, not, a if c else b"
        raise self.fault(node, f"`{said(node)}`: expressions have {has}, calls")

    def _name(self, node: ast.expr, name: str) -> Expr:
        known = self.known
        if name in self.locals:
            return Name(name, self.locals[name])
        if name in self.constants:
            return Const(self.constants[name])
        if name in known.registers or name in known.inputs:
            if not self.state:
                raise self.fault(node, f"{name} is state: functions have their arguments alone")
            declared = known.registers.get(name) or known.inputs[name]
            return Name(name, declared.type)
        if name in known.memories or name in known.tables:
            raise self.fault(node, f"{name} is taken by index: {name}[...]")
        names = [
            *self.locals,
            *self.constants,
            *known.registers,
            *known.inputs,
            *known.memories,
            *known.tables,
        ]
        raise self.fault(node, f"there is no `{name}`{hint(name, names)}")

    def _compare(self, node: ast.Compare) -> Expr:
        parts, left = [], self.expr(node.left)
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            if type(op) not in _COMPARED:
                raise self.fault(node, f"`{said(node)}`: comparisons are == != < <= > >=")
            operation, swapped = _COMPARED[type(op)]
            right = self.expr(right_node)
            parts.append(
                self.apply(operation, right, left) if swapped else self.apply(operation, left, right)
            )
            left = right
        return all_of(parts)

    def _subscript(self, node: ast.expr, value: ast.expr, index: ast.expr) -> Expr:
        if isinstance(value, ast.Name) and value.id not in self.locals:
            if memory := self.known.memories.get(value.id):
                if not self.state:
                    raise self.fault(node, f"{value.id} is state: functions have their arguments alone")
                return Read(memory, self.index(node, memory, index))
            if table := self.known.tables.get(value.id):
                position = self.fitting(index, Range(0, len(table.values) - 1), f"table {table.name}")
                return (
                    Const(table.values[position.value])
                    if isinstance(position, Const)
                    else Lookup(table, position)
                )
        whole = self.expr(value)
        if isinstance(index, ast.Slice):
            if index.step or index.upper is None:
                raise self.fault(node, f"`{said(node)}`: bits are taken as x[lo:hi], lo included, hi not")
            low = self.constant(index.lower, "the lowest bit") if index.lower else 0
            high = self.constant(index.upper, "the end of the bits")
            return self._bits(node, whole, Const(low), high - low)
        return self._bits(node, whole, Const(self.constant(index, "a bit")), 1)

    def _bits(self, node: ast.expr, value: Expr, low: Expr, width: int) -> Expr:
        if width > MOST_WIDE:
            raise self.fault(node, f"`{said(node)}`: up to {MOST_WIDE} bits are accepted")
        if width < 1 or low.range.low < 0:
            raise self.fault(node, f"`{said(node)}`: at least one bit, from bit 0 on")
        if not value.range.signed and low.range.high + width > value.range.bits:
            raise self.fault(node, f"`{said(node)}`: it has {value.range.bits} bits")
        if isinstance(value, Const) and isinstance(low, Const):
            return Const(value.value >> low.value & (1 << width) - 1)
        return Bits(value, low, width)

    def index(self, node: ast.AST, memory: Memory, index: ast.expr) -> tuple[Expr, ...]:
        """The index of an element. That it lies within the memory is proved, and checked as it runs."""
        parts = index.elts if isinstance(index, ast.Tuple) else [index]
        if len(parts) != len(memory.shape):
            raise self.fault(
                node, f"{memory.name} has {len(memory.shape)} dims, not {len(parts)}: `{said(node)}`"
            )
        subscripts = tuple(self.expr(part) for part in parts)
        for at, size, text in zip(subscripts, memory.shape, parts, strict=True):
            if at.range.low >= size or at.range.high < 0:
                raise self.fault(
                    text, f"`{said(text)}` is {at.range}: {memory.name} has 0 to {size - 1} there"
                )
        return subscripts

    # --- calls --------------------------------------------------------------------------------------------

    def _call(self, node: ast.expr, name: str, arguments: Sequence[ast.expr]) -> Expr:
        if (wanted := type_of(name)) and len(arguments) == 1:
            value = self.expr(arguments[0])
            if isinstance(value, Const):
                low = value.value & (1 << wanted.bits) - 1
                return Const(low - (1 << wanted.bits) if low > wanted.high else low)
            return value if wanted == value.range else Wrapped(value, wanted)
        if name in _FOLDED and len(arguments) == 1 and isinstance(arguments[0], ast.GeneratorExp):
            return self._fold(node, _FOLDED[name], arguments[0])
        if name in ("min", "max") and len(arguments) >= 2:
            expr = self.expr(arguments[0])
            for argument in arguments[1:]:
                expr = self.apply(name, expr, self.expr(argument))
            return expr
        if name == "abs" and len(arguments) == 1:
            return self.apply("abs", self.expr(arguments[0]))
        if name == "cat" and len(arguments) == 1 and isinstance(arguments[0], ast.GeneratorExp):
            return self.apply("cat", *self._each(node, arguments[0]))
        if name == "cat" and arguments:
            return self.apply("cat", *map(self._part, arguments))
        if name == "bits" and len(arguments) == 3:
            width = self.constant(arguments[2], "the number of bits")
            return self._bits(node, self.expr(arguments[0]), self.expr(arguments[1]), width)
        if name == "clamp" and len(arguments) == 3:
            value, least, most = map(self.expr, arguments)
            return self.apply("min", self.apply("max", value, least), most)
        if function := self.known.functions.get(name):
            return self._function(node, function, arguments)
        there = ["abs", "bits", "cat", "clamp", "max", "min", "sum", "all", "any", *self.known.functions]
        raise self.fault(node, f"`{said(node)}`: no function of that name and number of arguments"
                   f"{hint(name, there)}; there are {', '.join(there)}, int8(x) and the like")  # fmt: skip

    def _part(self, node: ast.expr) -> Expr:
        """A part of a `cat`: a constant has as many bits as its type says, and none without one."""
        expr = self.expr(node)
        if not isinstance(expr, Const):
            return expr
        match node:
            case ast.Call(func=ast.Name(id=name)) if (wanted := type_of(name)) and not wanted.signed:
                return Wrapped(expr, wanted)
        raise self.fault(
            node, f"`{ast.unparse(node)}` in cat: say how many bits, such as uint8({expr.value})"
        )

    def _function(self, node: ast.expr, function: Function, arguments: Sequence[ast.expr]) -> Expr:
        if len(arguments) != len(function.parameters):
            raise self.fault(
                node, f"{function.name} takes {len(function.parameters)} arguments, not {len(arguments)}"
            )
        operands = [
            self.fitting(argument, wanted, f"{function.name}'s {name}")
            for argument, (name, wanted) in zip(arguments, function.parameters.items(), strict=True)
        ]
        return Call(function, tuple(operands))

    def _each(self, node: ast.expr, text: ast.GeneratorExp) -> list[Expr]:
        """The element of a generator for each value of its iterator, which is then a constant."""
        if len(text.generators) != 1 or text.generators[0].ifs:
            raise self.fault(node, f"`{said(node)}`: one `for k in range(N)`, N a constant")
        name, count = self.counted(node, text.generators[0].target, text.generators[0].iter)
        if count > MOST_WIDE:
            raise self.fault(node, f"`{said(node)}`: up to {MOST_WIDE} parts are accepted")
        return [replace(self, constants={**self.constants, name: at}).expr(text.elt) for at in range(count)]

    def _fold(self, node: ast.expr, operation: str, text: ast.GeneratorExp) -> Expr:
        if len(text.generators) != 1 or text.generators[0].ifs:
            raise self.fault(node, f"`{said(node)}`: one `for k in range(N)`, N a constant")
        name, count = self.counted(node, text.generators[0].target, text.generators[0].iter)
        body = self.within({name: Range(0, count - 1)}).expr(text.elt)
        return fold(operation, name, count, body)

    def counted(self, node: ast.AST, target: ast.expr, iterated: ast.expr) -> tuple[str, int]:
        match target, iterated:
            case ast.Name(id=name), ast.Call(func=ast.Name(id="range"), args=[count], keywords=[]):
                many = self.constant(count, "a sum's number of terms")
                if name.startswith("_"):
                    raise self.fault(node, f"{name} cannot be a name here")
                if many > MOST_TERMS:
                    raise self.fault(node, f"`{said(iterated)}`: up to {MOST_TERMS} terms are accepted")
                if many < 1:
                    raise self.fault(node, f"`{said(iterated)}` has no element")
                return name, many
        raise self.fault(node, f"`{said(iterated)}`: range(N), N a constant")
