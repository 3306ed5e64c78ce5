"""Conditions and fields of a text as logic: which instruction a command is, whether it is legal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from amaranth.hdl import Array, Cat, Const, Module, Mux, Shape, Signal, Value

from axiloom.base.errors import SpecError
from axiloom.hw.command.fault import Fault
from axiloom.isa.instructions import tree
from axiloom.isa.instructions.tree import Expr, Instruction, InstructionSet, Range

Known = Mapping[str, Value]
"""Names to their values, each in the shape of its range."""


def shape_of(range_: Range) -> Shape:
    return Shape(range_.bits, range_.signed)


def fitted(value: Value, range_: Range) -> Value:
    """`value`, which is of this range, with exactly its bits."""
    bits = range_.bits
    if len(value) < bits:
        sign = value[-1] if value.shape().signed else Const(0, 1)
        value = Cat(value, sign.replicate(bits - len(value)))
    value = value[:bits]
    return value.as_signed() if range_.signed else value


Called = Callable[[tree.Function, Sequence[Value]], Value]
"""What calls of functions are."""


def logic(expr: Expr, known: Known, called: Called | None = None) -> Value:
    """The value of `expr`. Raises SpecError for what is no logic of one cycle: memories; and calls, where
    nothing is said about them."""
    return _logic(expr, known, called)


def _logic(expr: Expr, known: Known, called: Called | None) -> Value:
    def logic(expr: Expr, known: Known) -> Value:
        return _logic(expr, known, called)

    match expr:
        case tree.Const(value=value):
            return Const(value, shape_of(expr.range))
        case tree.Name(name=name):
            if name not in known:
                raise SpecError([f"`{name}` is not known where a command is decoded"])
            return known[name]
        case tree.Bits(value=value, low=tree.Const(value=low), width=width):
            return fitted(logic(value, known)[low : low + width], expr.range)
        case tree.Bits(value=value, low=low, width=width):
            return fitted((logic(value, known).as_unsigned() >> logic(low, known))[:width], expr.range)
        case tree.Wrapped(value=value):
            return fitted(logic(value, known), expr.range)
        case tree.Choice(condition=condition, yes=yes, no=no):
            both = [fitted(logic(side, known), expr.range) for side in (yes, no)]
            return fitted(Mux(logic(condition, known), *both), expr.range)
        case tree.Lookup(table=table, index=index):
            entries = Array(Const(entry, shape_of(expr.range)) for entry in table.values)
            return fitted(entries[logic(index, known)], expr.range)
        case tree.Apply(operation=operation, arguments=arguments):
            if operation not in _OPERATIONS:
                raise SpecError([f"`{operation}` is no logic of one cycle"])
            values = [fitted(logic(argument, known), argument.range) for argument in arguments]
            return fitted(_OPERATIONS[operation](*values), expr.range)
        case tree.Fold(operation="add", iterator=iterator, count=count, body=body):
            turns = [logic(body, {**known, iterator: Const(turn)}) for turn in range(count)]
            return fitted(reduce(lambda a, b: a + b, turns), expr.range)
        case tree.Call(function=function, arguments=arguments) if called is not None:
            types = function.parameters.values()
            operands = [
                fitted(logic(argument, known), kind) for argument, kind in zip(arguments, types, strict=True)
            ]
            return called(function, operands)
    raise SpecError([f"a condition or a field has a {type(expr).__name__}, which is no logic of one cycle"])


_OPERATIONS: Mapping[str, Callable[..., Value]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "shl": lambda a, b: a << b,
    "shr": lambda a, b: a >> b,
    "bitand": lambda a, b: a & b,
    "bitor": lambda a, b: a | b,
    "bitxor": lambda a, b: a ^ b,
    "invert": lambda a: ~a,
    "neg": lambda a: -a,
    "abs": lambda a: Mux(a < 0, -a, a),
    "min": lambda a, b: Mux(a < b, a, b),
    "max": lambda a, b: Mux(a < b, b, a),
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "and": lambda a, b: a.bool() & b.bool(),
    "or": lambda a, b: a.bool() | b.bool(),
    "not": lambda a: ~a.bool(),
    "cat": lambda *parts: Cat(*parts),
}


@dataclass(frozen=True)
class Decoded:
    """Of one instruction: `enabled` if the command is it, its `fields`, and whether it is `legal`."""

    enabled: Signal
    legal: Signal
    fields: Mapping[str, Value]


def decoded(m: Module, isa: InstructionSet, inputs: Known, state: Known | None = None) -> dict[str, Decoded]:
    """Each instruction, by name. `inputs`: by name, as :func:`words` cuts them from a command; `state`:
    registers that conditions read. Raises SpecError for conditions that are no logic."""
    return {
        name: _decoded(m, instruction, {**inputs, **(state or {})})
        for name, instruction in isa.instructions.items()
    }


def _decoded(m: Module, instruction: Instruction, inputs: Known) -> Decoded:
    name = instruction.name
    known = dict(inputs)
    fields = {}
    for let in instruction.fields:
        value = Signal(shape_of(let.value.range), name=f"{name}_{let.name}")
        m.d.comb += value.eq(logic(let.value, known))
        known[let.name] = fields[let.name] = value
    enabled, legal = Signal(name=f"is_{name}"), Signal(name=f"legal_{name}")
    held = [logic(requirement.condition, known) for requirement in instruction.legal]
    m.d.comb += [enabled.eq(logic(instruction.when, inputs)), legal.eq(Cat(*held).all() if held else 1)]
    return Decoded(enabled, legal, fields)


def words(isa: InstructionSet, command: Value) -> dict[str, Value]:
    """Inputs by name, from a command's bits: in the order of the text, the first in the lowest bits."""
    fields, at = {}, 0
    for name, input_ in isa.inputs.items():
        fields[name] = command[at : at + input_.bits]
        at += input_.bits
    return fields


def command_bits(isa: InstructionSet) -> int:
    return sum(input_.bits for input_ in isa.inputs.values())


def fault_of(instructions: Mapping[str, Decoded]) -> Value:
    """The fault of a command: unknown, illegal, or none."""
    known = Cat(*(instruction.enabled for instruction in instructions.values())).any()
    illegal = Cat(*(instruction.enabled & ~instruction.legal for instruction in instructions.values())).any()
    return Mux(known, Mux(illegal, Fault.ILLEGAL.value, Fault.NONE.value), Fault.UNKNOWN.value)
