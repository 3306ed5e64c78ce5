# amaranth: UnusedElaboratable=no
"""The DMA against PG021 and the AXI rules (which the memory of the bench checks on every cycle)."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest
from tests.hw.dma.dma_bench import (
    DEC_ERROR,
    DECERR,
    ERROR,
    ERROR_ENABLE,
    HALTED,
    IDLE,
    INT_ERROR,
    IOC,
    IOC_ENABLE,
    MM2S_DMACR,
    MM2S_DMASR,
    MM2S_LENGTH,
    MM2S_SA,
    MM2S_SA_MSB,
    RESET,
    RUN,
    S2MM_DA,
    S2MM_DMACR,
    S2MM_DMASR,
    S2MM_LENGTH,
    SLV_ERROR,
    SLVERR,
    Bench,
    Cpu,
    Timing,
)

from axiloom.hw.dma.axi_dma import AxiDma
from axiloom.hw.verilog import emit as verilog


def filled(bench: Bench) -> Bench:
    bench.memory[:] = np.random.default_rng(bench.seed).integers(0, 1 << 32, bench.memory.size, np.uint32)
    return bench


def numbers(count: int, seed: int = 0) -> list[int]:
    generator = random.Random(seed)
    return [generator.getrandbits(32) for _ in range(count)]


def expected_packet(bench: Bench, address: int, words: int) -> list[tuple[int, bool]]:
    data = bench.memory[address // 4 : address // 4 + words]
    return [(int(word), i == words - 1) for i, word in enumerate(data)]


# --- parameters ---


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"data_width": 48}, "DMA data width must be 32, 64 or 128, not 48"),
        ({"length_width": 7}, "DMA length width must be an integer from 8 to 26, not 7"),
        ({"burst": 12}, "DMA burst must be a power of two from 1 to 64, not 12"),
    ],
)
def test_refuses_parameters(parameters: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        AxiDma(**parameters)


@pytest.mark.parametrize(("coherent", "cache"), [(False, "0011"), (True, "1111")])
def test_attributes_of_memory_on_all_ports(coherent: bool, cache: str) -> None:
    """What an ACP needs to look into the caches (UG585, 3.5.1); else what Xilinx' DMA sends."""
    text = verilog.convert(AxiDma(scatter_gather=True, coherent=coherent), "dma")
    for port in ("m_axi_mm2s_arcache", "m_axi_s2mm_awcache", "m_axi_sg_arcache", "m_axi_sg_awcache"):
        assert re.search(rf"assign {port} = 4'(b{cache}|h{int(cache, 2):x});", text), port


# --- registers ---


def test_registers_at_reset_and_reserved_bits() -> None:
    async def main(cpu: Cpu) -> None:
        for control, status in ((MM2S_DMACR, MM2S_DMASR), (S2MM_DMACR, S2MM_DMASR)):
            assert await cpu.read(control) == 0x0001_0002
            assert await cpu.read(status) == HALTED
            await cpu.write(control, 0xFFFF_FFFB)  # all but Reset
            assert await cpu.read(control) == 0xFFFF_7003
            assert await cpu.read(status) == 0  # running, and not idle before the first transfer
            await cpu.write(control, 0)
            assert await cpu.read(control) == 0x00FF_0002, "a threshold of zero is not taken"
            assert await cpu.read(status) == HALTED
            await cpu.write(status, 0xFFFF_FFFF)
            assert await cpu.read(status) == HALTED
        for address in (MM2S_SA, S2MM_DA):
            await cpu.write(address, 0x8765_4320)
            assert await cpu.read(address) == 0x8765_4320
        for reserved in (MM2S_SA_MSB, 0x08, 0x2C, 0x5C, 0x80, 0x3FC):
            await cpu.write(reserved, 0xFFFF_FFFF)
            assert await cpu.read(reserved) == 0

    Bench(AxiDma()).run(main)


# --- transfers ---

LENGTHS = (4, 8, 60, 64, 68, 128, 2048)
NEAR_PAGE = (0x1000, 0x1004, 0x1FC0, 0x1FC4, 0x1FFC)


@pytest.mark.every(2)
@pytest.mark.parametrize("seed", range(5))
def test_transfers_of_both_channels(seed: int) -> None:
    """At the same time, with bursts of other lengths; packets as long as their buffer and shorter, of which
    only the words are written, and LENGTH reads them back."""
    generator = random.Random(seed)
    timing = Timing(generator.choice((1, 5, 40)), generator.choice((0, 0.3, 0.7)), generator.choice((0, 0.5)))
    burst = (16, 4, 16, 64, 1)[seed]
    bench = filled(Bench(AxiDma(burst=burst), timing, seed, burst))

    async def main(cpu: Cpu) -> None:
        await cpu.start()
        for _ in range(3):
            source, target = generator.choice(NEAR_PAGE), 0x8000 + generator.choice(NEAR_PAGE)
            length, received = (generator.choice((*LENGTHS, 4 * generator.randrange(1, 300))) for _ in "01")
            words = numbers(received // 4, seed)
            wanted = bench.memory.copy()
            wanted[target // 4 :][: len(words)] = words
            bench.packet(words)
            bench.sent.clear()
            await cpu.receive(target, received + generator.choice((0, 0, 4, 400)))
            await cpu.send(source, length)
            assert await cpu.until(MM2S_DMASR, IDLE) == IDLE | IOC
            assert await cpu.until(S2MM_DMASR, IDLE) == IDLE | IOC
            assert bench.sent == expected_packet(bench, source, length // 4)
            assert np.array_equal(bench.memory, wanted)
            assert await cpu.read(S2MM_LENGTH) == received
            assert cpu.ctx.get(bench.dut.quiet)
            for status in (MM2S_DMASR, S2MM_DMASR):
                await cpu.write(status, IOC)

    bench.run(main)
    assert max(each.beats for each in bench.reads) == burst


# --- speed ---


def test_one_word_a_cycle_at_a_read_latency_of_40() -> None:
    bench = filled(Bench(AxiDma(), Timing(latency=40)))

    async def main(cpu: Cpu) -> None:
        await cpu.start()
        await cpu.send(0, 4 * 1024)
        await cpu.until(MM2S_DMASR, IDLE)
        assert len(bench.sent) == 1024
        assert bench.sent_cycles[-1] - bench.sent_cycles[0] == 1023
        assert bench.sent_cycles[0] - bench.reads[0].cycle <= 44

    bench.run(main)


# --- interrupts ---


def test_interrupts_follow_flags_and_enables() -> None:
    bench = filled(Bench(AxiDma()))

    async def main(cpu: Cpu) -> None:
        level = cpu.ctx.get
        await cpu.start(RUN)
        await cpu.send(0x1000, 16)
        await cpu.until(MM2S_DMASR, IOC)
        assert not level(bench.dut.mm2s_introut)
        await cpu.write(MM2S_DMACR, RUN | IOC_ENABLE)
        assert level(bench.dut.mm2s_introut)
        assert not level(bench.dut.s2mm_introut)
        await cpu.write(MM2S_DMASR, ERROR)  # another flag
        assert level(bench.dut.mm2s_introut)
        await cpu.write(MM2S_DMASR, IOC)
        assert not level(bench.dut.mm2s_introut)
        assert await cpu.read(MM2S_DMASR) == IDLE
        await cpu.write(S2MM_DMACR, RUN | ERROR_ENABLE)
        await cpu.receive(0x1001, 16)
        assert level(bench.dut.s2mm_introut)
        await cpu.write(S2MM_DMASR, ERROR)
        assert not level(bench.dut.s2mm_introut)
        assert await cpu.read(S2MM_DMASR) == HALTED | INT_ERROR, "the error stays until a reset"

    bench.run(main)


def test_completion_waits_for_the_last_response() -> None:
    bench = Bench(AxiDma(), Timing(latency=200))
    bench.packet(numbers(40))

    async def main(cpu: Cpu) -> None:
        await cpu.start()
        await cpu.receive(0x1FC4, 160)
        await cpu.ctx.tick().until(bench.dut.s2mm_introut)
        beats = [b.beats for b in bench.writes]
        assert sum(beats[: beats.index(3) + 1]) == 15, "no burst crosses the page's end"
        assert sum(beats) == 40
        assert bench.last_response_cycle
        assert 1 <= bench.cycle - bench.last_response_cycle <= 3

    bench.run(main)


# --- errors ---


@pytest.mark.every(3)
@pytest.mark.parametrize(("response", "bit"), [(SLVERR, SLV_ERROR), (DECERR, DEC_ERROR)])
@pytest.mark.parametrize("stall", [0, 0.5])
def test_read_error_halts_until_reset(response: int, bit: int, stall: float) -> None:
    bench = filled(Bench(AxiDma(), Timing(20, stall, stall), errors={2: response}))

    async def main(cpu: Cpu) -> None:
        await cpu.start()
        await cpu.send(0x1F80, 4096)
        assert await cpu.until(MM2S_DMASR, HALTED) == HALTED | bit | ERROR
        assert cpu.ctx.get(bench.dut.mm2s_introut)
        await cpu.wait(200)
        assert bench.sent == [(word, False) for word, _ in expected_packet(bench, 0x1F80, 32)]
        await cpu.start()
        await cpu.send(0x1000, 64)
        assert await cpu.read(MM2S_DMACR) & RUN == 0
        assert await cpu.read(MM2S_DMASR) == HALTED | bit | ERROR
        await reset(cpu)
        bench.sent.clear()
        await cpu.start()
        await cpu.send(0x1000, 64)
        assert await cpu.until(MM2S_DMASR, IDLE) == IDLE | IOC
        assert bench.sent == expected_packet(bench, 0x1000, 16)

    bench.run(main)


@pytest.mark.every(3)
@pytest.mark.parametrize(("response", "bit"), [(SLVERR, SLV_ERROR), (DECERR, DEC_ERROR)])
@pytest.mark.parametrize("stall", [0, 0.5])
def test_write_error_halts_until_reset(response: int, bit: int, stall: float) -> None:
    bench = Bench(AxiDma(), Timing(20, stall, stall), errors={2: response})
    bench.packet(numbers(1024))

    async def main(cpu: Cpu) -> None:
        await cpu.start()
        await cpu.receive(0x1F80, 4096)
        assert await cpu.until(S2MM_DMASR, HALTED) == HALTED | bit | ERROR
        assert bench.memory[0x1F80 // 4 :][:32].tolist() == numbers(1024)[:32]
        await cpu.wait(100)
        await reset(cpu)
        bench.packet(numbers(10))
        await cpu.start()
        await cpu.receive(0x3000, 400)
        assert await cpu.until(S2MM_DMASR, IDLE) == IDLE | IOC
        assert bench.memory[0xC00:][:10].tolist() == numbers(10)

    bench.run(main)


@pytest.mark.parametrize("words", [1, 5, 16, 17, 40])
def test_packet_longer_than_the_buffer(words: int) -> None:
    bench = Bench(AxiDma())
    bench.packet(numbers(words + 3))

    async def main(cpu: Cpu) -> None:
        await cpu.start()
        await cpu.receive(0x1000, 4 * words + 2)
        assert await cpu.until(S2MM_DMASR, HALTED) == HALTED | INT_ERROR | ERROR
        assert bench.memory[0x400:][:words].tolist() == numbers(words + 3)[:words]
        assert not bench.memory[0x400 + words :].any(), "written behind the buffer"
        assert len(bench.to_receive) == 3
        assert await cpu.read(S2MM_DMACR) & RUN == 0

    bench.run(main)


@pytest.mark.parametrize("misaligned", [1, 2, 3])
def test_unaligned_address(misaligned: int) -> None:
    bench = Bench(AxiDma())

    async def main(cpu: Cpu) -> None:
        await cpu.start()
        await cpu.send(0x1000 + misaligned, 64)
        await cpu.receive(0x1000 + misaligned, 64)
        for status in (MM2S_DMASR, S2MM_DMASR):
            assert await cpu.read(status) == HALTED | INT_ERROR | ERROR
        await cpu.wait(20)
        assert not bench.reads
        assert cpu.ctx.get(bench.dut.quiet)

    bench.run(main)


# --- stop and reset ---


async def reset(cpu: Cpu, control: int = S2MM_DMACR) -> None:
    await cpu.write(control, RESET)
    while await cpu.read(control) & RESET:
        pass


def test_stop_lets_the_transfer_finish() -> None:
    bench = filled(Bench(AxiDma(), Timing(latency=30)))
    bench.packet(numbers(100))

    async def main(cpu: Cpu) -> None:
        await cpu.start()
        await cpu.receive(0x8000, 400)
        await cpu.send(0x1000, 400)
        await cpu.start(0)
        assert await cpu.read(MM2S_DMASR) == 0
        assert await cpu.read(S2MM_DMASR) == 0
        assert await cpu.until(MM2S_DMASR, HALTED) == HALTED | IOC
        assert await cpu.until(S2MM_DMASR, HALTED) == HALTED | IOC
        assert bench.sent == expected_packet(bench, 0x1000, 100)
        assert bench.memory[0x2000:][:100].tolist() == numbers(100)

    bench.run(main)


@pytest.mark.every(3)
@pytest.mark.parametrize("control", [MM2S_DMACR, S2MM_DMACR])
@pytest.mark.parametrize("seed", range(4))
def test_reset_in_the_middle(control: int, seed: int) -> None:
    """No burst is left open (the memory checks), all registers are as at power-up, and it works again."""
    bench = filled(Bench(AxiDma(), Timing(latency=15, stall=0.4, stream_stall=0.4), seed))
    bench.packet(numbers(1000))

    async def main(cpu: Cpu) -> None:
        await cpu.start()
        await cpu.receive(0x8000, 4000)
        await cpu.send(0x1000, 4000)
        await cpu.wait(bench.random.randrange(300))
        await cpu.write(control, RESET)
        assert await cpu.read(control) & RESET
        assert cpu.ctx.get(bench.dut.reset_out)
        while await cpu.read(control) & RESET:
            pass
        for base in (MM2S_DMACR, S2MM_DMACR):
            assert await cpu.read(base) == 0x0001_0002
            assert await cpu.read(base + MM2S_DMASR) == HALTED
            assert await cpu.read(base + MM2S_SA) == 0
            assert await cpu.read(base + MM2S_LENGTH) == 0
        assert cpu.ctx.get(bench.dut.quiet)
        bench.sent.clear()
        bench.packet(numbers(20, 1))
        await cpu.start()
        await cpu.receive(0xC000, 80)
        await cpu.send(0x2000, 80)
        await cpu.until(MM2S_DMASR, IDLE)
        await cpu.until(S2MM_DMASR, IDLE)
        assert bench.sent == expected_packet(bench, 0x2000, 20)
        assert bench.memory[0x3000:][:20].tolist() == numbers(20, 1)

    bench.run(main)
