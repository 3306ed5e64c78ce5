"""What a person does with a simulated SoC by hand: registers, memory, transfers, cycles."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from axiloom.base.errors import DriverError, HangError, UsageError
from axiloom.cosim.blocks import KINDS
from axiloom.cosim.live import Element, Live
from axiloom.isa import Link
from axiloom.isa.contract.dma_registers import ADDRESS, CURDESC, DMACR, DMASR, LENGTH, TAILDESC, Channel
from axiloom.isa.contract.fifo_registers import Fifo

Array = np.ndarray[Any, Any]
PAGE = 4096
FIRST = 1 << 20
"""Where arrays begin."""
_FIRST_WAIT = 64
"""Cycles, doubled as long as nothing happens."""
_RUN, _HALTED, _IDLE = DMACR.field("RS").mask, DMASR.field("Halted").mask, DMASR.field("Idle").mask
_DESCRIPTOR_BYTES, _FIRST_OF_PACKET, _LAST_OF_PACKET = 64, 1 << 27, 1 << 26
_NEXT, _BUFFER, _CONTROL, _STATUS = 0, 2, 6, 7  # words of a descriptor: PG021, "Descriptor Fields"


def words(values: Any) -> Array:
    """An array as it is; numbers of Python as 32 bits, whole ones modulo 2^32."""
    if isinstance(values, np.ndarray):
        return values
    array = np.asarray(values)
    if array.dtype.kind not in "biuf":
        raise UsageError(f"no numbers of 32 bits: {values!r}"[:200])
    return array.astype(np.float32) if array.dtype.kind == "f" else array.astype(np.uint32)


class Memory:
    """RAM of a simulated SoC. Arrays in it are NumPy's: what you store the DMA reads, and what it writes you
    see. There are no caches between."""

    def __init__(self, ram: Array) -> None:
        self._ram = ram
        self._taken: list[tuple[int, int]] = []  # begin and end, by address

    @property
    def ram(self) -> Array:
        """All of it: address is index."""
        return self._ram

    def allocate(self, shape: int | Sequence[int], dtype: Any = np.uint32) -> Array:
        """An array of zeros, at a page of its own. UsageError where no room is left."""
        kind = np.dtype(dtype)
        sizes = (shape,) if isinstance(shape, int) else tuple(shape)
        size = prod(sizes) * kind.itemsize
        if kind.hasobject or min(sizes, default=1) < 0:
            raise UsageError(f"memory.allocate({shape!r}, {dtype!r}): no array of numbers")
        begin = self.reserve(size)
        array: Array = self._ram[begin : begin + size].view(kind).reshape(sizes)
        array[...] = 0
        return array

    def reserve(self, size: int) -> int:
        """The address of so many bytes, the first that are free."""
        begin = FIRST
        for taken, end in self._taken:
            if begin + size <= taken:
                break
            begin = -(-end // PAGE) * PAGE
        if begin + size > self._ram.size:
            used = sum(end - taken for taken, end in self._taken)
            raise UsageError(f"no {size:,} bytes of RAM are free in a row: {used:,} are taken; free some")
        insort(self._taken, (begin, begin + max(size, 1)))
        return begin

    def release(self, address: int) -> None:
        """What was reserved at this address is free again."""
        self._taken = [item for item in self._taken if item[0] != address]

    def free(self, array: Array) -> None:
        """An array of :meth:`allocate` is not used any more."""
        address = self.address(array)
        if all(begin != address for begin, _ in self._taken):
            raise UsageError(f"memory.free: nothing was allocated at {address:#010x}")
        self.release(address)

    def address(self, array: Array) -> int:
        """Where an array of :meth:`allocate`, or a slice of one without gaps, lies for the DMA."""
        at = array.__array_interface__["data"][0] - self._ram.__array_interface__["data"][0]
        if not 0 <= at <= self._ram.size - array.nbytes:
            raise UsageError("this array is not in the SoC's RAM: make it by `memory.allocate`")
        if not array.flags.c_contiguous:
            raise UsageError("this slice has gaps, and a DMA takes bytes in a row: copy it")
        return int(at)

    def read(self, address: int, count: int, dtype: Any = np.uint32) -> Array:
        """A copy of `count` numbers at an address."""
        kind = np.dtype(dtype)
        return self._part(address, count * kind.itemsize).copy().view(kind)

    def write(self, address: int, values: Any) -> None:
        """Numbers of an array as they are; those of a list as :func:`words` has them."""
        self.write_bytes(address, np.ascontiguousarray(words(values)).tobytes())

    def write_bytes(self, address: int, data: bytes) -> None:
        self._part(address, len(data))[:] = np.frombuffer(data, np.uint8)

    def _part(self, address: int, size: int) -> Array:
        if not 0 <= address <= self._ram.size - size or size < 0:
            raise UsageError(f"{size} bytes at {address:#x} are not in RAM (0 to {self._ram.size - 1:#x})")
        return self._ram[address : address + size]


@dataclass(frozen=True)
class Stream:
    """The last words of an accelerator's streams, oldest first, and where both stand."""

    sent: Array
    received: Array
    says: str


class _Read(Mapping[str, Any]):
    """Registers or memories of the RTL as they are now, by name, or by the end of a single name."""

    def __init__(self, live: Live, wanted: Callable[[Element], bool]) -> None:
        self._live, self._wanted = live, wanted

    def __getitem__(self, name: str) -> Any:
        element = self._live.element(name)
        if not self._wanted(element):
            other = "memory: see `memories`" if element.words else "register: see `state`"
            raise UsageError(f"{name} is a {other}")
        parts = self._live.state(element)
        if not element.words:
            return sum(int(part) << 32 * place for place, part in enumerate(parts[0]))
        if parts.shape[1] > 2:
            return parts.copy()
        if parts.shape[1] == 2:
            return parts.astype(np.uint64) @ np.array([1, 1 << 32], np.uint64)
        return parts[:, 0].astype(f"u{1 if element.bits <= 8 else 2 if element.bits <= 16 else 4}")

    def __iter__(self) -> Iterator[str]:
        return (name for name, element in self._live.elements.items() if self._wanted(element))

    def __len__(self) -> int:
        return sum(map(self._wanted, self._live.elements.values()))


class _Channel:
    """One direction of a DMA, with the memory of what it has under way."""

    def __init__(self, live: Live, memory: Memory, link: Link, channel: Channel) -> None:
        self._live, self._memory, self._link, self._channel = live, memory, link, channel
        self._base = link.dma.address + channel
        self._ring: Array | None = None
        self._turn = 1
        self._copy: Array | None = None
        self._started = False

    def start(self, array: Array) -> None:
        """A transfer of an array, as soon as the one before has ended; copied where it is not in RAM."""
        self.wait()
        try:
            address = self._memory.address(array)
        except UsageError:
            self._copy = self._memory.allocate(array.shape, array.dtype)
            self._copy[...] = array
            address = self._memory.address(self._copy)
        limit = 1 << self._link.dma.length_width
        if not 0 < array.nbytes < limit:
            raise UsageError(f"a transfer of {array.nbytes:,} bytes: this DMA takes 1 to {limit - 1:,}")
        if self._link.dma.scatter_gather:
            self._start_descriptor(address, array.nbytes)
        else:
            if self._get(DMASR.offset) & _HALTED:
                self._set(DMACR.offset, _RUN)
            self._set(ADDRESS.offset, address)
            self._set(LENGTH.offset, array.nbytes)
        self._started = True

    def wait(self) -> int:
        """Until it has ended; the bytes that it moved."""
        if not self._started:
            return 0
        # A transfer may end between a look at its status and the wait, which then would see no change.
        step, most = _FIRST_WAIT, 2 * self._live.soc.system.watchdog_cycles
        while not self._done():
            if step > most:  # while the DMA is busy the watchdog is sooner
                name = self._channel.name
                raise HangError(f"{name} of {self._link.name} has not ended, and nothing moves any more")
            before = self._live.cycle
            self._live.wait(0, step)
            step = 2 * step if self._live.cycle - before >= step else _FIRST_WAIT
        self._started = False
        if self._copy is not None:
            self._memory.free(self._copy)
            self._copy = None
        if self._ring is None:
            return self._get(LENGTH.offset)
        return int(self._ring[self._turn, _STATUS]) & ((1 << self._link.dma.length_width) - 1)

    def _start_descriptor(self, address: int, size: int) -> None:
        """Two descriptors lead to each other, and take turns as the tail."""
        ring = self._ring
        if ring is None:
            self._ring = ring = self._memory.allocate((2, _DESCRIPTOR_BYTES // 4))
            places = [self._memory.address(descriptor) for descriptor in ring]
            ring[:, _NEXT] = places[::-1]
            self._set(CURDESC.offset, places[0])
            self._set(DMACR.offset, _RUN)
        self._turn = 1 - self._turn
        descriptor = ring[self._turn]
        descriptor[_BUFFER] = address
        descriptor[_CONTROL] = size | _FIRST_OF_PACKET | _LAST_OF_PACKET
        descriptor[_STATUS] = 0
        self._set(TAILDESC.offset, self._memory.address(descriptor))

    def _done(self) -> bool:
        status = self._get(DMASR.offset)
        if status & DMASR.errors:
            names = ", ".join(field.name for field in DMASR.fields if field.is_error and status & field.mask)
            raise DriverError(f"{self._channel.name} of {self._link.name} stopped with an error: {names}")
        return bool(status & (_IDLE | _HALTED))

    def _get(self, register: int) -> int:
        return self._live.read(self._base + register)

    def _set(self, register: int, value: int) -> None:
        self._live.write(self._base + register, value)


class _Words:
    """One direction of an AXI4-Stream FIFO: what a channel of a DMA does, word by word."""

    def __init__(self, live: Live, base: int, channel: Channel) -> None:
        self._live, self._base, self._channel = live, base, channel
        self._array: Array | None = None

    def start(self, array: Array) -> None:
        """Send an array as a packet, or say where the next one goes."""
        room = self._live.read(self._base + Fifo.TDFV) if self._channel is Channel.MM2S else array.nbytes // 4
        if array.nbytes % 4 or not 0 < array.nbytes // 4 <= room:
            raise UsageError(f"a packet of {array.nbytes:,} bytes: the FIFO takes whole words, {room} now")
        if self._channel is Channel.S2MM:
            self._array = array
            return
        for word in np.ascontiguousarray(array).reshape(-1).view(np.uint32):
            self._live.write(self._base + Fifo.TDFD, int(word))
        self._live.write(self._base + Fifo.TLR, array.nbytes)

    def wait(self) -> int:
        """Until a packet is there; its bytes. What was sent is on its way."""
        if self._array is None:
            return 0
        step, most = _FIRST_WAIT, 2 * self._live.soc.system.watchdog_cycles
        while not self._live.read(self._base + Fifo.RDFO):
            if step > most:
                says = self._live.says(0)
                raise HangError(f"no packet comes out of the accelerator, and nothing moves any more: {says}")
            self._live.step(step)
            step *= 2
        size = self._live.read(self._base + Fifo.RLR)
        words = self._array.reshape(-1).view(np.uint32)
        for index in range(size // 4):
            word = self._live.read(self._base + Fifo.RDFD)
            if index < words.size:
                words[index] = word
        self._array = None
        return size


class Session:
    """A live SoC: :class:`axiloom.library.sessions.Chip` says what each method does."""

    def __init__(self, live: Live) -> None:
        self.live = live
        self.memory = Memory(live.ram.bytes)
        self._links = [device.link for device in live.soc.system.devices]
        fifo = live.soc.system.fifo
        self._channels: dict[tuple[str, Channel], _Channel | _Words] = {
            (link.name, channel): _Words(live, fifo.base, channel)
            if fifo
            else _Channel(live, self.memory, link, channel)
            for link in self._links
            for channel in Channel
        }

    def channel(self, of: str | None, channel: Channel) -> _Channel | _Words:
        return self._channels[self._named(of), channel]

    def receive(self, shape: int | Sequence[int], dtype: Any, of: str | None) -> Array:
        array = self.memory.allocate(shape, dtype)
        try:
            channel = self.channel(of, Channel.S2MM)
            channel.start(array)
            got = channel.wait()
            self.channel(of, Channel.MM2S).wait()
            if got != array.nbytes:
                raise DriverError(
                    f"{got} bytes came back in place of {array.nbytes}: the packet ended with TLAST"
                )
            return array.copy()
        finally:
            self.memory.free(array)

    def interrupts(self) -> frozenset[str]:
        system = self.live.soc.system
        names = {line: block.name for block in system.neighbours for line in system.at(block.name).lines}
        if system.fifo is None:
            names |= {
                2 * number + bit: f"{link.name}.{channel.name.lower()}"
                for number, link in enumerate(self._links)
                for bit, channel in enumerate(Channel)
            }
        return frozenset(name for line, name in names.items() if self.live.lines >> line & 1)

    def pins(self, block: str, port: int, levels: int | None = None) -> int:
        system = self.live.soc.system
        there = [neighbour.name for neighbour in system.neighbours if KINDS[neighbour.ip].inputs]
        if block not in there:
            raise UsageError(f"no pins of {block!r}: neighbours with pins are {', '.join(there) or 'none'}")
        return self.live.pins(system.at(block).base, port, levels)

    def streams(self, count: int) -> Mapping[str, Stream]:
        return {
            link.name: Stream(
                self.live.stream(number, out=False, count=count),
                self.live.stream(number, out=True, count=count),
                self.live.says(number),
            )
            for number, link in enumerate(self._links)
        }

    @property
    def memories(self) -> Mapping[str, Array]:
        return _Read(self.live, lambda element: element.words > 0)

    @property
    def state(self) -> Mapping[str, int]:
        return _Read(self.live, lambda element: not element.words)

    def wait_for(self, name: str, value: int, cycles: int) -> bool:
        place, bracket, index = name.partition("[")
        element = self.live.element(place)
        word = index.removesuffix("]")
        if bool(bracket) != bool(element.words) or (bracket and not (word.isdigit() and index.endswith("]"))):
            raise UsageError(f"{name!r}: write NAME of a register, NAME[WORD] of a memory")
        if bracket and int(word) >= element.words:
            raise UsageError(f"{name}: the memory has {element.words} words")
        if not 0 <= value < 1 << min(element.bits, 32):
            raise UsageError(f"{name}: {value} is no value of {min(element.bits, 32)} bits")
        return self.live.until(element, int(word or 0), value, cycles)

    def _named(self, of: str | None) -> str:
        names = [link.name for link in self._links]
        if of is None and len(names) == 1:
            return names[0]
        if of not in names:
            raise UsageError(f"of={of!r}: the accelerators are {', '.join(names)}")
        return of
