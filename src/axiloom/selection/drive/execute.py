"""A program by the simulator of its text: no RTL, no driver, no plan."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from axiloom.base.errors import UsageError
from axiloom.graph.numbers import number
from axiloom.isa.instructions.simulator.simulate import Simulator
from axiloom.isa.instructions.tree import InstructionSet
from axiloom.selection.drive.encode import Encoder
from axiloom.selection.program.program import HostArray, Program, array_bytes

Values = dict[str, npt.NDArray[np.generic]]
Bytes = npt.NDArray[np.uint8]


def execute(program: Program, isa: InstructionSet, values: Values) -> Values:
    """Results of `program` by name; `values` are raw, of arrays that are given. UsageError for an array
    without values."""
    simulator, encoder = Simulator(isa), Encoder(isa)
    for array, data in initial_bytes(program, values):
        simulator.state[array.memory][array.base : array.base + len(data)] = data
    for command in program.commands:
        simulator.command(**encoder.inputs(command))
    return results(
        program,
        lambda array: simulator.state[array.memory][array.base : array.base + array_bytes(array)],
    )


def initial_bytes(program: Program, values: Values) -> Iterator[tuple[HostArray, Bytes]]:
    """The bytes of arrays that have some before the program runs."""
    for array in program.arrays:
        contents = program.constants.get(array.name) if array.role == "constant" else values.get(array.name)
        if contents is not None:
            yield array, np.ascontiguousarray(contents).view(np.uint8).ravel()
        elif array.role in ("in", "constant"):
            raise UsageError(f"{program.name}: {array.name} has no values")


def results(program: Program, held: Callable[[HostArray], npt.ArrayLike]) -> Values:
    """Arrays that are results, by name, from the bytes that each is `held` in."""
    return {
        array.name: np.asarray(held(array))
        .astype(np.uint8)
        .view(number(array.number).host)
        .reshape(array.shape)
        for array in program.arrays
        if array.role == "out"
    }
