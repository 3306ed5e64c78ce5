"""What a circuit takes, in parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from axiloom.hw.nest.circuit import Circuit, Fifo, Memory, Operate, Storage
from axiloom.hw.nest.operators import Cost, operator
from axiloom.nests.resources.amount import Amount
from axiloom.nests.resources.pieces import any_of, block_ram, choice, lut_ram
from axiloom.nests.resources.pipe import PipeCount, Request

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
        for nodes in count.units.values():
            one = of_operator(nodes[0])
            add("operators", Amount(one.dsp, one.lut, one.ff))
            add("shared operands", Amount(lut=_operands(nodes)))
    resident = Amount()
    for memory in circuit.memories:
        add("ports", Amount(lut=_ports(memory, counts)))
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


def _operands(nodes: list[Operate]) -> int:
    """LUTs that choose whose operands a shared operator takes."""
    if len(nodes) == 1:
        return 0
    one = nodes[0]
    bits = operator(one.operator, one.number, one.result, one.latency).operand_bits
    different = [len({node.operands[place] for node in nodes}) for place in range(len(bits))]
    return sum(choice(width, count, coded=True) for width, count in zip(bits, different, strict=True))


def _ports(memory: Memory, counts: list[PipeCount]) -> int:
    """LUTs between the accesses and each bank's ports."""
    lut = 0
    address_bits = max((memory.depth - 1).bit_length(), 1)
    reads = [one for count in counts for one in count.reads.get(memory.name, ())]
    writes = [one for count in counts for one in count.writes.get(memory.name, ())]
    for bank in range(memory.banks):
        mine = [one for one in reads if bank in one.banks]
        if memory.storage is not Storage.REGISTERS or memory.external:
            lut += _chosen(mine, address_bits, lambda one: one.address)
        elif memory.depth > 1:
            known = {one.address for one in mine if one.address is not None}
            lut += len(known) * choice(memory.bits, memory.depth, coded=True)
        mine = [one for one in writes if bank in one.banks]
        lut += _chosen(mine, address_bits, lambda one: one.address)
        lut += _chosen(mine, memory.bits, lambda one: one.value)
        lut += sum(len(one.banks) > 1 for one in mine) + any_of(len(mine))
        if mine and memory.storage is Storage.REGISTERS and not memory.external:
            lut += memory.depth if memory.depth > 1 else 0
    return lut


def _chosen(requests: list[Request], bits: int, of: Callable[[Request], object]) -> int:
    """LUTs of one input of a port: those in turn by their pipe's phase, others by who is active."""
    pipes: dict[str, dict[int, set[object]]] = {}
    for one in requests:
        pipes.setdefault(one.pipe, {}).setdefault(one.slot % one.interval, set()).add(of(one))
    lut = 0
    for turns in pipes.values():
        lut += sum(choice(bits, len(keys), coded=False) for keys in turns.values())
        lut += choice(bits, len({frozenset(keys) for keys in turns.values()}), coded=True)
    return lut + choice(bits, len(pipes), coded=False)


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
