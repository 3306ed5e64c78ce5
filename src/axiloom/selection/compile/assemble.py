"""`assemble`: commands with their words for what was chosen and placed, and the host's memory around them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axiloom.base.errors import CompileError
from axiloom.base.wording.names import free_name
from axiloom.graph.graph import Graph
from axiloom.isa.instructions.simulator.reference import Reference
from axiloom.isa.instructions.simulator.state import IllegalCommandError, State
from axiloom.selection.compile.cover import Cover, HostValue
from axiloom.selection.compile.layout import ALIGN, HostMemoryError, Layout, lay_out
from axiloom.selection.compile.offered import Steps
from axiloom.selection.compile.place import Placement
from axiloom.selection.compile.steps import Do
from axiloom.selection.compile.target import Target
from axiloom.selection.egraph.constants import Constants
from axiloom.selection.program.program import Command, HostArray, Program, array_bytes


def assemble(graph: Graph, covered: Cover, placement: Placement, target: Target) -> Program:
    """Raises CompileError for an address that the text does not take."""
    touched = [cell for step in placement.steps for cell in (*step.operands, step.result)]
    used = [eclass for eclass, memory in (*touched, *covered.results) if memory == target.host]
    inputs = {
        str(way.node.given["name"]): eclass
        for (eclass, _), way in covered.ways.items()
        if isinstance(way, HostValue) and not way.constant
    }
    names = [str(parameter.attributes["name"]) for parameter in graph.parameters]
    used = [*(inputs[name] for name in names if name in inputs), *used]
    layout = lay_out(covered, target, used, graph)
    values = Constants(covered.saturated, graph.constants)
    assembly = _Assembly(
        target, layout, Reference(target.isa, State(target.isa)), {array.name for array in layout.arrays}
    )
    commands = [command for step in placement.steps for command in assembly.commands(step)]
    commands += target.offers.last if target.offers is not None else ()
    constants: dict[str, NDArray[Any]] = dict(assembly.constants)
    for name, constant in layout.constants.items():
        value = values.value(constant)
        assert value is not None
        constants[name] = value
    return Program(
        target.isa.name, graph.name, tuple(commands), (*layout.arrays, *assembly.arrays), constants
    )


@dataclass
class _Assembly:
    target: Target
    layout: Layout
    reference: Reference
    names: set[str]
    arrays: list[HostArray] = field(default_factory=list)
    constants: dict[str, NDArray[Any]] = field(default_factory=dict)
    """Of blocks: micro-ops. Blocks with the same ones share them."""

    def commands(self, step: Do) -> Iterator[Command]:
        if self.target.offers is not None and isinstance(step.meaning, Steps):
            places = zip(step.operands, step.addresses, strict=True)
            operands = [self._where(cell[0], at) for cell, at in places]
            result = self._where(step.result[0], step.at)
            yield from step.meaning.moved(operands, result, self._micro_ops(step.meaning.micro_ops))
            return
        fields = dict(step.meaning.sizes)
        said = [
            *zip(step.meaning.operands, step.operands, step.addresses, strict=True),
            (step.meaning.result, step.result, step.at),
        ]
        for slice_, cell, at in said:
            where = self._where(cell[0], at)
            if slice_.field:
                fields[slice_.field] = where
            elif where:
                raise CompileError(f"{step.meaning.instruction} has its {slice_.memory} at 0, not at {where}")
        yield self._checked(Command(step.meaning.instruction, fields))

    def _where(self, eclass: int, at: int | None) -> int:
        return self.layout.addresses[eclass] if at is None else at

    def _checked(self, command: Command) -> Command:
        instruction = self.target.isa.instructions[command.instruction]
        fields = {let.name: command.fields.get(let.name, 0) for let in instruction.fields}
        try:
            self.reference.refuse(instruction, fields)
        except IllegalCommandError as error:
            raise CompileError(f"an address that was chosen is not legal: {error}") from None
        return Command(command.instruction, fields)

    def _micro_ops(self, words: NDArray[Any]) -> int:
        """Their first byte."""
        for array in self.arrays:
            if np.array_equal(self.constants[array.name], words):
                return array.base
        host, limit = self.target.host, self.target.size(self.target.host)
        end = max(
            (array.base + array_bytes(array) for array in (*self.layout.arrays, *self.arrays)), default=0
        )
        base = -(-end // ALIGN) * ALIGN
        if base + words.nbytes > limit:
            raise HostMemoryError(self.target.isa.name, host, base + words.nbytes, limit)
        name = free_name(f"uops{len(self.arrays)}", self.names)
        self.constants[name] = words
        self.arrays.append(HostArray(name, "constant", words.shape, words.dtype.name, base, host))
        return base
