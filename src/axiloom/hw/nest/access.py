"""Accesses of pipes to a memory, one by one or turned together, as what each bank is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from amaranth.hdl import Cat, Const, Module, Value

from axiloom.hw.nest.requests import Request, active, choose
from axiloom.hw.nest.rotation import Turn, from_banks, to_banks


@dataclass
class Access:
    """A read or write of a pipe: `banks` are those it may reach; ``bank + beside``, in bits of their own,
    says which; with a `turn`, `bank` is by how much its group turns. `then`: `bank` when a read's answer is
    there. `request.values` are the address, and what is written.
    """

    request: Request
    banks: tuple[int, ...]
    bank: Value
    name: str
    then: Value | None = None
    beside: int = 0
    turn: Turn | None = None
    answers: dict[int, Value] = field(default_factory=dict)

    def at(self, bank: int) -> Request:
        """What it asks of one bank."""
        request = self.request
        if len(self.banks) == 1:
            return request
        is_there = self.code(self.bank) == self.code_of(bank)
        return replace(request, active=request.active & is_there)

    def code(self, bank: Value) -> Value:
        """The bits of `bank` that tell its banks apart."""
        return Cat(*(bank[place] for place in code_bits(self.banks)))

    def code_of(self, bank: int) -> int:
        places = code_bits(self.banks)
        return sum((bank - self.beside >> place & 1) << at for at, place in enumerate(places))


def code_bits(banks: Sequence[int]) -> list[int]:
    """Places of the bits in which `banks` differ."""
    differ = 0
    for bank in banks:
        differ |= bank ^ banks[0]
    return [place for place in range(differ.bit_length()) if differ >> place & 1]


class Rotation:
    """Accesses of a group that turns: for the ports, one access to each of its banks."""

    def __init__(self, accesses: list[Access]) -> None:
        self.accesses = accesses
        first = accesses[0]
        self.banks, self._by, self._name = first.banks, first.bank, first.name
        self._then = first.bank if first.then is None else first.then
        self.answers: dict[int, Value] = {}
        self._asked: list[Request] = []

    def turn(self, m: Module) -> None:
        """From lanes to banks. Then :meth:`at` knows."""
        lanes: dict[int, list[Request]] = {}
        for access in self.accesses:
            assert access.turn is not None
            lanes.setdefault(access.turn.offset, []).append(access.request)
        never = Const(0, 1)
        request = self.accesses[0].request
        on = [active(lanes[bank]) if bank in lanes else never for bank in range(len(self.banks))]
        turned = [to_banks(m, f"{self._name}_on", on, self._by)]
        for index in range(len(request.values)):
            values = [choose(m, lanes[bank], index) if bank in lanes else None for bank in range(len(on))]
            turned.append(to_banks(m, f"{self._name}_{('address', 'data')[index]}", values, self._by))
        common = set(request.when).intersection(*(access.request.when for access in self.accesses))
        when = tuple(form for form in request.when if form in common)
        self._asked = [
            Request(
                *(request.beat, request.slot, when, active_),
                tuple(Const(0, 1) if x is None else x for x in values),
                request.port,
            )
            for active_, *values in zip(*turned, strict=True)
            if active_ is not None
        ]

    def at(self, bank: int) -> Request:
        return self._asked[self.banks.index(bank)]

    def answer(self, m: Module) -> dict[int, Value]:
        """From banks to lanes: the value by offset."""
        offsets = [access.turn.offset for access in self.accesses if access.turn is not None]
        return from_banks(m, self._name, [self.answers[bank] for bank in self.banks], self._then, offsets)


Asks = Access | Rotation


def grouped(m: Module, accesses: Sequence[Access]) -> list[Asks]:
    """Accesses, with rotations in the place of those that turn."""
    asks: list[Asks] = []
    groups: dict[object, list[Access]] = {}
    for access in accesses:
        if access.turn is None:
            asks.append(access)
        else:
            groups.setdefault((access.request.beat.pipe, access.turn.group), []).append(access)
    for members in groups.values():
        rotation = Rotation(members)
        rotation.turn(m)
        asks.append(rotation)
    return asks
