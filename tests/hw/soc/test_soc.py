"""The SoC: both transfers at once through an accelerator, the probes, and who is reset with whom."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from tests.hw.dma.dma_bench import (
    IDLE,
    IOC,
    MM2S_DMACR,
    MM2S_DMASR,
    RESET,
    S2MM_DMASR,
    S2MM_LENGTH,
    Bench,
    Cpu,
    Timing,
)

from axiloom import isa
from axiloom.hw.axi.signatures import AXI4Stream
from axiloom.hw.soc.soc import Soc


class Loopback(wiring.Component):
    """Sends back every word, inverted, one register later."""

    def __init__(self) -> None:
        super().__init__(
            {
                "s_axis": In(AXI4Stream()),
                "m_axis": Out(AXI4Stream()),
                "debug_compute": Out(1),
                "debug_error": Out(4),
                "debug_busy": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.comb += [
            self.s_axis.tready.eq(~self.m_axis.tvalid | self.m_axis.tready),
            self.debug_busy.eq(self.m_axis.tvalid),
        ]
        with m.If(self.s_axis.tready):
            m.d.sync += [
                self.m_axis.tvalid.eq(self.s_axis.tvalid),
                self.m_axis.tdata.eq(~self.s_axis.tdata),
                self.m_axis.tlast.eq(self.s_axis.tlast),
            ]
        return m


class SocBench(Bench):
    """Also checks that `debug_idle` keeps its promise, and records the accelerator's streams."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.accepted: list[tuple[int, bool]] = []
        self.returned: list[tuple[int, bool]] = []

    def models(self) -> list[Any]:
        return [*super().models(), self._probes]

    async def _probes(self, ctx: Any) -> None:
        dut, lite = self.dut, self.dut.s_axi_lite
        was_idle = False
        while True:
            _, _, idle, aw, ar, b, r, *streams = await ctx.tick().sample(
                dut.debug_idle, lite.awvalid, lite.arvalid, lite.bvalid, lite.rvalid,
                dut.debug_in_tdata, dut.debug_in_tvalid & dut.debug_in_tready, dut.debug_in_tlast,
                dut.debug_out_tdata, dut.debug_out_tvalid & dut.debug_out_tready, dut.debug_out_tlast,
                dut.m_axi_mm2s.arvalid, dut.m_axi_s2mm.awvalid, dut.m_axi_s2mm.wvalid,
            )  # fmt: skip
            in_data, in_moves, in_last, out_data, out_moves, out_last, *masters = streams
            if was_idle and not (aw or ar or b or r):
                assert idle, "debug_idle fell without an access"
            assert not (idle and (in_moves or out_moves or any(masters)))
            was_idle = bool(idle)
            if in_moves:
                self.accepted.append((in_data, bool(in_last)))
            if out_moves:
                self.returned.append((out_data, bool(out_last)))


@pytest.mark.every(5)
@pytest.mark.parametrize(("latency", "stall"), [(3, 0), (40, 0), (12, 0.4)])
def test_both_channels_at_once(latency: int, stall: float) -> None:
    bench = SocBench(Soc(isa.builtin("v1_4"), accelerator=Loopback()), Timing(latency, stall))
    words = np.random.default_rng(1).integers(0, 1 << 32, 700, np.uint32)
    bench.memory[:700] = words

    async def main(cpu: Cpu) -> None:
        await cpu.start()
        for _ in range(2):
            await cpu.receive(0x8000, 4000)
            await cpu.wait(10)
            assert cpu.ctx.get(bench.dut.debug_idle), "an armed S2MM waits for the host"
            assert cpu.ctx.get(bench.dut.debug_s2mm_busy)
            await cpu.send(0, 2800)
            assert not cpu.ctx.get(bench.dut.debug_idle)
            assert cpu.ctx.get(bench.dut.debug_mm2s_busy)
            assert await cpu.until(MM2S_DMASR, IDLE) & IDLE
            assert await cpu.until(S2MM_DMASR, IDLE) & IOC
            assert await cpu.read(S2MM_LENGTH) == 2800
            assert np.array_equal(bench.memory[0x2000 : 0x2000 + 700], ~words)
            await cpu.wait(3)
            assert cpu.ctx.get(bench.dut.debug_idle)
            assert not cpu.ctx.get(bench.dut.debug_mm2s_busy)
            assert not cpu.ctx.get(bench.dut.debug_s2mm_busy)
            bench.memory[0x2000:] = 0

    bench.run(main)
    assert [word for word, _ in bench.accepted] == [*words, *words]
    assert [i for i, (_, last) in enumerate(bench.returned) if last] == [699, 1399]


def test_matmul_through_the_dma_and_after_a_reset_in_the_middle() -> None:
    """DMACR.Reset also resets the accelerator: the half tile it has is forgotten."""
    spec = isa.builtin("v1_4")
    bench = SocBench(Soc(spec), Timing(latency=10))
    generator = np.random.default_rng(2)
    a, b = generator.integers(-1000, 1000, (2, 4, 4), np.int32)
    bench.memory[:32] = np.concatenate([a.ravel(), b.ravel()]).view(np.uint32)

    async def main(cpu: Cpu) -> None:
        await cpu.start()
        await cpu.send(0, 4 * 21)  # a part of the operands
        await cpu.until(MM2S_DMASR, IDLE)
        await cpu.write(MM2S_DMACR, RESET)
        while await cpu.read(MM2S_DMACR) & RESET:
            pass
        await cpu.start()
        await cpu.receive(0x8000, 64)
        await cpu.send(0, 4 * 32)
        # No polling, which would hide a debug_idle that is high while the accelerator computes.
        await cpu.ctx.tick().until(bench.dut.s2mm_introut)
        assert await cpu.read(S2MM_DMASR) == IDLE | IOC
        c = bench.memory[0x2000:0x2010].view(np.int32).reshape(4, 4)
        assert np.array_equal(c, a @ b)
        await cpu.wait(5)
        assert cpu.ctx.get(bench.dut.debug_idle)
        assert cpu.ctx.get(bench.dut.debug_error) == 0

    bench.run(main)
    assert [last for _, last in bench.returned] == [False] * 15 + [True]
