"""Rotations: lanes that reach bank (c + lane) mod B together, by one shifter for all of them.

A multiplexer of all banks for each lane takes lanes * B / 4 LUTs a bit; log2(B) stages of one choice between
two take lanes * log2(B) / 2, and reach the same banks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import gcd

from amaranth.hdl import Const, Module, Mux, Signal, Value

from axiloom.base.affine import Affine
from axiloom.hw.nest.circuit import Circuit, Pipe, Place, Read, Storage, Term, Write
from axiloom.hw.nest.forms import place_range
from axiloom.hw.nest.requests import exclude


@dataclass(frozen=True)
class Turn:
    """An access to bank ``first + step * ((by + offset) mod count)``, with others of its `group` (a number in
    its pipe), which differ in `offset` only. `by` is never negative."""

    group: int
    offset: int
    by: Affine
    first: int
    step: int
    count: int

    @property
    def place(self) -> Place:
        """``by mod count``."""
        return (Term(self.by, 1, 1, self.count),)

    @property
    def banks(self) -> tuple[int, ...]:
        return tuple(self.first + self.step * position for position in range(self.count))


def turns(circuit: Circuit, pipe: Pipe) -> dict[int, Turn]:
    """The nodes of `pipe`, by position, that reach their banks by rotations."""
    ranges = {counter.name: counter.range for counter in pipe.counters}
    memories = {memory.name: memory for memory in circuit.memories}
    groups: dict[object, list[dict[int, tuple[Read | Write, Turn]]]] = {}
    for index, node in enumerate(pipe.nodes):
        if not isinstance(node, Read | Write):
            continue
        memory = memories[node.memory]
        if memory.storage is Storage.REGISTERS and not memory.external:
            continue
        turn = _turn(node.bank, ranges)
        if turn is None or turn.banks[-1] >= memory.banks:
            continue
        port = node.port if isinstance(node, Read) else None
        key = (type(node), node.memory, port, node.slot, turn.by, turn.banks)
        there = groups.setdefault(key, [])
        mine = next((group for group in there if not _in_the_way(node, turn, group)), None)
        if mine is None:
            there.append(mine := {})
        mine[index] = (node, turn)
    by_node: dict[int, Turn] = {}
    several = [group for there in groups.values() for group in there]
    for number, group in enumerate(
        group for group in several if len({t.offset for _, t in group.values()}) > 1
    ):
        for index, (_, turn) in group.items():
            by_node[index] = Turn(number, turn.offset, turn.by, turn.first, turn.step, turn.count)
    return by_node


def _turn(place: Place, ranges: Mapping[str, tuple[int, int]]) -> Turn | None:
    moving = [term for term in place if not term.value.is_constant]
    if len(moving) != 1 or moving[0].divisor != 1 or moving[0].modulus < 2 or moving[0].factor < 1:
        return None
    (term,) = moving
    first = place_range([other for other in place if other is not term], {})[0]
    # Coefficients count modulo `modulus` only; those near 0 take the fewest bits.
    modulus = term.modulus
    near = [(name, (factor + modulus // 2) % modulus - modulus // 2) for name, factor in term.value.terms]
    # In steps of `apart`, lanes reach some of the banks only.
    apart = gcd(modulus, *(factor for _, factor in near))
    count, (offset, beside) = modulus // apart, divmod(term.value.constant % modulus, apart)
    if count == 1:
        return None
    by = Affine.sum([(name, factor // apart) for name, factor in near])
    by = by + -(by.range(ranges)[0] // count) * count
    return Turn(0, offset, by, first + term.factor * beside, term.factor * apart, count)


def _in_the_way(node: Read | Write, turn: Turn, group: Mapping[int, tuple[Read | Write, Turn]]) -> bool:
    """Another one goes to the same bank at the same time, to another address."""
    return any(
        other.offset == turn.offset and access.address != node.address and not exclude(access.when, node.when)
        for access, other in group.values()
    )


def to_banks(m: Module, name: str, values: Sequence[Value | None], by: Value) -> list[Value | None]:
    """Value x at position (x + by) mod ``len(values)``. None is where nothing comes from, and where nothing
    counts."""
    now, count = list(values), len(values)
    for stage in _stages(count, by):  # the short ones first: few lanes stay few for long
        step = 1 << stage
        now = [
            _choice(m, f"{name}_by_{step}_{x}", by[stage], now[(x - step) % count], now[x])
            for x in range(count)
        ]
    return now


def from_banks(
    m: Module, name: str, values: Sequence[Value], by: Value, wanted: Sequence[int]
) -> dict[int, Value]:
    """By position x, if it is `wanted`, value (x + by) mod ``len(values)``."""
    count = len(values)
    needed = [sorted(set(wanted))]
    stages = _stages(count, by)
    for stage in stages:
        needed.append(sorted({(x + move) % count for x in needed[-1] for move in (0, 1 << stage)}))
    now: dict[int, Value] = dict(enumerate(values))
    for stage in reversed(stages):
        step = 1 << stage
        now = {
            x: _signal(m, f"{name}_by_{step}_{x}", Mux(by[stage], now[(x + step) % count], now[x]))
            for x in needed[stage]
        }
    return now


def _stages(count: int, by: Value) -> range:
    return range(min((count - 1).bit_length(), len(by)))


def _choice(m: Module, name: str, bit: Value, high: Value | None, low: Value | None) -> Value | None:
    if high is None or low is None or high is low:
        return low if high is None else high
    if isinstance(high, Const) and isinstance(low, Const) and high.value == low.value:
        return high
    return _signal(m, name, Mux(bit, high, low))


def _signal(m: Module, name: str, value: Value) -> Signal:
    signal = Signal(value.shape(), name=name)
    m.d.comb += signal.eq(value)
    return signal
