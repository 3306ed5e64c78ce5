"""Memories in banks: each node's access goes to the ports of the banks it may reach."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from amaranth.hdl import Const, Module, Signal, Value
from amaranth.lib import memory as ram

from axiloom.hw.nest.access import Access, Asks, Rotation, grouped
from axiloom.hw.nest.checks import Checks
from axiloom.hw.nest.circuit import Memory, Storage
from axiloom.hw.nest.forms import plain
from axiloom.hw.nest.requests import Request, active, choose, meet


def address_bits(memory: Memory) -> int:
    return max((memory.depth - 1).bit_length(), 1)


@dataclass(frozen=True)
class BankPorts:
    """The signals of a bank: for each read port address, enable and data; for the write port address, enable
    and data."""

    reads: tuple[tuple[Value, Value, Value], ...]
    write: tuple[Value, Value, Value] | None


class MemoryLogic:
    """All banks of `memory`. Accesses come by :meth:`read` and :meth:`write`; then comes :meth:`build`."""

    def __init__(self, memory: Memory) -> None:
        self.memory, self.name = memory, plain(memory.name)
        self._reads: list[tuple[Access, Signal]] = []
        self._writes: list[Access] = []

    def read(self, access: Access) -> Value:
        """The value, `latency` cycles after the access is active."""
        result = Signal(self.memory.bits, name=access.name)
        self._reads.append((access, result))
        return result

    def write(self, access: Access) -> None:
        self._writes.append(access)

    def build(self, m: Module, checks: Checks, external: Mapping[int, BankPorts]) -> None:
        """Banks, or the `external` ports of each, and what chooses among the accesses."""
        memory = self.memory
        for access in [*(access for access, _ in self._reads), *self._writes]:
            self._check_places(access, checks)
        all_reads, all_writes = (
            grouped(m, accesses) for accesses in ([access for access, _ in self._reads], self._writes)
        )
        for bank in range(memory.banks):
            reads = [access for access in all_reads if bank in access.banks]
            writes = [access for access in all_writes if bank in access.banks]
            write = self._write_port(m, bank, writes, checks)
            if memory.storage is Storage.REGISTERS and not memory.external:
                self._registers(m, bank, reads, write)
                continue
            ports = external[bank] if memory.external else self._ram(m, bank, bool(writes))
            if ports.write is not None and write is not None:
                m.d.comb += [mine.eq(theirs) for mine, theirs in zip(ports.write, write, strict=True)]
            self._read_ports(m, bank, reads, ports, checks)
        turned = {
            id(access): answers[access.turn.offset]
            for group in all_reads
            if isinstance(group, Rotation) and (answers := group.answer(m))
            for access in group.accesses
            if access.turn is not None
        }
        for access, result in self._reads:
            if access.turn is not None:
                m.d.comb += result.eq(turned[id(access)])
            else:
                self._answer(m, access, result)

    def _check_places(self, access: Access, checks: Checks) -> None:
        what = f"{self.memory.name}: {access.name}"
        on, address = access.request.active, access.request.values[0]
        if len(address) and (1 << len(address)) > self.memory.depth:
            if isinstance(address, Const) and 0 <= address.value < self.memory.depth:
                return
            outside = address >= self.memory.depth
            if address.shape().signed:
                outside = outside | (address < 0)
            checks.never(f"{what}: the address is not in the bank", on & outside)
        if len(access.banks) > 1 and access.turn is None:
            reached = [access.bank == bank - access.beside for bank in access.banks]
            hit = reached[0]
            for bit in reached[1:]:
                hit = hit | bit
            checks.never(f"{what}: there is no such bank", on & ~hit)

    def _write_port(
        self, m: Module, bank: int, writes: Sequence[Asks], checks: Checks
    ) -> tuple[Value, Value, Value] | None:
        if not writes:
            return None
        requests = [access.at(bank) for access in writes]
        enable = Signal(name=f"{self.name}_{bank}_write")
        m.d.comb += enable.eq(active(requests))
        if len(requests) > 1:
            bits = [request.active for request in requests]
            checks.never(
                f"{self.memory.name}: two writes to bank {bank} in a cycle", sum(bits[1:], bits[0]) > 1
            )
        return choose(m, requests, 0), enable, choose(m, requests, 1)

    def _read_ports(
        self, m: Module, bank: int, reads: Sequence[Asks], ports: BankPorts, checks: Checks
    ) -> None:
        """What chooses the address of each port, and what each read gets."""
        served: list[list[Request]] = [[] for _ in ports.reads]
        asked = [access.at(bank) for access in reads]
        for access, request, port in zip(reads, asked, _ports(asked, len(served)), strict=True):
            served[port].append(request)
            access.answers[bank] = ports.reads[port][2]
        for port, ((address, enable, _), requests) in enumerate(zip(ports.reads, served, strict=True)):
            if not requests:
                continue
            chosen = choose(m, requests, 0)
            m.d.comb += [address.eq(chosen), enable.eq(active(requests))]
            for rival in requests if len(requests) > 1 else ():
                what = f"{self.memory.name}: two addresses on read port {port} of bank {bank} in a cycle"
                checks.never(what, rival.active & (rival.values[0] != chosen))

    def _ram(self, m: Module, bank: int, written: bool) -> BankPorts:
        memory = self.memory
        # What is read in the cycle in which it is written is the old word: hw/verilog tells Yosys.
        attributes = {"ram_style": memory.storage.value, "reads_old": 1}
        words = ram.Memory(shape=memory.bits, depth=memory.depth, init=[], attrs=attributes)
        m.submodules[f"{self.name}_{bank}"] = words
        domain = "sync" if memory.storage is Storage.BLOCK else "comb"
        reads = []
        for number in range(memory.ports):
            port, name = words.read_port(domain=domain), f"{self.name}_{bank}_r{number}"
            address, data = self._wires(name)
            m.d.comb += [port.addr.eq(address), data.eq(port.data)]
            # A read that nobody asked for does no harm; without an enable, it costs nothing.
            reads.append((address, Signal(), data))
        if not written:
            return BankPorts(tuple(reads), None)
        write = words.write_port()
        address, data = self._wires(f"{self.name}_{bank}_w")
        m.d.comb += [write.addr.eq(address), write.data.eq(data)]
        return BankPorts(tuple(reads), (address, write.en, data))

    def _wires(self, name: str) -> tuple[Signal, Signal]:
        """Address and data under names of ours: a port's own say nothing."""
        depth, bits = self.memory.depth, self.memory.bits
        return Signal(range(depth), name=f"{name}_addr"), Signal(bits, name=f"{name}_data")

    def _registers(
        self, m: Module, bank: int, reads: Sequence[Asks], write: tuple[Value, Value, Value] | None
    ) -> None:
        memory = self.memory
        words = [
            Signal(memory.bits, name=f"{self.name}_{bank}_{word}", reset_less=True)
            for word in range(memory.depth)
        ]
        if write is not None:
            address, enable, data = write
            for word, register in enumerate(words):
                with m.If(enable & (address == word if memory.depth > 1 else Const(1, 1))):
                    m.d.sync += register.eq(data)
        known: dict[int, Value] = {}
        for access in reads:
            assert isinstance(access, Access)  # registers do not turn
            where = access.request.values[0]
            if isinstance(where, Const):
                access.answers[bank] = (
                    words[where.value] if where.value < memory.depth else Const(0, memory.bits)
                )
            elif memory.depth == 1:
                access.answers[bank] = words[0]
            else:
                if id(where) not in known:
                    known[id(where)] = self._selected(m, f"{self.name}_{bank}_at", where, words)
                access.answers[bank] = known[id(where)]

    def _selected(self, m: Module, name: str, index: Value, values: Sequence[Value]) -> Value:
        chosen = Signal(self.memory.bits, name=name)
        with m.Switch(index.as_unsigned()[: max((len(values) - 1).bit_length(), 1)]):
            for position, value in enumerate(values[:-1]):
                with m.Case(position):
                    m.d.comb += chosen.eq(value)
            with m.Default():
                m.d.comb += chosen.eq(values[-1])
        return chosen

    def _answer(self, m: Module, access: Access, result: Signal) -> None:
        *others, last = access.banks
        if not others:
            m.d.comb += result.eq(access.answers[last])
            return
        # A number that chooses takes half the LUTs of a chain of comparisons.
        with m.Switch(access.code(access.bank if access.then is None else access.then)):
            for number in others:
                with m.Case(access.code_of(number)):
                    m.d.comb += result.eq(access.answers[number])
            with m.Default():
                m.d.comb += result.eq(access.answers[last])


def _ports(requests: Sequence[Request], count: int) -> list[int]:
    """A port for each: the first on which it meets no other, and if there is one, where no other pipe reads
    (pipes may run at the same time). Requests of one turn whose circuit gives them the same port stay
    together. If there is no port for some, it is tried again with these first; in the end all take the
    circuit's, or the last one, and the RTL's checks say whether the others are there too."""
    groups: dict[object, list[int]] = {}
    for number, request in enumerate(requests):
        key = number if request.port is None else (request.beat.pipe, request.turn, request.port)
        groups.setdefault(key, []).append(number)
    order = list(groups.values())
    ports, late = _first_fit(requests, order, count)
    for _ in groups:
        if late is None:
            return ports
        order.remove(late)
        order.insert(0, late)
        ports, late = _first_fit(requests, order, count)
    if late is None:
        return ports
    return [
        port if request.port is None else request.port for request, port in zip(requests, ports, strict=True)
    ]


def _first_fit(
    requests: Sequence[Request], order: Sequence[list[int]], count: int
) -> tuple[list[int], list[int] | None]:
    """Ports, and the first group of requests for which there was none."""
    served: list[list[Request]] = [[] for _ in range(count)]
    ports, late = [count - 1] * len(requests), None
    for group in order:
        mine = [requests[number] for number in group]
        free = [i for i, there in enumerate(served) if not any(_collide(a, b) for a in mine for b in there)]
        alone = [i for i in free if all(request.beat.pipe == mine[0].beat.pipe for request in served[i])]
        if not free and late is None:
            late = group
        port = (alone or free or [count - 1])[0]
        for number in group:
            ports[number] = port
        served[port] += mine
    return ports, late


def _collide(request: Request, other: Request) -> bool:
    """Both may be active in the same cycle, with different addresses."""
    if request.beat.pipe != other.beat.pipe:
        return request.port != other.port and request.port is not None and other.port is not None
    return meet(request, other) and request.values[0] is not other.values[0]


def external_ports(memory: Memory, bank: int, reads: bool, writes: bool) -> dict[str, tuple[str, int]]:
    """Ports of an external memory's bank: name to direction ("in" or "out") and bits."""
    name, ports = f"{plain(memory.name)}_{bank}", dict[str, tuple[str, int]]()
    for port in range(memory.ports if reads else 0):
        ports |= {
            f"{name}_r{port}_addr": ("out", address_bits(memory)),
            f"{name}_r{port}_en": ("out", 1),
            f"{name}_r{port}_data": ("in", memory.bits),
        }
    if writes:
        ports |= {
            f"{name}_w_addr": ("out", address_bits(memory)),
            f"{name}_w_en": ("out", 1),
            f"{name}_w_data": ("out", memory.bits),
        }
    return ports
