"""A command's fields as the words of its text: what an instruction reads off its inputs, backwards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from axiloom.base.errors import CompileError
from axiloom.isa.instructions.simulator.reference import Reference
from axiloom.isa.instructions.simulator.state import IllegalCommandError, State
from axiloom.isa.instructions.tree import Apply, Bits, Const, Expr, Instruction, InstructionSet, Name, Wrapped
from axiloom.selection.program.program import Command


class Encoder:
    """Of one instruction set. Fields that are no bits of an input follow from others: they are compared."""

    def __init__(self, isa: InstructionSet) -> None:
        self.isa = isa
        self._reference = Reference(isa, State(isa))

    def inputs(self, command: Command) -> dict[str, int]:
        """Inputs by name. Raises CompileError for a command that the text does not have like this."""
        instruction = self.isa.instructions.get(command.instruction)
        if instruction is None:
            there = ", ".join(self.isa.instructions)
            raise CompileError(f"{self.isa.name} has no instruction {command.instruction}; there are {there}")
        inputs = dict.fromkeys(self.isa.inputs, 0)
        for bits, value in (*_fixed(instruction.when), *self._given(instruction, command)):
            assert isinstance(bits.value, Name)
            assert isinstance(bits.low, Const)
            inputs[bits.value.name] |= value << bits.low.value
        self._check(instruction, command, inputs)
        return inputs

    def words(self, command: Command) -> int:
        """All inputs, the first in the lowest bits."""
        words, at = 0, 0
        for name, value in self.inputs(command).items():
            words |= value << at
            at += self.isa.inputs[name].bits
        return words

    def decoded(self, words: Sequence[int]) -> tuple[str, dict[str, int]]:
        """The instruction that words of 32 bits are, the lowest first, and its inputs."""
        rest = sum(word << 32 * place for place, word in enumerate(words))
        inputs: dict[str, int] = {}
        for name, signal in self.isa.inputs.items():
            inputs[name], rest = rest & (1 << signal.bits) - 1, rest >> signal.bits
        for instruction in self.isa.instructions.values():
            if self._reference.enabled(instruction, inputs):
                return instruction.name, inputs
        raise CompileError(f"{self.isa.name}: no instruction comes with {inputs}")

    @property
    def bits(self) -> int:
        """Of :meth:`words`."""
        return sum(signal.bits for signal in self.isa.inputs.values())

    def _given(self, instruction: Instruction, command: Command) -> Iterator[tuple[Bits, int]]:
        places = {let.name: let.value for let in instruction.fields}
        known = {**dict(_required(instruction)), **command.fields}
        for name, value in known.items():
            if name not in places:
                raise CompileError(
                    f"{command.instruction} has no field {name}; there are {', '.join(places) or 'none'}"
                )
            whole = places[name]
            place = whole.value if isinstance(whole, Wrapped) else whole
            if not (isinstance(place, Bits) and _is_place(place) and place.width == whole.range.bits):
                continue
            if not whole.range.low <= value <= whole.range.high:
                raise CompileError(
                    f"{command.instruction}: {name} = {value} does not fit its {place.width} bits"
                )
            yield place, value & (1 << place.width) - 1

    def _check(self, instruction: Instruction, command: Command, inputs: dict[str, int]) -> None:
        """The text reads off these inputs what the command says, and it is legal."""
        reference = self._reference
        if not reference.enabled(instruction, inputs):
            raise CompileError(f"{command.instruction}: no words are it with {_said(command)}")
        known = dict(inputs)
        for let in instruction.fields:
            known[let.name] = reference.value(let.value, known)
            wanted = command.fields.get(let.name, known[let.name])
            if known[let.name] != wanted:
                raise CompileError(
                    f"{command.instruction}: {let.name} is {known[let.name]} with {_said(command)}"
                )
        try:
            reference.refuse(instruction, known)
        except IllegalCommandError as error:
            raise CompileError(str(error)) from None


def _is_place(expr: Bits) -> bool:
    return isinstance(expr.value, Name) and isinstance(expr.low, Const)


def _fixed(when: Expr) -> Iterator[tuple[Bits, int]]:
    """Bits of inputs that a condition compares with constants."""
    for place, value in _equal(when):
        if isinstance(place, Bits) and _is_place(place):
            yield place, value


def _required(instruction: Instruction) -> Iterator[tuple[str, int]]:
    """Fields that can have one value alone, by what is required."""
    fields = {let.name for let in instruction.fields}
    for part in instruction.legal:
        for field, value in _equal(part.condition):
            if isinstance(field, Name) and field.name in fields:
                yield field.name, value


def _equal(condition: Expr) -> Iterator[tuple[Expr, int]]:
    """What a condition says is equal to a constant."""
    match condition:
        case Apply(operation="and", arguments=parts):
            for part in parts:
                yield from _equal(part)
        case Apply(operation="or", arguments=(Const(value=0), part) | (part, Const(value=0))):
            yield from _equal(part)
        case Apply(operation="eq", arguments=(operand, Const(value=value)) | (Const(value=value), operand)):
            yield operand, value


def _said(command: Command) -> str:
    return ", ".join(f"{name} = {value}" for name, value in command.fields.items()) or "no fields"
