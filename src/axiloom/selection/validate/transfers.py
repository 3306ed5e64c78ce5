"""Whether a plan makes a device execute its program: what it sends is decoded again, and its regions counted.

A program is validated as commands, one after the other, on the bytes of the host's memory. The same commands
on the same bytes give the same, if no byte is fetched before it is stored: so the verdict holds for the plan.
Planner and check both ask `access` which bytes a command touches; the replay on the text's simulator shows
that it is right.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from axiloom.isa.instructions.simulator.reference import Reference
from axiloom.isa.instructions.simulator.state import State
from axiloom.isa.instructions.tree import InstructionSet
from axiloom.plan import Command, Plan, Receive, Send, Words
from axiloom.plan.figures import in_order
from axiloom.selection.drive import plan as plans
from axiloom.selection.drive.encode import Encoder
from axiloom.selection.drive.host import access
from axiloom.selection.drive.tokens import tokened
from axiloom.selection.program.program import Program
from axiloom.selection.validate.replay import ProgramFaultError

Addresses = npt.NDArray[np.int64]


def plan(program: Program, isa: InstructionSet, stream_width: int = 64) -> Plan:
    """The plan of a program, checked. Raises CompileError for a program that has none."""
    transfers = plans.plan(program, isa, stream_width)
    check(transfers, program, isa)
    return transfers


def check(transfers: Plan, program: Program, isa: InstructionSet) -> None:
    """Raises ProgramFaultError, which names the first command that is sent otherwise."""
    encoder, reference = Encoder(isa), Reference(isa, State(isa))
    base = {array.name: array.base for array in program.arrays}
    expected = iter(tokened(program, isa).commands)
    size = next(memory.shape[0] for memory in isa.memories.values() if memory.host)
    for queue in transfers.body:
        stored = np.zeros(size, bool)  # since the queue opened, where the DMA may fetch ahead
        for number, command in enumerate(in_order(Plan((queue,)))):
            where = f"{program.name}: transfer {number} of its queue, {command.opcode}"
            words = [word for move in command.moves if isinstance(move, Words) for word in move.values]
            name, inputs = encoder.decoded([word for word in words if isinstance(word, int)])
            wanted = next(expected, None)
            known = dict(inputs)
            for let in isa.instructions[name].fields:
                known[let.name] = reference.value(let.value, known)
            if wanted is None or name != wanted.instruction or not wanted.fields.items() <= known.items():
                raise ProgramFaultError(f"{where}: its words are {name}, and the program's is {wanted}")
            touched = access(isa, name, inputs)
            for moves, addresses in ((Send, touched.reads), (Receive, touched.writes)):
                if not np.array_equal(_addresses(command, moves, base), addresses):
                    raise ProgramFaultError(f"{where}: other bytes of the host than the command's")
                if stored[addresses].any():
                    raise ProgramFaultError(f"{where}: bytes that are stored in the same queue")
            stored[touched.writes] = True
    if (wanted := next(expected, None)) is not None:
        raise ProgramFaultError(f"{program.name}: {wanted} is not sent")


def _addresses(command: Command, kind: type[Send] | type[Receive], base: dict[str, int]) -> Addresses:
    """Bytes of the host's memory, in the order in which they travel."""
    regions = [
        region for move in command.moves if isinstance(move, kind) for region in move.of or (move.region,)
    ]
    parts: Sequence[Addresses] = [base[str(region.array)] + plans.places(region) for region in regions]
    return np.concatenate([np.zeros(0, np.int64), *parts])
