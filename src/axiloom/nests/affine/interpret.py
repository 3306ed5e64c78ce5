"""`interpret`: what a program, a schedule or IR computes, on NumPy arrays, bit for bit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp

from axiloom.base.errors import UsageError
from axiloom.isa.numerics.formats import Kind, format_of
from axiloom.nests.affine import compiled, oracle
from axiloom.nests.affine.build import build
from axiloom.nests.affine.c_code import ENTRY, c_code
from axiloom.nests.affine.walk import Memory, function
from axiloom.nests.program import Array, Program
from axiloom.nests.schedule import Schedule

Host = npt.NDArray[Any]
FEW = 5_000
"""Instances below which Python is done before a C compiler has started."""


class Executable:
    """IR, compiled once and run on any number of inputs."""

    def __init__(self, module: ModuleOp) -> None:
        source = function(module)
        self.memories = tuple(source.memories.values())
        self.name = source.name
        self.code = c_code(module)

    def __call__(self, arrays: Mapping[str, Host]) -> dict[str, Host]:
        """As :func:`interpret`."""
        held = held_in(self.memories, self.name, arrays)
        compiled.call(compiled.library(self.code), ENTRY, list(held.values()))
        return {memory.name: held[memory.name] for memory in self.memories if memory.role.is_result}


def interpret(
    source: Program | Schedule | ModuleOp, arrays: Mapping[str, Host], *, by: str | None = None
) -> dict[str, Host]:
    """The arrays that result, by name; `arrays` are those that the caller gives, and stay as they are.

    Instances are executed in the schedule's order (a program's: as it was written), lanes in order. Arrays
    that are not given are zero at the start. Fixed-point is in units. `by` is ``"c"``, by way of the IR and
    the host's compiler; ``"python"``, without either (not for IR); None: the faster one.

    Raises UsageError for arrays that do not fit, BuildError if there is no C compiler where one is needed.
    """
    if isinstance(source, ModuleOp):
        return Executable(source)(arrays)
    if by is None:
        by = "python" if not compiled.available() or _few(source) else "c"
    if by == "c":
        return Executable(build(source))(arrays)
    program = source if isinstance(source, Program) else source.program
    for array in program.arrays:
        if array.role.is_given:
            checked(
                program.name, array.copy_of or array.name, array.shape, format_of(array.number).numpy, arrays
            )
    return oracle.execute(source, arrays)


def _few(source: Program | Schedule) -> bool:
    schedule = Schedule.of(source) if isinstance(source, Program) else source
    total = 0
    for statement in schedule.statements:
        total += oracle.box(statement.domain, statement.loops)
        if total > FEW:
            return False
    return True


def held_in(memories: Sequence[Memory], program: str, arrays: Mapping[str, Host]) -> dict[str, Host]:
    """What is in them before the program, by name: copies of the caller's arrays, and zeros."""
    held = {}
    for memory in memories:
        kind = format_of(memory.number).numpy
        if memory.role.is_given:
            array = checked(program, memory.given_as, memory.shape, kind, arrays)
            held[memory.name] = np.array(array, kind, order="C")
        else:
            held[memory.name] = np.zeros(memory.shape, kind)
    return held


def checked(
    program: str, name: str, shape: tuple[int, ...], kind: np.dtype[Any], arrays: Mapping[str, Host]
) -> Host:
    """The array that is given, if it fits."""
    if name not in arrays:
        raise UsageError(f"{program}: array {name} is not given")
    array = np.asarray(arrays[name])
    if array.shape != shape or array.dtype != kind:
        raise UsageError(f"{program}: array {name} is {kind} {shape}, not {array.dtype} {array.shape}")
    return array


def random_arrays(program: Program, rng: np.random.Generator) -> dict[str, Host]:
    """Test data for each array that the caller gives: integers over the whole range, floats from -1 to 1."""
    return {
        array.name: random_array(array, rng)
        for array in program.arrays
        if array.role.is_given and not array.copy_of
    }


def random_array(array: Array, rng: np.random.Generator) -> Host:
    format = format_of(array.number)
    if format.kind is Kind.FLOAT:
        return rng.uniform(-1, 1, array.shape).astype(format.numpy)
    return np.asarray(rng.integers(format.lowest, format.highest, array.shape, format.numpy, endpoint=True))
