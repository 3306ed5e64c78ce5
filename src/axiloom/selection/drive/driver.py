"""The driver of a program's plan: a function with a pointer for each array that is given or is a result.

Constants and what is only passed from command to command are arrays of the driver.
"""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import i32

from axiloom.base.errors import CompileError
from axiloom.drivergen.c.driver import Driver
from axiloom.drivergen.c.names import element_of, identifier
from axiloom.drivergen.c.reserved import taken
from axiloom.drivergen.nest.emit_rows import Array, own
from axiloom.drivergen.pipeline.of_plan import driver_of
from axiloom.graph.numbers import number
from axiloom.isa import Link
from axiloom.plan import Plan
from axiloom.plan.figures import moves
from axiloom.selection.drive.plan import Own
from axiloom.selection.program.program import HostArray, Program, array_bytes

_KINDS = {"in": "in", "out": "out", "constant": "k", "local": "local"}


def driver(program: Program, plan: Plan, link: Link) -> Driver:
    """The driver with its harness. Raises CompileError for a name that C has already."""
    if (whose := taken(program.name)) is not None:
        raise CompileError(f"{program.name}: {whose}; give the program another name")
    name = identifier(program.name)
    names = {
        array.name: f"{_KINDS[array.role]}{place}_{identifier(array.name)}"
        for place, array in enumerate(program.arrays)
    }
    apart: dict[Own, int] = {}
    for move in moves(plan.body):
        if isinstance(place := move.region.array, Own):
            span = move.region.spans[1]
            apart[place] = max(apart.get(place, 0), span.base + span.tile)
    arrays = [_array(program, array, names[array.name]) for array in program.arrays]
    arrays += [own(place, place.value, size) for place, size in apart.items()]
    if any(array.name in (name, f"{name}_init") for array in arrays):
        raise CompileError(
            f"{program.name}: an array of its driver has that name; give the program another name"
        )
    exchanged = (array for array in program.arrays if array.role in ("in", "out"))
    shapes = "; ".join(
        f"{array.name} {'x'.join(map(str, array.shape))} {array.number}" for array in exchanged
    )
    return driver_of(name, plan, arrays, link, f"{shapes}. Each begins on a cache line and shares none.")


def _array(program: Program, array: HostArray, name: str) -> Array:
    size = array_bytes(array)
    if array.role == "local":
        return own(array.name, name, size)
    if array.role != "constant":
        return Array(array.name, name, element_of(number(array.number).host), array.shape or (1,), array.role)
    values = program.constants.get(array.name)
    if values is None:
        raise CompileError(f"{program.name}: constant {array.name} has no values")
    data = np.ascontiguousarray(values).tobytes()
    if len(data) != size:
        raise CompileError(f"{program.name}: constant {array.name} has {len(data)} bytes, not {size}")
    words = np.frombuffer(data + bytes(-size % 4), "<i4")
    return Array(array.name, name, i32, words.shape, values=words.tolist())
