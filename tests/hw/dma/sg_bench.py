"""Chains of descriptors for the bench of the DMA, and what they should do, by a model in plain Python."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from tests.hw.dma.dma_bench import IDLE, Bench, Cpu

from axiloom.hw.dma.axi_dma import AxiDma

MM2S, S2MM = 0x00, 0x30
DMACR, DMASR, CURDESC, TAILDESC, AHEADDESC = 0x00, 0x04, 0x08, 0x10, 0x20
SG_INCLUDED = 1 << 3
SG_INT_ERROR, SG_SLV_ERROR, SG_DEC_ERROR = 1 << 8, 1 << 9, 1 << 10
DELAY, DELAY_ENABLE = 1 << 13, 1 << 13

COMPLETE, DEC, SLV, INT, SOF, EOF = 1 << 31, 1 << 30, 1 << 29, 1 << 28, 1 << 27, 1 << 26
"""Bits of STATUS."""


@dataclass(frozen=True)
class Item:
    """A descriptor, at `place`."""

    place: int
    address: int
    length: int
    stride: int = 0
    rows: int = 0
    last: bool = True

    @property
    def control(self) -> int:
        return self.length | self.last << 26

    def addresses(self, width: int) -> list[int]:
        """Of each word that it moves, in order; `width` bytes a word."""
        return [
            self.address + row * self.stride + i * width
            for row in range(max(self.rows, 1))
            for i in range(-(-self.length // width))
        ]

    def bytes(self, width: int) -> int:
        return len(self.addresses(width)) * width


def sg_bench(width: int = 4, **options: object) -> Bench:
    return Bench(AxiDma(8 * width, scatter_gather=True), word_bytes=width, **options)  # type: ignore[arg-type]


def put(bench: Bench, chain: Sequence[Item], beyond: int = 0) -> None:
    """Write the descriptors, each linked to the next one, the last one to `beyond`."""
    for item, following in zip(chain, [*(i.place for i in chain[1:]), beyond], strict=True):
        words = (following, 0, item.address, 0, item.rows << 19 | item.stride, 0, item.control, 0)
        bench.memory[item.place // 4 :][:8] = words


def status(bench: Bench, item: Item) -> int:
    return int(bench.memory[item.place // 4 + 7])


async def begin(cpu: Cpu, channel: int, chain: Sequence[Item], control: int = 1) -> None:
    await cpu.write(channel + CURDESC, chain[0].place)
    await cpu.write(channel + DMACR, control)
    await cpu.write(channel + TAILDESC, chain[-1].place)


async def run_chain(cpu: Cpu, channel: int, chain: Sequence[Item], control: int = 1) -> None:
    await begin(cpu, channel, chain, control)
    await cpu.until(channel + DMASR, IDLE)


def packets(bench: Bench, chain: Sequence[Item]) -> list[tuple[int, bool]]:
    """What MM2S sends for the chain."""
    width = bench.word_bytes
    sent = []
    for item in chain:
        words = [bench.word(address, width) for address in item.addresses(width)]
        sent += [(word, item.last and i == len(words) - 1) for i, word in enumerate(words)]
    return sent


def chain_of(count: int, place: int, address: int, length: int, rows: int) -> list[Item]:
    """Descriptors behind each other, with buffers behind each other, each a packet."""
    step = length * max(rows, 1)
    return [
        Item(place + 64 * i, address + step * i, length, length if rows else 0, rows) for i in range(count)
    ]


class Model:
    """Packets of chosen lengths for S2MM, as long as `chain` has room, and memory when they are received."""

    def __init__(self, bench: Bench, chain: Sequence[Item], chosen: random.Random) -> None:
        self.width = bench.word_bytes
        self.memory = bench.memory.copy()
        self.packets: list[list[int]] = []
        between = True
        packet: list[int] = []
        for item in chain:
            addresses = item.addresses(self.width)
            last_one = item is chain[-1]
            # Short of the buffer, or all of it and the end of the packet, or all of it and no end.
            taken = chosen.choice((len(addresses), chosen.randint(1, len(addresses))))
            ends = last_one or taken < len(addresses) or chosen.random() < 0.6
            for address in addresses[:taken]:
                word = chosen.getrandbits(8 * self.width)
                packet.append(word)
                self._store(address, word)
            self._set_status(item, COMPLETE | SOF * between | EOF * ends | taken * self.width)
            between = ends
            if ends:
                self.packets.append(packet)
                packet = []

    def apply_status(self, chain: Sequence[Item]) -> None:
        """A chain that MM2S has sent."""
        for item in chain:
            self._set_status(item, COMPLETE | item.bytes(self.width))

    def _set_status(self, item: Item, word: int) -> None:
        self._store(item.place + 28, word, 4)

    def _store(self, address: int, word: int, width: int | None = None) -> None:
        for i in range((width or self.width) // 4):
            self.memory[address // 4 + i] = word >> 32 * i & 0xFFFFFFFF
