"""A program by the simulator of its text: no RTL, no driver, no plan."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from axiloom.base.errors import UsageError
from axiloom.graph.numbers import number
from axiloom.isa.instructions.simulator.simulate import Simulator
from axiloom.isa.instructions.tree import InstructionSet
from axiloom.selection.drive.encode import Encoder
from axiloom.selection.program.program import Program, array_bytes

Values = dict[str, npt.NDArray[np.generic]]


def execute(program: Program, isa: InstructionSet, values: Values) -> Values:
    """Results of `program` by name; `values` are raw, of arrays that are given."""
    simulator, encoder = loaded(program, isa, values), Encoder(isa)
    for command in program.commands:
        simulator.command(**encoder.inputs(command))
    return results(program, simulator)


def loaded(program: Program, isa: InstructionSet, values: Values) -> Simulator:
    """A simulator whose host memory has all that is given. UsageError for an array without values."""
    simulator = Simulator(isa)
    for array in program.arrays:
        contents = program.constants.get(array.name) if array.role == "constant" else values.get(array.name)
        if contents is not None:
            data = np.ascontiguousarray(contents).view(np.uint8).ravel()
            simulator.state[array.memory][array.base : array.base + len(data)] = data
        elif array.role in ("in", "constant"):
            raise UsageError(f"{program.name}: {array.name} has no values")
    return simulator


def results(program: Program, simulator: Simulator) -> Values:
    """What is in the arrays that are results, by name."""
    values: Values = {}
    for array in program.arrays:
        if array.role == "out":
            raw = simulator.state[array.memory][array.base : array.base + array_bytes(array)]
            host = number(array.number).host
            values[array.name] = np.asarray(raw).astype(np.uint8).view(host).reshape(array.shape)
    return values
