"""`Meaning`: what an instruction of a text does, in the hardware's words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from axiloom.hw.command.same import Same
from axiloom.isa.instructions.tree import Expr, Function, Instruction, InstructionSet, Let, Memory
from axiloom.isa.instructions.walk import substituted


@dataclass(frozen=True)
class Meaning:
    """`instruction` is what the unit `unit` is described to do. By the description's names: the text's
    `memories` and `functions`, and of its fields `values`, expressions of the command's words, and
    `in_fields`, the same in the instruction's fields."""

    instruction: str
    unit: str
    memories: Mapping[str, Memory]
    functions: Mapping[str, Function]
    values: Mapping[str, Expr]
    in_fields: Mapping[str, Expr]

    def place(self, memory: str) -> str:
        """The text's name of what the description calls `memory`."""
        return self.memories[memory].name


def meaning_of(instruction: Instruction, units: Iterable[Instruction]) -> Meaning | None:
    """By the first of the descriptions `units` whose statements are those of `instruction` but for names.
    Memories of the host are none of the hardware's."""
    for unit in units:
        same = Same({let.name for let in unit.fields})
        if same.everything(unit.body, instruction.body):
            memories = {name: memory for name, memory in same.memories.items() if not memory.host}
            values = {name: _of_words(expr, instruction.fields) for name, expr in same.values.items()}
            return Meaning(instruction.name, unit.name, memories, same.functions, values, same.values)
    return None


def meanings(
    isa: InstructionSet,
    units: Mapping[str, Instruction],
    faults: list[str],
    meaning: Callable[[Instruction, Iterable[Instruction]], Meaning | None] = meaning_of,
) -> Iterator[tuple[str, Meaning]]:
    """Each instruction's ``FILE:LINE: NAME`` and `meaning`; `faults` gets a line for those that have none."""
    for instruction in isa.instructions.values():
        where = f"{isa.place}:{instruction.line}"
        if (said := meaning(instruction, units.values())) is not None:
            yield f"{where}: {instruction.name}", said
        else:
            faults.append(f"{where}: no unit does what {instruction.name} does; there are {', '.join(units)}")


def _of_words(expr: Expr, fields: tuple[Let, ...]) -> Expr:
    """The same, of the command's words alone: equal fields of two instructions are equal."""
    known: dict[str, Expr] = {}
    for let in fields:
        known[let.name] = substituted(let.value, lambda local: known.get(local.name, local))
    return substituted(expr, lambda local: known.get(local.name, local))
