"""The DMA in scatter-gather mode against PG021 and a model of what a chain means."""

from __future__ import annotations

import numpy as np
from tests.hw.dma_bench import IDLE, IOC, Bench, Cpu, Timing
from tests.hw.sg_bench import (
    COMPLETE,
    DMASR,
    EOF,
    MM2S,
    S2MM,
    SG_INCLUDED,
    SOF,
    Item,
    packets,
    put,
    run_chain,
    sg_bench,
    status,
)


def filled(bench: Bench) -> Bench:
    bench.memory[:] = np.random.default_rng(bench.seed).integers(0, 1 << 32, bench.memory.size, np.uint32)
    return bench


def test_first_chain() -> None:
    bench = filled(sg_bench(timing=Timing(latency=30)))
    chain = [Item(0x1000, 0x8000, 4, last=False), Item(0x1040, 0x9000, 32, 128, 8), Item(0x2000, 0xA000, 64)]
    put(bench, chain)

    async def main(cpu: Cpu) -> None:
        await run_chain(cpu, MM2S, chain)
        assert bench.sent == packets(bench, chain)
        assert [status(bench, i) for i in chain] == [COMPLETE | i.bytes(4) for i in chain]
        assert await cpu.read(MM2S + DMASR) == IDLE | IOC | SG_INCLUDED
        assert cpu.ctx.get(bench.dut.quiet)

    bench.run(main)


def test_first_chain_in() -> None:
    bench = filled(sg_bench(timing=Timing(latency=30)))
    chain = [Item(0x1000, 0x8000, 4), Item(0x1040, 0x9000, 32, 128, 8), Item(0x2000, 0xA000, 64)]
    put(bench, chain)
    wanted = bench.memory.copy()
    words = list(range(1, 82))
    for address, word in zip((a for i in chain for a in i.addresses(4)), words, strict=True):
        wanted[address // 4] = word
    for item in chain:
        wanted[item.place // 4 + 7] = COMPLETE | SOF | EOF | item.bytes(4)
        count = item.bytes(4) // 4
        bench.packet(words[:count])
        del words[:count]

    async def main(cpu: Cpu) -> None:
        await run_chain(cpu, S2MM, chain)
        assert np.array_equal(bench.memory, wanted)
        assert await cpu.read(S2MM + DMASR) == IDLE | IOC | SG_INCLUDED
        assert cpu.ctx.get(bench.dut.quiet)

    bench.run(main)
