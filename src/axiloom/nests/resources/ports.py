"""What stands between accesses and the ports of a memory's banks. `hw/nest/memory.py` builds it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import zip_longest

from axiloom.hw.nest.access import code_bits
from axiloom.hw.nest.circuit import Memory, Storage
from axiloom.hw.nest.requests import exclude
from axiloom.nests.resources.pieces import any_of, choice, in_turn
from axiloom.nests.resources.pipe import PipeCount, Request
from axiloom.nests.resources.sampled import needed


def ports(memory: Memory, counts: list[PipeCount]) -> int:
    """LUTs of all banks."""
    reads = [request for count in counts for request in count.reads.get(memory.name, ())]
    writes = [request for count in counts for request in count.writes.get(memory.name, ())]
    tally = _Ports(memory)
    for bank in range(memory.banks):
        mine = [read for read in reads if bank in read.banks]
        if memory.storage is not Storage.REGISTERS or memory.external:
            for served in _served(mine, memory.ports):
                tally.read(bank, served)
        elif memory.depth > 1:
            known = {request.address for request in mine if request.address is not None}
            tally.lut += len(known) * choice(memory.bits, memory.depth, coded=True)
        tally.write(bank, [write for write in writes if bank in write.banks])
    return tally.lut


def _served(reads: list[Request], count: int) -> list[list[Request]]:
    """Whom each of `count` ports serves."""
    served: list[list[Request]] = [[] for _ in range(count)]
    for read in reads:
        free = [mine for mine in served if not any(_meet(read, other) for other in mine)]
        alone = [mine for mine in free if all(other.pipe == read.pipe for other in mine)]
        (alone or free or served[-1:])[0].append(read)
    return served


def _meet(request: Request, other: Request) -> bool:
    same = request.pipe == other.pipe and request.turn == other.turn
    return same and not (request.slot == other.slot and exclude(request.when, other.when))


class _Ports:
    def __init__(self, memory: Memory) -> None:
        self.memory, self.lut = memory, 0
        self.address_bits = max((memory.depth - 1).bit_length(), 1)
        self._known: set[object] = set()

    def read(self, bank: int, reads: list[Request]) -> None:
        self.lut += self._addressed(bank, reads)
        if self.memory.external:  # a bank of the circuit has no enable
            self._any_active(bank, reads)

    def write(self, bank: int, writes: list[Request]) -> None:
        memory = self.memory
        if not writes:
            return
        self.lut += self._addressed(bank, writes)
        self.lut += self._chosen(bank, writes, memory.bits, lambda request: request.value)
        self._any_active(bank, writes)
        if memory.storage is Storage.REGISTERS and not memory.external:
            self.lut += memory.depth if memory.depth > 1 else 0

    def _addressed(self, bank: int, requests: list[Request]) -> int:
        """LUTs of an address."""
        asked = [request.asked for request in requests if request.asked]
        alone = len({(request.pipe, request.slot) for request in requests}) == 1 and len(asked) == len(
            requests
        )
        most = needed(asked, bank) if alone and len(asked) > 1 else len(requests)
        return self._chosen(bank, requests, self._differing(requests), lambda request: request.address, most)

    def _differing(self, requests: Sequence[Request]) -> int:
        """Bits of the address that are not one wire in all `requests`: ``8*i + j`` and ``8*i + k`` have those
        of i in common, which need no choice."""
        bits = self.address_bits
        if (
            any(not request.wires for request in requests)
            or len({(request.pipe, request.slot) for request in requests}) > 1
        ):
            return bits
        columns = zip_longest(*(request.wires[:bits] for request in requests))
        return sum(len(set(column)) > 1 for column in columns)

    @staticmethod
    def _key(bank: int, request: Request) -> object:
        """Of one bit: it is active, and asks for this bank."""
        if len(request.banks) == 1:
            return request.active
        return request.active, request.bank, tuple(bank >> place & 1 for place in code_bits(request.banks))

    def _active(self, bank: int, request: Request) -> object:
        key = self._key(bank, request)
        if len(request.banks) > 1 and key not in self._known:
            self._known.add(key)
            self.lut += any_of(1 + len(code_bits(request.banks)))
        return key

    def _any_active(self, bank: int, requests: Sequence[Request]) -> None:
        keys = frozenset(self._active(bank, request) for request in requests)
        if keys not in self._known:
            self._known.add(keys)
            self.lut += any_of(len(keys))

    def _chosen(
        self,
        bank: int,
        requests: list[Request],
        bits: int,
        of: Callable[[Request], object],
        most: int | None = None,
    ) -> int:
        """LUTs of one input of a port: those in turn by their pipe's phase, others by who is active, `most`
        of them."""
        pipes: dict[str, dict[int, dict[object, Request]]] = {}
        for request in requests:
            pipes.setdefault(request.pipe, {}).setdefault(request.turn, {}).setdefault(of(request), request)
        by_activity = [request for request in requests if request.pipe in list(pipes)[:-1]]
        for turns in pipes.values():
            by_activity += [value for values in turns.values() for value in list(values.values())[:-1]]
        chosen_from = tuple(
            (pipe, turn, *values) for pipe, turns in pipes.items() for turn, values in turns.items()
        )
        alike = (bits, chosen_from, tuple(self._key(bank, request) for request in by_activity))
        if alike in self._known:
            return 0
        self._known.add(alike)
        lut = 0
        for turns in pipes.values():
            for values in turns.values():
                if len(values) > 1:
                    for operand in list(values.values())[:-1]:
                        self._active(bank, operand)
                    lut += choice(bits, min(len(values), most or len(values)), coded=False)
            lut += in_turn(bits, {turn: frozenset(values) for turn, values in turns.items()})
        for pipe in list(pipes)[:-1]:
            self._any_active(bank, [request for request in requests if request.pipe == pipe])
        return lut + choice(bits, len(pipes), coded=False)
