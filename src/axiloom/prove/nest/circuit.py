"""A circuit on terms: what it sends, cycle by cycle, for words that may be anything.

Control does not depend on data, so it is executed as it is, and data are terms
(:func:`axiloom.nests.timing.execute.execute`, which refuses what RTL would do wrong).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import z3

from axiloom.hw.nest.circuit import Circuit, Operate
from axiloom.isa.numerics.formats import format_of
from axiloom.nests.ports.packet import Packet
from axiloom.nests.timing.execute import Run, execute
from axiloom.prove.nest.program import Element, initial
from axiloom.prove.nest.terms import Meaning, Numbered, Term, operate

Beat = tuple[Element | None, ...]
"""What its lanes hold, the lowest first; None where a row has ended."""


def beats(packet: Packet) -> list[Beat]:
    """What each beat of a packet holds."""
    beats: list[Beat] = []
    for part in packet.parts:
        for row in range(part.rows):
            for beat in range(part.row_beats):
                lanes: list[Element | None] = []
                for lane in range(part.lanes):
                    column = beat * part.lanes + lane
                    flat = part.start + row * part.columns + column
                    lanes.append((part.array.name, _place(flat, part.array.shape)))
                    if column >= part.columns:
                        lanes[-1] = None
                beats.append(tuple(lanes))
    return beats


def _place(flat: int, shape: Sequence[int]) -> tuple[int, ...]:
    place = []
    for extent in reversed(shape):
        flat, last = divmod(flat, extent)
        place.append(last)
    return tuple(reversed(place))


def words(packet: Packet) -> list[list[Term]]:
    """The lanes of each beat that comes in, as terms; in a row's missing elements there is anything."""
    numbers = {part.array.name: part.array.number for part in packet.parts}
    width, bits = packet.parts[0].width, min(part.bits for part in packet.parts)
    terms = []
    for number, beat in enumerate(beats(packet)):
        size = width // len(beat)
        elements = [
            z3.BitVec(f"beat {number} lane {lane}", size)
            if element is None
            else initial(*element, numbers[element[0]])
            for lane, element in enumerate(beat)
        ]
        parts = range(0, size, bits)
        split = [z3.Extract(low + bits - 1, low, element) for element in elements for low in parts]
        terms.append(elements if size == bits else split)
    return terms


def elements(packet: Packet, sent: Sequence[Sequence[Term]]) -> dict[Element, Term]:
    """What a run has sent, of the lanes of its beats."""
    terms: dict[Element, Term] = {}
    for beat, lanes in zip(beats(packet), sent, strict=True):
        share = len(lanes) // len(beat)
        for number, element in enumerate(beat):
            some = lanes[number * share : (number + 1) * share]
            if element is not None:
                terms[element] = some[0] if share == 1 else z3.simplify(z3.Concat(*reversed(some)))
    return terms


def run(circuit: Circuit, packet: Packet, meaning: Meaning) -> tuple[Run, list[list[Term]]]:
    """A run as fast as it goes, and the lanes of each beat that comes out. Memories hold anything before.

    Raises ExecutionError where the circuit breaks a rule of its own.
    """
    table = Numbered()

    def operation(node: Operate, operands: Sequence[int]) -> int:
        bits = [format_of(node.number).bits] * len(operands)
        if node.operator == "select":
            bits[0] = 1
        terms = [table.term(operand, width) for operand, width in zip(operands, bits, strict=True)]
        return table.number(operate(node.operator, node.number, node.result, terms, meaning))

    memories = {
        memory.name: np.array(
            [
                [
                    table.number(z3.BitVec(f"{memory.name}.{bank}[{address}] before", memory.bits))
                    for address in range(memory.depth)
                ]
                for bank in range(memory.banks)
            ],
            object,  # the number of a term has more than 64 bits
        ).reshape(memory.banks, memory.depth)
        for memory in circuit.memories
    }
    lanes = list(zip(*words(packet), strict=True))
    inputs = {
        port.fifo: [table.number(term) for term in lane]
        for port, lane in zip(circuit.inputs, lanes, strict=True)
    }
    ran = execute(circuit, memories, operation, inputs)
    sent = [
        [table.term(number, circuit.fifo(port.fifo).bits) for number in ran.outputs[port.fifo]]
        for port in circuit.outputs
    ]
    return ran, [list(beat) for beat in zip(*sent, strict=True)]
