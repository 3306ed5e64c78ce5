# amaranth: UnusedElaboratable=no
"""The stream FIFO against PG080, between streams that stall (which the bench checks for AXI's rules)."""

from __future__ import annotations

import random
from typing import Any

import pytest
from tests.hw.dma.dma_bench import Bench, Cpu, Timing

from axiloom.hw.dma.axi_fifo import AxiFifo
from axiloom.isa.contract.fifo_registers import ISR_RESET, KEY, Fifo, Interrupt

DEPTH = 32
ROOM = DEPTH - 4


class Streams(Bench):
    """Without memory."""

    def models(self) -> list[Any]:
        dut = self.dut
        return [self._sink(dut.m_axis_mm2s, dut.reset_out), self._source(dut.s_axis_s2mm, dut.reset_out)]


async def send(cpu: Cpu, words: list[int]) -> None:
    for word in words:
        await cpu.write(Fifo.TDFD, word)
    await cpu.write(Fifo.TLR, 4 * len(words))


async def flags(cpu: Cpu) -> set[str]:
    """What has happened since the last look."""
    value = await cpu.read(Fifo.ISR)
    await cpu.write(Fifo.ISR, value)
    return {bit.name for bit in Interrupt if value >> bit & 1}


@pytest.mark.parametrize("seed", range(3))
def test_packets_pass_both_ways_whole(seed: int) -> None:
    rng = random.Random(seed)
    bench = Streams(AxiFifo(DEPTH), Timing(stream_stall=(0, 0.3, 0.7)[seed]), seed)
    packets = [[rng.getrandbits(32) for _ in range(rng.randint(1, 9))] for _ in range(12)]
    seen = []

    async def main(cpu: Cpu) -> None:
        assert await cpu.read(Fifo.ISR) == ISR_RESET
        for packet in packets:
            bench.packet(packet[::-1])
            while await cpu.read(Fifo.TDFV) < len(packet):
                pass
            await send(cpu, packet)
        for _ in packets:
            while not (size := await cpu.read(Fifo.RLR)):
                pass
            seen.append([await cpu.read(Fifo.RDFD) for _ in range(size // 4)])
        while await cpu.read(Fifo.TDFV) < ROOM:
            pass
        assert await cpu.read(Fifo.RDFO) == 0

    bench.run(main)
    assert seen == [packet[::-1] for packet in packets]
    assert bench.sent == [
        (word, last == 0) for p in packets for last, word in zip(range(-len(p) + 1, 1), p, strict=True)
    ]


def test_a_packet_waits_for_its_length_and_its_end() -> None:
    bench = Streams(AxiFifo(DEPTH))

    async def main(cpu: Cpu) -> None:
        await flags(cpu)
        for word in range(5):
            await cpu.write(Fifo.TDFD, word)
        await cpu.wait(20)
        assert (bench.sent, await cpu.read(Fifo.TDFV)) == ([], ROOM - 5)
        await cpu.write(Fifo.TLR, 18)  # bytes of the last word do not count
        await cpu.wait(20)
        assert await flags(cpu) == {"TC", "TFPE"}
        bench.to_receive.extend([(1, False), (2, False)])
        await cpu.wait(20)
        assert (await cpu.read(Fifo.RDFO), await flags(cpu)) == (0, set())
        bench.to_receive.append((3, True))
        await cpu.wait(20)
        assert (await cpu.read(Fifo.RDFO), await flags(cpu)) == (3, {"RC"})

    bench.run(main)
    assert bench.sent == [(0, False), (1, False), (2, False), (3, False), (4, True)]


def test_interrupts_and_errors() -> None:
    design = AxiFifo(DEPTH)
    bench = Streams(design)

    async def main(cpu: Cpu) -> None:
        await flags(cpu)
        await cpu.write(Fifo.IER, 1 << Interrupt.RC | 1)
        assert await cpu.read(Fifo.IER) == 1 << Interrupt.RC
        bench.packet([7, 8])
        await cpu.wait(20)
        assert cpu.ctx.get(design.mm2s_introut) == 1
        assert await flags(cpu) == {"RC"}
        assert cpu.ctx.get(design.mm2s_introut) == 0
        await cpu.read(Fifo.RDFD)  # before RLR
        assert await flags(cpu) == {"RPORE"}
        assert await cpu.read(Fifo.RLR) == 8
        assert [await cpu.read(Fifo.RDFD) for _ in range(2)] == [7, 8]
        await cpu.read(Fifo.RDFD)
        assert await flags(cpu) == {"RPUE"}
        await cpu.read(Fifo.RLR)
        assert await flags(cpu) == {"RPURE"}
        await cpu.write(Fifo.TDFD, 1)
        await cpu.write(Fifo.TLR, 12)
        await cpu.wait(20)
        assert await flags(cpu) == {"TSE", "TC"}
        for _ in range(ROOM + 1):
            await cpu.write(Fifo.TDFD, 1)
        assert await flags(cpu) == {"TPOE", "TFPF"}

    bench.run(main)


def test_a_full_fifo_holds_the_stream_and_resets_empty_it() -> None:
    design = AxiFifo(DEPTH)
    bench = Streams(design)

    async def main(cpu: Cpu) -> None:
        bench.packet(range(DEPTH + 9))  # larger than the FIFO: it never ends
        await cpu.wait(100)
        assert (bench.taken, await cpu.read(Fifo.RDFO)) == (ROOM, 0)
        await cpu.write(Fifo.RDFR, 0)  # not the key
        await cpu.write(Fifo.TDFD, 5)
        assert await cpu.read(Fifo.TDFV) == ROOM - 1
        await flags(cpu)
        await cpu.write(Fifo.TDFR, KEY)
        assert (await flags(cpu), await cpu.read(Fifo.TDFV)) == ({"TRC"}, ROOM)
        await cpu.write(Fifo.RDFR, KEY)
        await cpu.wait(30)
        assert "RRC" in await flags(cpu)
        assert bench.taken > ROOM
        bench.to_receive.clear()
        await cpu.write(Fifo.SRR, KEY)
        assert cpu.ctx.get(design.reset_out) == 1
        await cpu.wait(20)
        assert cpu.ctx.get(design.reset_out) == 0
        bench.packet([3])
        await send(cpu, [4])
        await cpu.wait(20)
        assert [await cpu.read(at) for at in (Fifo.RDFO, Fifo.RLR, Fifo.RDFD)] == [1, 4, 3]
        assert bench.sent[-1] == (4, True)

    bench.run(main)


def test_a_depth_that_no_fifo_has_is_refused() -> None:
    with pytest.raises(ValueError, match="FIFO depth must be a power of two from 16, not 100"):
        AxiFifo(100)
