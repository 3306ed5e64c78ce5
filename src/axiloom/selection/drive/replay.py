"""A program's plan on the simulator of its text, which has no byte of the host's but those that are sent.

What the DMA reads in a queue it may read as the queue opens: results must not depend on when.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from axiloom.isa.instructions.simulator.simulate import Simulator
from axiloom.isa.instructions.tree import InstructionSet
from axiloom.plan import Command, Plan, Receive, Region, Send, Words
from axiloom.plan.figures import in_order
from axiloom.selection.drive.encode import Encoder
from axiloom.selection.drive.execute import Bytes, Values, initial_bytes, results
from axiloom.selection.drive.host import access
from axiloom.selection.drive.plan import WORD, places
from axiloom.selection.program.program import Program, array_bytes


class Replay:
    """`values` are raw, of arrays that are given. UsageError for an array without values."""

    def __init__(self, program: Program, plan: Plan, isa: InstructionSet, values: Values) -> None:
        self.program, self.plan, self.isa = program, plan, isa
        self.encoder, self.simulator = Encoder(isa), Simulator(isa)
        self.memory = {array.name: np.zeros(array_bytes(array), np.uint8) for array in program.arrays}
        for array, data in initial_bytes(program, values):
            self.memory[array.name][:] = data

    def packets(self) -> Iterator[tuple[Command, bytes, bytes]]:
        """Each command with what is sent of it, and what the device stores: nothing, or a packet."""
        (host,) = {array.memory for array in self.program.arrays}
        for queue in self.plan.body:
            seen = {name: contents.copy() for name, contents in self.memory.items()}
            for command in in_order(Plan((queue,))):
                words = [word for move in command.moves if isinstance(move, Words) for word in move.values]
                payload = b"".join(_sent(move, seen) for move in command.moves if isinstance(move, Send))
                instruction, inputs = self.encoder.decoded([word for word in words if isinstance(word, int)])
                touched = access(self.isa, instruction, inputs)
                state = self.simulator.state[host]
                state[touched.reads] = np.frombuffer(payload, np.uint8)[: touched.reads.size]
                self.simulator.command(**inputs)
                packet = np.asarray(self.simulator.state[host])[touched.writes].astype(np.uint8)
                yield command, np.array(words, "<u4").tobytes() + payload, packet.tobytes()
                self._store(command, packet)

    def results(self) -> Values:
        """What is in the arrays that are results, by name."""
        return results(self.program, lambda array: self.memory[array.name])

    def _store(self, command: Command, packet: Bytes) -> None:
        for move in command.moves:
            if isinstance(move, Receive):
                for region in move.of or (move.region,):
                    at = places(region)
                    self.memory[str(region.array)][at], packet = np.split(packet, [at.size])


def _sent(move: Send, memory: dict[str, Bytes]) -> bytes:
    """Whole words: behind what is packed are zeros."""
    regions: Sequence[Region] = move.of or (move.region,)
    data = b"".join(memory[str(region.array)][places(region)].tobytes() for region in regions)
    return data + bytes(WORD * move.words - len(data))
