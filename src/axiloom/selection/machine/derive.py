"""`meanings`: which operations the instructions of a text are, derived and compared in every element.

Nobody writes down what an instruction computes a second time: its text is executed on terms, and so are the
operations of `kernels`. They are the same if every element is the same term: for all contents of the memories
and whatever the functions of floats are, with sums in the text's order, at these sizes, at all addresses at
which slices do not overlap.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import permutations, product
from math import prod

import numpy as np

from axiloom.graph.graph import GraphError, Node, Type
from axiloom.graph.numbers import number
from axiloom.graph.ops import Builder
from axiloom.isa.instructions.simulator.reference import Reference
from axiloom.isa.instructions.simulator.state import IllegalCommandError, State
from axiloom.isa.instructions.tree import Instruction, InstructionSet, Memory
from axiloom.isa.instructions.walk import names
from axiloom.selection.machine.algebra import Elements, TermAlgebra
from axiloom.selection.machine.execute import Effect, MeaningError, Place, Slot, addresses, effect
from axiloom.selection.machine.kernels import KERNELS, Kernel
from axiloom.selection.machine.terms import Key, Term

_NOTHING = "writes 0 slices; one is a tensor"
_NEVER = "no size of the application's is legal for it"
MOST_ROWS = 1024
"""Of a memory whose size is tried as an instruction's."""


@dataclass(frozen=True)
class Operand:
    """A slice: of a memory, from the address in a field on (no field: from 0 on)."""

    memory: str
    field: str
    type: Type


@dataclass(frozen=True, eq=False)
class Meaning:
    """`value` is the result, of parameters ``0``, ``1`` ... for the operands."""

    isa: InstructionSet
    instruction: str
    kernel: str
    sizes: Mapping[str, int]
    operands: tuple[Operand, ...]
    result: Operand
    value: Node

    @property
    def in_place(self) -> int | None:
        """The operand whose slice the result is written to."""
        for place, operand in enumerate(self.operands):
            if (operand.memory, operand.field) == (self.result.memory, self.result.field):
                return place
        return None

    def __str__(self) -> str:
        taken = ", ".join(
            f"{operand.memory}[{operand.field or 0}:] {operand.type}" for operand in self.operands
        )
        sizes = ", ".join(f"{name} = {value}" for name, value in self.sizes.items())
        result = f"{self.result.memory}[{self.result.field or 0}:] {self.result.type}"
        return f"{self.instruction}({sizes}): {result} = {self.kernel}({taken})"


@dataclass
class Meanings:
    """Of an instruction set, at sizes that were asked for."""

    isa: InstructionSet
    found: dict[tuple[str, tuple[tuple[str, int], ...]], Meaning | str] = field(default_factory=dict)
    """By instruction and sizes; or why there is none."""

    def at(self, sizes: Sequence[int]) -> list[Meaning]:
        """All instructions whose fields without an address are among `sizes`, or 0."""
        meanings = []
        for instruction in self.isa.instructions.values():
            for values in self._legal(instruction, sizes):
                meaning = self._of(instruction, values)
                if isinstance(meaning, Meaning):
                    meanings.append(meaning)
        return meanings

    def of(self, name: str, fields: Mapping[str, int]) -> Meaning | str:
        """Of a command; or why there is none."""
        instruction = self.isa.instructions.get(name)
        if instruction is None:
            return f"{self.isa.name} has no instruction {name}"
        try:
            at = addresses(instruction, self.isa)
        except MeaningError as error:
            return str(error)
        free = [let.name for let in instruction.fields if let.name not in at]
        return self._of(instruction, {field: fields.get(field, 0) for field in free})

    def _of(self, instruction: Instruction, values: Mapping[str, int]) -> Meaning | str:
        key = instruction.name, tuple(sorted(values.items()))
        if key not in self.found:
            try:
                self.found[key] = _Derivation(self, instruction, values).run()
            except MeaningError as error:
                self.found[key] = str(error)
        return self.found[key]

    def refused(self) -> dict[str, str]:
        """Of instructions that have no meaning as a whole at any size that was asked for: where they stand,
        and why not."""
        understood = {name for (name, _), meaning in self.found.items() if isinstance(meaning, Meaning)}
        reasons: dict[str, str] = {}
        for name, instruction in self.isa.instructions.items():
            if name in understood:
                continue
            why = [reason for (of, _), reason in self.found.items() if of == name and isinstance(reason, str)]
            try:
                addresses(instruction, self.isa)
            except MeaningError as error:
                why = [str(error)]
            if inputs := self._of_inputs(instruction):
                why = [f"{name}: it requires something of {', '.join(inputs)}, not of a field"]
            # At size 0 nothing is written: another size says more.
            why.sort(key=lambda reason: reason.endswith(_NOTHING))
            reasons[name] = f"{self.isa.place}:{instruction.line}: {why[0] if why else _NEVER}"
        return reasons

    def _of_inputs(self, instruction: Instruction) -> list[str]:
        """Inputs that requirements look at, beside fields."""
        fields = {let.name for let in instruction.fields}
        used = {name for part in instruction.legal for name in names(part.condition)}
        return sorted((used & self.isa.inputs.keys()) - fields)

    def _legal(self, instruction: Instruction, sizes: Sequence[int]) -> Iterator[dict[str, int]]:
        """Values of the fields that are no addresses, as far as requirements hold at the address 0, or where
        slices lie apart."""
        try:
            at = addresses(instruction, self.isa)
        except MeaningError:
            return
        if self._of_inputs(instruction):
            return
        free = [let.name for let in instruction.fields if let.name not in at]
        ranges = {let.name: let.value.range for let in instruction.fields}
        reference = Reference(self.isa, State(_small(self.isa)))
        for values in product(sorted({0, *sizes}), repeat=len(free)):
            chosen = dict(zip(free, values, strict=True))
            if any(not ranges[n].low <= v <= ranges[n].high for n, v in chosen.items()):
                continue
            for apart in (0, 1):
                begins = {
                    name: apart * turn * (self.isa.memories[memory].shape[0] // len(at))
                    for turn, (name, memory) in enumerate(at.items())
                }
                with suppress(IllegalCommandError):
                    reference.refuse(instruction, {**begins, **chosen})
                    yield chosen
                    break

    @cached_property
    def effects(self) -> list[Effect]:
        """Of each instruction at the smallest sizes that do something."""
        effects = []
        whole = {size for memory in self.isa.memories.values() if not memory.host for size in memory.shape}
        sizes = [1, *sorted(size for size in whole if size <= MOST_ROWS)]
        for instruction in self.isa.instructions.values():
            for values in self._legal(instruction, sizes):
                try:
                    effect_ = effect(self.isa, instruction, values)
                except MeaningError:
                    continue
                if effect_.written:
                    effects.append(effect_)
                    break
        return effects

    @cached_property
    def private(self) -> frozenset[str]:
        """Memories in which no instruction finds what another one left."""
        seen = {slot[0] for effect_ in self.effects for slot in effect_.read}
        memories = self.isa.memories.items()
        return frozenset(name for name, memory in memories if name not in seen and not memory.host)

    @cached_property
    def numbers(self) -> dict[str, str]:
        """What functions of floats, and moves between memories, say of what memories hold; else integers."""
        return _numbers(self.isa, self.effects)


_DERIVED: dict[str, Meanings] = {}


def meanings_of(isa: InstructionSet) -> Meanings:
    """What this process has derived of this tree: nothing of it comes from a file."""
    return _DERIVED.setdefault(repr(isa), Meanings(isa))


def _small(isa: InstructionSet) -> InstructionSet:
    return InstructionSet(
        isa.name,
        isa.text,
        isa.place,
        isa.inputs,
        {},
        isa.registers,
        isa.tables,
        isa.functions,
        isa.instructions,
    )


def _numbers(isa: InstructionSet, effects: Sequence[Effect]) -> dict[str, str]:
    """A host's memory has elements of several widths: numbers go through it from one width to the same."""
    numbers: dict[str, str] = {}
    moves: list[set[str]] = []

    def named(memory: str, other: str) -> str:
        return f"{memory}:{isa.memories[other].type.bits}" if isa.memories[memory].host else memory

    for effect_ in effects:
        for key in effect_.terms.keys:
            if key[0] == "call":
                of = str(key[1]).partition(".")[0]
                for argument in key[2:]:
                    source = effect_.terms.keys[argument]
                    if source[0] == "read":
                        numbers[source[1]] = of
        for slot, written in effect_.written.items():
            for term in written.values():
                key = effect_.terms.keys[term]
                if key[0] == "call" and ".to_" in str(key[1]):
                    numbers[slot[0]] = str(key[1]).partition(".to_")[2]
                other = _moved(effect_, key)
                if other is not None:
                    moves.append({named(slot[0], other), named(other, slot[0])})
    changed = True
    while changed:
        changed = False
        for together in moves:
            known = next((numbers[name] for name in sorted(together) if name in numbers), "")
            for name in together if known else set():
                changed |= name not in numbers
                numbers.setdefault(name, str(known))
    for name, memory in isa.memories.items():
        sign = "" if memory.type.signed else "u"
        numbers.setdefault(name, f"{sign}int{memory.type.bits}")
    return numbers


def _moved(of: Effect, key: Key) -> str | None:
    """The memory of which a term is an element, or a part of one."""
    while key[0] in ("cat", "bits", "wrap"):
        key = of.terms.keys[key[1]]
    return str(key[1]) if key[0] == "read" else None


class _Derivation:
    def __init__(self, all_: Meanings, instruction: Instruction, sizes: Mapping[str, int]) -> None:
        self.all, self.instruction, self.sizes = all_, instruction, sizes
        self.isa = all_.isa

    def fault(self, why: str) -> MeaningError:
        sizes = ", ".join(f"{name} = {value}" for name, value in self.sizes.items())
        return MeaningError(f"{self.instruction.name}({sizes}): {why}")

    def run(self) -> Meaning:
        done = effect(self.isa, self.instruction, self.sizes)
        self.effect = done
        written = {slot: of for slot, of in done.written.items() if slot[0] not in self.all.private}
        read = {slot: of for slot, of in done.read.items() if slot[0] not in self.all.private}
        if len(written) != 1:
            raise self.fault(f"writes {len(written)} slices; one is a tensor")
        if not read:
            raise self.fault("reads nothing")
        (slot,) = written
        self.columns = self._columns([slot, *read])
        self.number = self._number([slot, *read])
        shape, terms = self._tensor(slot, written[slot])
        result = Operand(*slot, Type(shape, self._of(slot)))
        slots = sorted(read)
        leaves = {slot: self._leaves(slot, read[slot]) for slot in slots}
        for name, (count, kernel) in KERNELS.items():
            if count != len(slots):
                continue
            for order in permutations(slots):
                operands = [Operand(*slot, Type(leaves[slot][0], self._of(slot))) for slot in order]
                value = self._is(kernel, operands, [leaves[slot][1] for slot in order], result.type, terms)
                if value is not None:
                    return Meaning(
                        self.isa,
                        self.instruction.name,
                        name,
                        dict(self.sizes),
                        tuple(operands),
                        result,
                        value,
                    )
        said = self.effect.terms.said(terms[tuple(0 for _ in shape)])
        raise self.fault(f"is none of {', '.join(KERNELS)}: its first element is {said}")

    def _is(
        self,
        kernel: Kernel,
        operands: Sequence[Operand],
        leaves: Sequence[Mapping[Place, Term]],
        result: Type,
        terms: Mapping[Place, Term],
    ) -> Node | None:
        builder = Builder()
        elements_of = [
            {place: (term, operand.type.number) for place, term in of.items()}
            for operand, of in zip(operands, leaves, strict=True)
        ]
        try:
            parameters = [
                builder.leaf("parameter", str(i), operand.type) for i, operand in enumerate(operands)
            ]
            value = kernel(builder.op, parameters, result.number)
            if value.type != result:
                return None
            elements = Elements(TermAlgebra(self.effect.terms), elements_of)
            last = tuple(size - 1 for size in result.shape)
            for place in dict.fromkeys([last, *product(*map(range, result.shape))]):
                if elements.at(value, place)[0] != terms[place]:
                    return None
        except (GraphError, KeyError):
            return None
        return value

    # --- shapes -------------------------------------------------------------------------------------------

    def _columns(self, slots: Sequence[Slot]) -> int:
        """Elements of a row: those of the device's memory."""
        device = [self.isa.memories[slot[0]] for slot in slots if not self.isa.memories[slot[0]].host]
        widths = {memory.shape[-1] for memory in device if len(memory.shape) == 2}
        if len(widths) != 1:
            raise self.fault(f"memories with rows of {sorted(widths)} elements")
        return widths.pop()

    def _number(self, slots: Sequence[Slot]) -> str:
        """Of the host's elements: that of the device's memories here, empty if these have several."""
        numbers = {self.all.numbers[name] for name, _ in slots if not self.isa.memories[name].host}
        return numbers.pop() if len(numbers) == 1 else ""

    def _of(self, slot: Slot) -> str:
        host = self.isa.memories[slot[0]].host
        if host and not self.number:
            raise self.fault("elements of several numbers, and which the host's are is not said")
        return self.number if host else self.all.numbers[slot[0]]

    def _bytes(self, memory: Memory) -> int:
        """Of an element, in the host's memory of bytes."""
        wide = {
            self.isa.memories[slot[0]].type.bits
            for slot in (*self.effect.read, *self.effect.written)
            if not self.isa.memories[slot[0]].host and slot[0] not in self.all.private
        }
        if len(wide) != 1 or memory.type.bits != 8:
            raise self.fault("elements of several widths")
        return wide.pop() // 8

    def _tensor(self, slot: Slot, of: Mapping[Place, Term]) -> tuple[tuple[int, ...], dict[Place, Term]]:
        """A slice as a tensor of rows; elements of the host are put together of bytes."""
        memory = self.isa.memories[slot[0]]
        if not memory.host:
            shape = tuple(1 + max(place[i] for place in of) for i in range(len(memory.shape)))
            if len(of) != prod(shape):
                raise self.fault(f"a slice of {memory.name} with gaps")
            return shape, dict(of)
        size = self._bytes(memory)
        count = len(of) // size
        if set(of) != {(i,) for i in range(count * size)} or count % self.columns:
            raise self.fault(f"a slice of {memory.name} that is no whole rows")
        parts = [[(of[i * size + j,], 8) for j in range(size)] for i in range(count)]
        terms = [self.effect.terms.cat(part) for part in parts]
        if number(self._of(slot)).kind == "integer":
            ends = np.iinfo(number(self._of(slot)).host)
            terms = [self.effect.terms.wrap(term, int(ends.min), int(ends.max)) for term in terms]
        return (count // self.columns, self.columns), {
            divmod(i, self.columns): term for i, term in enumerate(terms)
        }

    def _leaves(self, slot: Slot, places: set[Place]) -> tuple[tuple[int, ...], dict[Place, Term]]:
        make, kind = self.effect.terms.ranged, self.isa.memories[slot[0]].type
        return self._tensor(slot, {place: make(kind, "read", *slot, place) for place in places})
