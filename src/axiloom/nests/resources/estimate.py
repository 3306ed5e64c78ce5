"""What a circuit takes, in parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from axiloom.hw.nest.circuit import Circuit, Fifo, Memory, Operate, Storage
from axiloom.hw.nest.operators import Cost, operator
from axiloom.nests.resources.amount import Amount
from axiloom.nests.resources.pieces import any_of, block_ram, choice, in_turn, lut_ram
from axiloom.nests.resources.pipe import PipeCount
from axiloom.nests.resources.ports import ports

CYCLE_BITS = 48
_FIFO_DISTRIBUTED = 64
"""As `hw/nest/fifo.py`: a FIFO with more places is in block RAM."""

_SHORT = 2
"""Counters of so many bits are no carry chains."""

OfOperator = Callable[[Operate], Cost]


@dataclass(frozen=True)
class Estimate:
    """`parts` by what they are for; `resident` are the arrays of the caller, in the banks the circuit wants,
    which are not part of it."""

    parts: dict[str, Amount]
    resident: Amount

    @property
    def total(self) -> Amount:
        return sum(self.parts.values(), Amount())


def cost(node: Operate) -> Cost:
    return operator(node.operator, node.number, node.result, node.latency).cost


def estimate(circuit: Circuit, of_operator: OfOperator = cost) -> Estimate:
    """Raises UsageError for an operator whose cost is not known."""
    parts: dict[str, Amount] = {}

    def add(name: str, amount: Amount) -> None:
        parts[name] = parts.get(name, Amount()) + amount

    counts = [PipeCount(circuit, pipe) for pipe in circuit.pipes]
    for count in counts:
        for name, amount in count.parts().items():
            add(name, amount)
        for nodes in count.units.values():
            unit = of_operator(nodes[0])
            add("operators", Amount(unit.dsp, unit.lut, unit.ff))
        add("shared operands", Amount(lut=_operands(count)))
    resident = Amount()
    for memory in circuit.memories:
        add("ports", Amount(lut=ports(memory, counts)))
        if memory.external:
            resident = resident + _storage(memory)
        else:
            add("memories", _storage(memory))
    for fifo in circuit.fifos:
        pushes = sum(count.pushed.get(fifo.name, 0) for count in counts)
        add("fifos", _fifo(fifo, pushes))
    for port in (*circuit.inputs, *circuit.outputs):
        bits = port.elements.bit_length()
        add("streams", Amount(lut=bits + any_of(bits) + 4, ff=bits))
    add("control", Amount(lut=4 + len(circuit.pipes), ff=CYCLE_BITS + 2 + len(circuit.pipes)))
    return Estimate(parts, resident)


def _operands(count: PipeCount) -> int:
    """LUTs that choose whose operands shared operators take; several may take the same."""
    choices: dict[object, int] = {}
    for unit, (node, *_) in count.units.items():
        bits = operator(node.operator, node.number, node.result, node.latency).operand_bits
        turns = count.operands[unit]
        for place, width in enumerate(bits):
            keys = {turn: operands[place] for turn, operands in turns.items()}
            choices[frozenset(keys.items())] = in_turn(width, keys)
    return sum(choices.values())


def _storage(memory: Memory) -> Amount:
    if memory.storage is Storage.REGISTERS:
        return Amount(ff=memory.bits * memory.depth * memory.banks)
    kind = block_ram if memory.storage is Storage.BLOCK else lut_ram
    return kind(memory.bits, memory.depth, memory.ports) * memory.banks


def _fifo(fifo: Fifo, pushes: int) -> Amount:
    """Two counters of places, and pointers where there are elements. What asks whether a counter is 0 is
    counted in the pipe that waits for it."""
    bits = fifo.depth.bit_length()
    # Up, down and to a start: a LUT a bit before the carry chain, and one for what comes into it.
    counters = 2 * (bits + (bits > _SHORT))
    total = Amount(lut=counters + choice(fifo.bits, pushes, coded=False), ff=2 * bits)
    if fifo.bits == 0 or fifo.depth == 1:
        return total + Amount(ff=fifo.bits)
    pointer = (fifo.depth - 1).bit_length()
    total = total + Amount(lut=2 * _pointer(fifo.depth), ff=2 * pointer)
    if fifo.depth <= _FIFO_DISTRIBUTED:
        return total + lut_ram(fifo.bits, fifo.depth, 1)
    # A cycle ahead: the next place where it is no carry chain's, whether it is the one that is written, and
    # the choice of what was written beside.
    ahead = pointer if fifo.depth & (fifo.depth - 1) else 0
    beside = fifo.bits + ahead + any_of(2 * pointer) + 1
    return total + block_ram(fifo.bits, fifo.depth, 1) + Amount(lut=beside, ff=fifo.bits + 1)


def _pointer(depth: int) -> int:
    """LUTs of a pointer that goes round. Its step comes in as the chain's carry, so that its bits need none;
    the end is a reset of the flip-flops, where it is not that of its bits."""
    bits = (depth - 1).bit_length()
    if depth & (depth - 1):
        return 1 + any_of(bits + 1)
    return 1 if bits > _SHORT else bits
