"""The driver in C of a nest behind ports: a function with the arguments of the user's.

It comes twice: ``gemm(float alpha, float C[200][220], ...)``, and ``gemm_flat``, which takes a pointer to the
first element of each argument, of scalars too. With a DMA that has scatter-gather, arrays that lie in memory
as they travel are read and written in place; others, and all in the DMA's direct mode, go through its
windows.
"""

from __future__ import annotations

from axiloom.base.errors import CompileError
from axiloom.drivergen import Driver
from axiloom.drivergen.c.names import c_of_numpy, element_of, identifier
from axiloom.drivergen.c.reserved import taken
from axiloom.drivergen.nest.emit_rows import Array as DriverArray
from axiloom.drivergen.pipeline.of_plan import driver_of as of_plan
from axiloom.isa.contract.spec import Link
from axiloom.isa.contract.types import WORD_BITS
from axiloom.nests.ports.packet import Packet, Part
from axiloom.nests.program import Array, Program, Role
from axiloom.plan import Command, Plan, Queue, Receive, Region, Send
from axiloom.plan.tree import rows


def plan(inputs: Packet, outputs: Packet, link: Link) -> Plan:
    """One command: all that is given, then all results."""
    only = outputs.pieces[0] if len(outputs.pieces) == 1 else None
    receives = (
        Receive(_words(part), _region(part), add=False, in_place=part is only and part.in_place)
        for part in outputs.pieces
    )
    sends = (Send(_words(part), _region(part), in_place=part.in_place) for part in inputs.pieces)
    command = Command(link.name, (*receives, *sends))
    return Plan((Queue((command,)) if link.dma.scatter_gather else command,))


def _words(part: Part) -> int:
    return part.beats * part.width // WORD_BITS


def _region(part: Part) -> Region:
    size = part.columns * part.bits // 8
    return rows(part.array.name, part.start * part.bits // 8, size, part.rows, size)


def driver_of(program: Program, inputs: Packet, outputs: Packet, link: Link) -> Driver:
    """The driver of `link`, whose RTL takes and gives these packets, with its harness. CompileError for names
    that C or the runtime has already."""
    arguments = [array for array in program.arrays if array.role is not Role.LOCAL]
    for name in (program.name, *(array.name for array in arguments)):
        known = name == f"{program.name}_flat" or (name == program.name and taken(name))
        if known or identifier(name) != name:
            raise CompileError(
                f"{program.name}: `{name}` cannot be a name in the driver in C; give it another"
            )
    width = link.stream_width
    arrays = [
        DriverArray(
            array.name,
            identifier(array.name),
            element_of(Part(array, width).host),
            array.shape or (1,),
            array.role.value,
        )
        for array in arguments
    ]
    note = "\n".join(f"{title}: {_shapes(packet)}." for title, packet in (("In", inputs), ("Back", outputs)))
    driver = of_plan(f"{program.name}_flat", plan(inputs, outputs, link), arrays, link, note)
    plain = f"dma_status {program.name}({', '.join(_parameter(array, width) for array in arguments)})"
    pointers = ", ".join(map(_first, arguments))
    driver.c += f"\n{plain} {{ return {driver.function}({pointers}); }}\n"
    own = f"/* The same, with the arguments as they were written. */\n{plain};"
    own += f"\n#define {program.name}_init {driver.function}_init"
    driver.header = driver.header.replace("\n#endif", f"\n{own}\n\n#endif")
    return driver


def _parameter(array: Array, width: int) -> str:
    """As the user has it: scalars by value, but for one that is a result."""
    by_value = not array.shape and not array.role.is_result
    size = "" if by_value else "".join(f"[{n}]" for n in array.shape or (1,))
    return f"{c_of_numpy(Part(array, width).host.name)} {array.name}{size}"


def _first(array: Array) -> str:
    """A pointer to the first element, from an argument as the user has it."""
    if not array.shape:
        return array.name if array.role.is_result else f"&{array.name}"
    return f"&{array.name}{'[0]' * len(array.shape)}"


def _shapes(packet: Packet) -> str:
    arrays = [
        f"{part.array.name} {'x'.join(map(str, part.shape)) or '(scalar)'}" for part in packet.parts[:8]
    ]
    if len(packet.pieces) > len(arrays):
        arrays.append(f"and {len(packet.pieces) - len(arrays)} more")
    return f"{', '.join(arrays)}: {packet.beats} beats of {packet.parts[0].width} bits"
