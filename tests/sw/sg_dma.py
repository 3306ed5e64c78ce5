"""A scatter-gather DMA made of Python (PG021), and a device behind it: the runtime's queues without RTL."""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from axiloom.boards import Board
from axiloom.cosim import native
from axiloom.cosim.core import Core, library
from axiloom.isa import AcceleratorSpec, FunctionalModel

HALT, READ, WRITE, WAIT_IRQ, ADVANCE = range(5)
DMACR, DMASR, CURDESC, TAILDESC, AHEADDESC = 0x00, 0x04, 0x08, 0x10, 0x20
HALTED, IDLE, SG, SG_INT_ERR, IOC = 1 << 0, 1 << 1, 1 << 3, 1 << 8, 1 << 12
EOF, SOF, COMPLETE = 1 << 26, 1 << 27, 1 << 31
BYTES = (1 << 26) - 1

Device = Callable[[list[int], bool], list[tuple[int, bool]]]
"""Words that came and whether TLAST stood on the last one, to words with TLAST that go back."""


def loop_back(words: list[int], last: bool) -> list[tuple[int, bool]]:
    return [(word, last and i == len(words) - 1) for i, word in enumerate(words)]


def model(spec: AcceleratorSpec) -> Device:
    device = FunctionalModel(spec)

    def feed(words: list[int], last: bool) -> list[tuple[int, bool]]:
        sent = device.feed(np.array(words, np.uint32))
        assert device.error is None, device.error
        return list(zip(map(int, sent), map(bool, device.tlast), strict=True))

    return feed


@dataclass
class Channel:
    control: int = 0
    status: int = HALTED | SG
    current: int = 0
    tail: int | None = None
    """None: nothing to do."""
    told: int = 0
    """What was last written to TAILDESC."""
    promised: dict[int, tuple[int, ...]] = field(default_factory=dict)
    """By AHEADDESC: descriptors by address, as they were then."""
    irq: bool = False


@dataclass
class SgDma:
    """Each access to a register lets both channels do one descriptor, after `patience` accesses without.

    `error` is set in the status of the receiving channel instead of completing a descriptor.
    """

    device: Device = loop_back
    patience: int = 0
    error: int = 0
    channels: dict[int, Channel] = field(default_factory=lambda: {0x00: Channel(), 0x30: Channel()})
    out: deque[tuple[int, bool]] = field(default_factory=deque)
    descriptors: list[tuple[int, int, int, int]] = field(default_factory=list)
    """Each one sent: address, bytes, rows and stride, EOF."""
    tails: dict[int, list[int]] = field(default_factory=lambda: {0x00: [], 0x30: []})
    """What was written to TAILDESC of each channel."""

    def __post_init__(self) -> None:
        self.lib = native.bind(library())
        self.waited = 0

    def word(self, address: int) -> int:
        return int(self.lib.axl_mem_read(address)) & 0xFFFFFFFF

    def store(self, address: int, value: int) -> None:
        self.lib.axl_mem_write(address, ctypes.c_int32(value & 0xFFFFFFFF).value, 15)

    def write(self, offset: int, value: int) -> None:
        base, register = (0x30, offset - 0x30) if offset >= 0x30 else (0, offset)
        channel = self.channels[base]
        if register == DMACR and value & 4:
            self.channels.update({0x00: Channel(), 0x30: Channel()})
            self.out.clear()
        elif register == DMACR:
            channel.control = value
            channel.status = channel.status & ~HALTED if value & 1 else channel.status | HALTED
        elif register == DMASR:
            channel.irq = channel.irq and not value & IOC
        elif register == CURDESC:
            assert channel.status & HALTED, "CURDESC is written while the channel runs"
            channel.current = value
        elif register == TAILDESC:
            assert not channel.status & HALTED, "TAILDESC is written while the channel is halted"
            if channel.promised and [*channel.promised][-1] == value:
                found = {at: self.descriptor(at) for at in channel.promised}
                assert found == channel.promised, "descriptors have changed since AHEADDESC promised them"
            channel.promised = {}
            channel.tail = channel.told = value
            channel.status &= ~IDLE
            self.tails[base].append(value)
        elif register == AHEADDESC:
            assert not channel.status & HALTED, "AHEADDESC is written while the channel is halted"
            channel.promised = self.promised(channel.told, value) if value else {}
        self.progress()

    def descriptor(self, at: int) -> tuple[int, ...]:
        """The words that the DMA reads."""
        return tuple(self.word(at + 4 * i) for i in range(8))

    def promised(self, tail: int, until: int) -> dict[int, tuple[int, ...]]:
        """The descriptors behind the tail, which are not complete."""
        found: dict[int, tuple[int, ...]] = {}
        at = tail
        while at != until:
            at = self.word(at)
            assert at not in found, "the chain does not lead to what AHEADDESC says"
            found[at] = self.descriptor(at)
            assert not found[at][7] & COMPLETE, "AHEADDESC promises a descriptor that is complete"
        return found

    def read(self, offset: int) -> int:
        self.progress()
        base, register = (0x30, offset - 0x30) if offset >= 0x30 else (0, offset)
        channel = self.channels[base]
        return {DMACR: channel.control & ~4, DMASR: channel.status, CURDESC: channel.current}.get(register, 0)

    @property
    def irq(self) -> bool:
        return any(channel.irq and channel.control & IOC for channel in self.channels.values())

    def progress(self) -> None:
        self.waited += 1
        if self.waited <= self.patience:
            return
        self.waited = 0
        self.send()
        self.receive()

    def rows(self, at: int) -> list[tuple[int, int]]:
        """Addresses and bytes of the rows of a descriptor."""
        address, shape, size = self.word(at + 8), self.word(at + 16), self.word(at + 24) & BYTES
        return [(address + r * (shape & 0xFFFF), size) for r in range(max(shape >> 19, 1))]

    def begin(self, channel: Channel) -> int | None:
        """Address of the descriptor to do now."""
        if channel.tail is None:
            return None
        if self.word(channel.current + 28) & COMPLETE:
            channel.status |= SG_INT_ERR | HALTED
            channel.tail = None
            return None
        return channel.current

    def end(self, channel: Channel, at: int, status: int, packet: bool) -> None:
        self.store(at + 28, status | COMPLETE)
        channel.irq = channel.irq or packet
        if at == channel.tail:
            channel.tail = None
            channel.status |= IDLE
        channel.current = self.word(at)

    def send(self) -> None:
        channel = self.channels[0]
        at = self.begin(channel)
        if at is None or len(self.out) > 4096:
            return
        rows = self.rows(at)
        words = [self.word(address + 4 * i) for address, size in rows for i in range(size // 4)]
        last = bool(self.word(at + 24) & EOF)
        self.descriptors.append((rows[0][0], rows[0][1], self.word(at + 16), int(last)))
        self.out.extend(self.device(words, last))
        self.end(channel, at, 4 * len(words), last)

    def receive(self) -> None:
        channel = self.channels[0x30]
        at = self.begin(channel)
        if at is None or not self.out:
            return
        if self.error:
            channel.status |= self.error | HALTED
            return
        places = [address + 4 * i for address, size in self.rows(at) for i in range(size // 4)]
        if len(self.out) < len(places) and not any(last for _, last in self.out):
            return
        moved, ended = 0, False
        for place in places:
            word, ended = self.out.popleft()
            self.store(place, word)
            moved += 4
            if ended:
                break
        self.end(channel, at, moved | (EOF if ended else 0), ended)


def simulate(elf: Path, dma: Any, board: Board, spec: AcceleratorSpec, inputs: Mapping[str, Any]) -> Core:
    """Run a program to its end, `dma` for its DMA."""
    core = Core(board, spec)
    core.begin(elf, inputs)
    address, data, delay = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    now = answer = 0
    for _ in range(200_000):
        places = (ctypes.byref(place) for place in (address, data, delay))
        op = dma.lib.axl_cpu_step(answer, 0, int(dma.irq), now, *places)
        now += delay.value + 3
        offset = (address.value & 0xFFFFFFFF) - spec.link.dma.address
        if op == HALT:
            assert core.state.fault is None, core.state.fault
            return core
        if op == READ:
            answer = ctypes.c_int32(dma.read(offset)).value
        elif op == WRITE:
            dma.write(offset, data.value & 0xFFFFFFFF)
        elif op == ADVANCE:  # it waits for a descriptor in its caches
            dma.progress()
        elif op == WAIT_IRQ:
            for _ in range(100):
                if not dma.irq:
                    dma.progress()
            assert dma.irq, "the CPU sleeps, and nothing will wake it"
    raise AssertionError("the program does not end")
