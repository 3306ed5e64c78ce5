"""`replay`: a program's commands on memories whose contents are elements, not numbers.

What a command computes is its instruction's meaning, which this process derives from the text and compares
with it in every element; which rows it reads and writes is what its fields say. A command that reads what
nothing wrote, or writes over what it reads, is a fault.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from axiloom.base.errors import AxiloomError
from axiloom.graph.graph import Graph
from axiloom.graph.numbers import number
from axiloom.selection.machine.derive import Meaning, Meanings, Operand
from axiloom.selection.program.program import Command, HostArray, Program
from axiloom.selection.validate.elements import Elements, Ids
from axiloom.selection.validate.graphs import results

NOTHING = -1


class ProgramFaultError(AxiloomError):
    """A program that does not compute its application, with the first place where that shows."""

    exit_code = 5


class Replay:
    """Memories of elements; of bytes in the host's: eight numbers an element, its bytes."""

    def __init__(self, program: Program, meanings: Meanings, elements: Elements) -> None:
        self.program, self.meanings, self.elements = program, meanings, elements
        self.memories = {
            name: np.full(memory.shape, NOTHING, np.int64) for name, memory in meanings.isa.memories.items()
        }
        self.by_name = {array.name: array for array in program.arrays}

    def load(self, name: str, ids: Ids) -> None:
        array = self.by_name[name]
        size = number(array.number).host.itemsize
        spread = ids.reshape(-1, 1) * 8 + np.arange(size)
        self.memories[array.memory][array.base : array.base + spread.size] = spread.ravel()

    def array(self, array: HostArray) -> Ids:
        """What an array holds. ProgramFaultError for bytes that are no elements."""
        size = number(array.number).host.itemsize
        count = int(np.prod(array.shape, dtype=np.int64))
        held = self.memories[array.memory][array.base : array.base + size * count]
        return self._elements(held, size, f"array {array.name}").reshape(array.shape)

    def run(self) -> None:
        for place, command in enumerate(self.program.commands):
            try:
                self.command(command)
            except ProgramFaultError as error:
                raise ProgramFaultError(f"command {place}, {command.instruction}: {error}") from None

    def command(self, command: Command) -> None:
        meaning = self.meaning(command)
        fields = command.fields
        operands = [self.read(operand, fields) for operand in meaning.operands]
        for number_, operand in enumerate(meaning.operands):
            if number_ != meaning.in_place and self._overlap(operand, meaning.result, fields):
                raise ProgramFaultError(f"writes over what it reads in {operand.memory}")
        inputs = {str(i): ids for i, ids in enumerate(operands)}
        (result,) = results(self.elements, Graph(command.instruction, (), (meaning.value,)), inputs)
        self.write(meaning.result, fields, result)

    def meaning(self, command: Command) -> Meaning:
        meaning = self.meanings.of(command.instruction, command.fields)
        if isinstance(meaning, str):
            raise ProgramFaultError(f"it means nothing as a whole: {meaning}")
        return meaning

    # --- slices -------------------------------------------------------------------------------------------

    def _begin(self, operand: Operand, fields: Mapping[str, int]) -> int:
        return fields[operand.field] if operand.field else 0

    def _units(self, operand: Operand) -> int:
        if self.meanings.isa.memories[operand.memory].host:
            return operand.type.elements * number(operand.type.number).host.itemsize
        return operand.type.shape[0]

    def _overlap(self, operand: Operand, other: Operand, fields: Mapping[str, int]) -> bool:
        first, second = self._begin(operand, fields), self._begin(other, fields)
        apart = first + self._units(operand) <= second or second + self._units(other) <= first
        return operand.memory == other.memory and not apart

    def read(self, operand: Operand, fields: Mapping[str, int]) -> Ids:
        begin, memory = self._begin(operand, fields), self.memories[operand.memory]
        units = self._units(operand)
        if begin + units > len(memory):
            raise ProgramFaultError(
                f"reads {operand.memory}[{begin}:{begin + units}], which has {len(memory)}"
            )
        held = memory[begin : begin + units]
        where = f"{operand.memory}[{begin}:{begin + units}]"
        if self.meanings.isa.memories[operand.memory].host:
            return self._elements(held, number(operand.type.number).host.itemsize, where).reshape(
                operand.type.shape
            )
        held = held[:, : operand.type.shape[1]]
        if (held == NOTHING).any():
            raise ProgramFaultError(f"reads {where}, of which row {_first(held)} was never written")
        return held.copy()

    def _elements(self, held: Ids, size: int, where: str) -> Ids:
        if (held == NOTHING).any():
            raise ProgramFaultError(f"reads {where}, of which byte {_first(held)} was never written")
        rows = held.reshape(-1, size)
        ids = rows[:, 0] // 8
        if (rows != ids[:, None] * 8 + np.arange(size)).any():
            raise ProgramFaultError(f"reads {where} across elements")
        return ids

    def write(self, operand: Operand, fields: Mapping[str, int], ids: Ids) -> None:
        begin, memory, units = (
            self._begin(operand, fields),
            self.memories[operand.memory],
            self._units(operand),
        )
        if begin + units > len(memory):
            raise ProgramFaultError(
                f"writes {operand.memory}[{begin}:{begin + units}], which has {len(memory)}"
            )
        if self.meanings.isa.memories[operand.memory].host:
            size = number(operand.type.number).host.itemsize
            memory[begin : begin + units] = (ids.reshape(-1, 1) * 8 + np.arange(size)).ravel()
        else:
            memory[begin : begin + units, : operand.type.shape[1]] = ids


def _first(held: Ids) -> int:
    return int(np.argwhere(held == NOTHING)[0][0])


def replay(program: Program, graph: Graph, meanings: Meanings) -> bool:
    """Whether bits may differ: all is equal in real numbers, or exactly. Raises ProgramFaultError."""
    elements = Elements()
    run = Replay(program, meanings, elements)
    inputs: dict[str, Ids] = {}
    for node in graph.parameters:
        name = str(node.attributes["name"])
        inputs[name] = elements.fresh(node.type.shape)
        if name in run.by_name:
            run.load(name, inputs[name])
    for name, contents in program.constants.items():
        run.load(name, elements.literal(np.asarray(contents), run.by_name[name].number))
    expected = results(elements, graph, inputs)
    run.run()
    outs = [array for array in program.arrays if array.role == "out"]
    if len(outs) != len(expected):
        raise ProgramFaultError(f"{len(outs)} arrays come out, and there are {len(expected)} results")
    order = {out.name: out for out in outs}
    for name, ids in zip(graph.result_names, expected, strict=True):
        if name not in order:
            raise ProgramFaultError(f"no array {name} comes out")
        outputs = run.array(order[name])
        if outputs.shape != ids.shape or (outputs != ids).any():
            where = (
                tuple(int(i) for i in np.argwhere(outputs != ids)[0]) if outputs.shape == ids.shape else ()
            )
            raise ProgramFaultError(f"{name}{list(where)} is another value than in the application")
    return elements.reals
