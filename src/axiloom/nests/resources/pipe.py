"""What a pipe takes but for its operators and memories: counters, guards, delay lines, control."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil

from axiloom.hw.nest.access import code_bits
from axiloom.hw.nest.circuit import (
    Choose,
    Circuit,
    Condition,
    Constant,
    Counter,
    Operate,
    Pipe,
    Pop,
    Position,
    Push,
    Read,
    Write,
)
from axiloom.hw.nest.forms import place_values, varying
from axiloom.hw.nest.operators.formats import bits_of
from axiloom.hw.nest.rotation import Turn, turns
from axiloom.nests.resources.amount import Amount
from axiloom.nests.resources.forms import FormCount, bits_of_range
from axiloom.nests.resources.pieces import any_of, choice, delay
from axiloom.nests.resources.sampled import Asked, turning


def there(turn: Turn, bits: int, keys: Sequence[object], banks: int | None = None) -> int:
    """Shifters of accesses that turn together (`hw/nest/rotation.py`), LUTs from lanes to all banks, or to so
    many `banks`: none for what the lanes have in common."""
    if len(set(keys)) == 1:
        return 0
    return bits * (turn.count if banks is None else banks) * ceil(_stages(turn) / 2)


def back(turn: Turn, bits: int, offsets: Sequence[int]) -> int:
    """And from banks to the lanes at `offsets`: two stages, a choice among four, are one LUT."""
    wanted, lut = set(offsets), 0
    for stage in range(_stages(turn)):
        if stage % 2 == 0:
            lut += bits * len(wanted)
        wanted |= {(x + (1 << stage)) % turn.count for x in wanted}
    return lut


def _stages(turn: Turn) -> int:
    return (turn.count - 1).bit_length()


@dataclass(frozen=True)
class Request:
    """A node's access to the ports of `banks`: keys of its address, of what it writes, of when it is active
    and of what says which bank. `wires`: what each bit of the address is (`FormCount.wires`)."""

    pipe: str
    interval: int
    slot: int
    when: Condition
    banks: tuple[int, ...]
    address: object
    value: object
    active: object
    bank: object
    asked: Asked | None = None
    wires: tuple[object, ...] = ()

    @property
    def turn(self) -> int:
        return self.slot % self.interval


@dataclass
class Line:
    bits: int
    taps: set[int] = field(default_factory=set)


class PipeCount:
    """`requests`: of each memory, reads and writes. `units`: operands' keys and bits of each operator."""

    def __init__(self, circuit: Circuit, pipe: Pipe) -> None:
        self.circuit, self.pipe = circuit, pipe
        self.ranges = {counter.name: counter.range for counter in pipe.counters}
        self.forms = FormCount(self.ranges)
        self.lines: dict[object, Line] = {}
        self.reads: dict[str, list[Request]] = {}
        self.writes: dict[str, list[Request]] = {}
        self.units: dict[str, list[Operate]] = {}
        self.operands: dict[str, dict[int, list[object]]] = {}
        """Keys of what a unit takes in each turn."""
        self.pushed: dict[str, int] = {}
        self.choices = 0
        """LUTs of choices among values and of guards."""
        self._guards: set[object] = set()
        self._values: list[tuple[object, int, int]] = []
        """Key (None: a constant), bits, and the slot from which it is there."""
        self._accesses: dict[object, object] = {}
        self._turns = turns(circuit, pipe)
        self._turned: dict[tuple[type, str, int], list[tuple[Turn, Request]]] = {}
        for index, node in enumerate(pipe.nodes):
            self._values.append(self._node(index, node))
        for (kind, memory, _), members in self._turned.items():
            self._rotation(kind is Read, memory, members)
        self.counters = sum((self._counter(counter) for counter in pipe.counters), Amount())

    def parts(self) -> Mapping[str, Amount]:
        delays = sum((delay(line.bits, line.taps) for line in self.lines.values()), Amount())
        last, interval = self.pipe.last_slot, self.pipe.interval
        phase = (interval - 1).bit_length() if interval > 1 else 0
        left = (last - 1).bit_length() if last > 1 else 0
        fifos = {node.fifo for node in self.pipe.nodes if isinstance(node, (Pop, Push))}
        ends = sum(max(any_of(self.circuit.fifo(fifo).depth.bit_length()), 1) for fifo in fifos)
        control = Amount(lut=5 + phase + left + ends, ff=2 + last + phase + (phase > 0) + left)
        return {
            "counters": self.counters,
            "forms": Amount(lut=self.forms.lut),
            "guards": Amount(lut=self.choices),
            "delays": delays,
            "control": control,
        }

    def _counter(self, counter: Counter) -> Amount:
        low, high = counter.range
        if low == high:
            return Amount()
        bits = bits_of_range(counter.range)
        lut = 2
        uppers = [self.forms.form(piece.value) for piece in counter.upper]
        is_constant = len(counter.upper) == 1 and uppers[0][0] is None
        lut += any_of(bits) if is_constant else any_of(2 * bits)
        if len(counter.lower) > 1 or not counter.lower[0].value.is_constant:
            lut += 2 * bits
        for piece in (*counter.lower, *counter.upper):
            self.forms.holds(piece.when)
        lut += choice(bits, len(counter.upper), coded=False) + choice(bits, len(counter.lower), coded=False)
        return Amount(lut=lut, ff=bits)

    def _later(self, key: object, bits: int, cycles: int) -> object:
        if key is None or cycles <= 0:
            return key
        self.lines.setdefault(key, Line(bits)).taps.add(cycles)
        return (key, cycles)

    def _value(self, index: int, slot: int) -> object:
        key, bits, there = self._values[index]
        return self._later(key, bits, slot - there)

    def _active(self, condition: Condition, slot: int) -> None:
        key = self._later(self.forms.holds(condition), 1, slot)
        if key is not None and (key, slot) not in self._guards:
            self._guards.add((key, slot))
            self.choices += 1

    def _node(self, index: int, node: object) -> tuple[object, int, int]:
        match node:
            case Constant():
                return None, node.bits, 0
            case Position():
                key, bits = self.forms.form(node.value)
                return key, min(bits, node.bits), 0
            case Read():
                return self._read(index, node)
            case Write():
                self._active(node.when, node.slot)
                self._ask(index, node, self._request(node, self._value(node.value, node.slot), index))
                return None, 0, node.slot
            case Operate():
                unit = node.unit or f"node {index}"
                taken = [self._value(operand, node.slot) for operand in node.operands]
                self.units.setdefault(unit, []).append(node)
                self.operands.setdefault(unit, {})[node.slot % self.pipe.interval] = taken
                return ("unit", unit), bits_of(node.result), node.slot + node.latency
            case Choose():
                return self._choose(index, node)
            case Pop():
                self.forms.holds(node.when)
                return ("head", node.fifo), self.circuit.fifo(node.fifo).bits, 0
            case Push():
                if node.value is not None:
                    self._value(node.value, node.slot)
                self._active(node.when, node.slot)
                self.pushed[node.fifo] = self.pushed.get(node.fifo, 0) + 1
                return None, 0, node.slot
        raise TypeError(node)

    def _ask(self, index: int, node: Read | Write, request: Request) -> None:
        turn = self._turns.get(index)
        if turn is not None:
            members = self._turned.setdefault((type(node), node.memory, turn.group), [])
            members.append((turn, request))
            return
        (self.reads if isinstance(node, Read) else self.writes).setdefault(node.memory, []).append(request)
        if isinstance(node, Read):
            memory = self.circuit.memory(node.memory)
            self.choices += choice(memory.bits, len(request.banks), coded=True)

    def _rotation(self, reads: bool, name: str, members: list[tuple[Turn, Request]]) -> None:
        """A shifter each way; then each bank is asked by all of them as one. Arrays that get the same from
        the same lanes have one shifter."""
        memory, (turn, first) = self.circuit.memory(name), members[0]
        requests = [request for _, request in members]
        bits = (memory.depth - 1).bit_length()
        places = [request.asked.address for request in requests if request.asked]
        banks = turning([request for request, _ in members], places, self.ranges)
        shifted = [(1, "active", turn.count), (bits, "address", banks)]
        if reads:
            self.choices += back(turn, memory.bits, [request.offset for request, _ in members])
        else:
            shifted.append((memory.bits, "value", turn.count))
        for width, what, count in shifted:
            keys = [getattr(request, what) for request in requests]
            lanes = frozenset((request.offset, key) for (request, _), key in zip(members, keys, strict=True))
            shifter = ("shifter", turn.by, turn.count, first.slot, width, lanes)
            if shifter not in self._guards:
                self._guards.add(shifter)
                self.choices += there(turn, width, keys, count)
        for bank in turn.banks:
            key = ("turned", self.pipe.name, name, reads, turn.group, bank)
            at_bank = replace(first, banks=(bank,), address=key, value=key, active=key, bank=None)
            at_bank = replace(at_bank, asked=None, wires=())
            (self.reads if reads else self.writes).setdefault(name, []).append(at_bank)

    def _request(self, node: Read | Write, value: object, index: int) -> Request:
        memory, turn = self.circuit.memory(node.memory), self._turns.get(index)
        place = varying(node.bank, self.ranges)[0] if turn is None else turn.place
        banks = tuple(sorted(place_values(node.bank, self.ranges) & {*range(memory.banks)}))
        key, bits = self.forms.place(node.address)
        address = self._later(key, bits, node.slot)
        bank = None
        if len(banks) > 1:
            key, _ = self.forms.place(place)
            bits = len(code_bits(banks))
            bank = self._later(key, bits, node.slot)
            if isinstance(node, Read) and memory.latency:
                self._later(key, bits, node.slot + memory.latency)
        pipe, active = self.pipe, (self.pipe.name, self.forms.holds(node.when), node.slot)
        return Request(
            *(pipe.name, pipe.interval, node.slot, node.when, banks, address, value, active, bank),
            asked=Asked(node.bank, node.address, node.when, self.ranges),
            wires=self.forms.wires(node.address),
        )

    def _read(self, index: int, node: Read) -> tuple[object, int, int]:
        memory = self.circuit.memory(node.memory)
        key = (node.memory, node.bank, node.address, node.when, node.slot)
        if key not in self._accesses:
            if memory.external:
                self._active(node.when, node.slot)
            request = self._request(node, None, index)
            self._ask(index, node, request)
            is_wired = len(request.banks) == 1 and memory.ports == 1 and memory.latency
            self._accesses[key] = ("port", node.memory, request.banks) if is_wired else ("read", *key)
        return self._accesses[key], memory.bits, node.slot + memory.latency

    def _choose(self, index: int, node: Choose) -> tuple[object, int, int]:
        bits = max(self._values[option][1] for _, option in node.options)
        options = set()
        for when, option in node.options:
            options.add(self._value(option, node.slot))
            self._later(self.forms.holds(when), 1, node.slot)
        self.choices += choice(bits, len(options), coded=False)
        return ("node", index), bits, node.slot
