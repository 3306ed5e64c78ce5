"""What the nodes of pipes ask of a shared port, and which of them it serves in a cycle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from amaranth.hdl import Module, Mux, Signal, Value

from axiloom.hw.nest.circuit import Condition


@dataclass(frozen=True)
class Beat:
    """The interval of a pipe and where it stands: `phase` is the slot modulo `interval` that is executed.
    None where the interval is 1."""

    pipe: str
    interval: int
    phase: Value | None


@dataclass(frozen=True)
class Request:
    """`active` in a cycle in which the port must serve it; then no other is active, or one that asks for the
    same."""

    beat: Beat
    slot: int
    when: Condition
    active: Value
    values: tuple[Value, ...]
    """What goes to the port's inputs: address, data."""
    port: int | None = None
    """As a read of a circuit has it."""

    @property
    def turn(self) -> int:
        return self.slot % self.beat.interval


def exclude(condition: Condition, other: Condition) -> bool:
    """Two forms, one of each, are never both at least 0. (False where this small test cannot tell.)"""
    return any((a + b).is_constant and (a + b).constant < 0 for a in condition for b in other)


def meet(request: Request, other: Request) -> bool:
    """Both may be active in the same cycle, by what is known of one pipe. Requests of different pipes are
    kept apart by tokens."""
    same = request.beat.pipe == other.beat.pipe and request.turn == other.turn
    return same and not (request.slot == other.slot and exclude(request.when, other.when))


def choose(m: Module, requests: Sequence[Request], index: int) -> Value:
    """Input `index` for the request that is active; anything if none is.

    Turns of one pipe are chosen by its phase, which has fewer bits than there are requests; the others by
    who is active.
    """
    pipes: dict[str, list[Request]] = {}
    for request in requests:
        pipes.setdefault(request.beat.pipe, []).append(request)
    chosen = [
        (_or([request.active for request in mine]), _of_pipe(m, mine, index)) for mine in pipes.values()
    ]
    return _first_active(chosen)


def _of_pipe(m: Module, requests: list[Request], index: int) -> Value:
    turns: dict[int, list[tuple[Value, Value]]] = {}
    for request in requests:
        turns.setdefault(request.turn, []).append((request.active, request.values[index]))
    values = {turn: _first_active(mine) for turn, mine in sorted(turns.items())}
    phase = requests[0].beat.phase
    distinct = {id(value) for value in values.values()}
    if len(distinct) == 1 or phase is None:
        return values[min(values)]
    chosen = Signal(max(len(value) for value in values.values()), name=f"port_{requests[0].slot}")
    with m.Switch(phase):
        for turn, value in list(values.items())[:-1]:
            with m.Case(turn):
                m.d.comb += chosen.eq(value)
        with m.Default():
            m.d.comb += chosen.eq(values[max(values)])
    return chosen


def _first_active(choices: list[tuple[Value, Value]]) -> Value:
    result, known = choices[-1][1], choices[-1][1]
    for active, value in reversed(choices[:-1]):
        if value is not known:
            result = Mux(active, value, result)
            known = result
    return result


def _or(bits: list[Value]) -> Value:
    total = bits[0]
    for bit in bits[1:]:
        total = total | bit
    return total


def active(requests: Sequence[Request]) -> Value:
    """Any of them."""
    return _or([request.active for request in requests])
