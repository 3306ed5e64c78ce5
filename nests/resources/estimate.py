"""What a circuit takes, in parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
        for unit, nodes in count.units.items():
            one = of_operator(nodes[0])
            add("operators", Amount(one.dsp, one.lut, one.ff))
            add("shared operands", Amount(lut=_operands(nodes[0], count.operands[unit])))
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


def _operands(one: Operate, turns: Mapping[int, list[object]]) -> int:
    """LUTs that choose whose operands a shared operator takes."""
    bits = operator(one.operator, one.number, one.result, one.latency).operand_bits
    return sum(
        in_turn(width, {turn: keys[place] for turn, keys in turns.items()})
        for place, width in enumerate(bits)
    )


def _storage(memory: Memory) -> Amount:
    if memory.storage is Storage.REGISTERS:
        return Amount(ff=memory.bits * memory.depth * memory.banks)
    kind = block_ram if memory.storage is Storage.BLOCK else lut_ram
    return kind(memory.bits, memory.depth, memory.ports) * memory.banks


def _fifo(fifo: Fifo, pushes: int) -> Amount:
    """Two counters of places, and pointers where there are elements."""
    bits = fifo.depth.bit_length()
    found = Amount(lut=2 * (2 * bits + 1) + 2 + choice(fifo.bits, pushes, coded=False), ff=2 * bits)
    if fifo.bits == 0 or fifo.depth == 1:
        return found + Amount(ff=fifo.bits)
    pointer = (fifo.depth - 1).bit_length()
    found = found + Amount(lut=3 * pointer, ff=2 * pointer)
    if fifo.depth <= _FIFO_DISTRIBUTED:
        return found + lut_ram(fifo.bits, fifo.depth, 1)
    return found + block_ram(fifo.bits, fifo.depth, 1) + Amount(lut=fifo.bits + pointer, ff=fifo.bits + 1)
