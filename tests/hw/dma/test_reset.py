# amaranth: UnusedElaboratable=no
"""What a soft reset of the DMA does to the streams (docs/driver.md, "Reset").

TVALID of MM2S may fall before TREADY, in the cycle in which the accelerator's reset begins and in no other.
That is proved by Yosys for everything that memory, CPU and accelerator can do.
"""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from tests.hw.dma.dma_bench import (
    IDLE,
    MM2S_DMACR,
    MM2S_DMASR,
    RESET,
    S2MM_DMACR,
    Bench,
    Cpu,
    Timing,
)

from axiloom import isa
from axiloom.boards.synthesis import yosys
from axiloom.hw.axi.signatures import AXI4Stream
from axiloom.hw.dma.axi_dma import MIN_RESET_CYCLES, AxiDma
from axiloom.hw.rtl_files.user_rtl import UserRtl
from axiloom.hw.soc.soc import Soc
from axiloom.hw.verilog import emit as verilog

PREPARE = """
read_verilog dut.v
read_verilog -sv -formal proof.sv
hierarchy -check -top {top}
proc
flatten
opt_clean
memory -nordff -nomap
cutpoint t:$mem_v2
opt -full
opt_clean -purge
async2sync
dffunmap
"""
"""What memories hold becomes anything at all, which proves more than is needed."""
PROVE = "sat -tempinduct -prove-asserts -verify -maxsteps 4\n"
"""By induction: at any time."""
REFUTE = "sat -tempinduct -tempinduct-baseonly -prove-asserts -falsify -maxsteps 16\n"
"""What happens from power-up on, in so many cycles, breaks an assertion."""


def assertions(verdict: str, folder: Path, top: str, dut: str, proof: str) -> None:
    """Those of `proof` are as `verdict` says (PROVE or REFUTE). Raises BuildError if not."""
    (folder / "dut.v").write_text(dut)
    (folder / "proof.sv").write_text(proof)
    yosys.run(PREPARE.format(top=top) + verdict, folder, "prove it")


# --- the DMA alone ---

RULES = """
  reg waiting = 0;
  reg [31:0] held;
  always @(posedge aclk) begin
    waiting <= aresetn && m_axis_mm2s_tvalid && !m_axis_mm2s_tready;
    held <= m_axis_mm2s_tdata;
  end
  always @* if (aresetn) begin
    if (reset_out) assert (!m_axis_mm2s_tvalid && !s_axis_s2mm_tready);
    if (waiting && UNLESS) assert (m_axis_mm2s_tvalid && m_axis_mm2s_tdata == held);
  end
"""


def around(dut: str, rules: str) -> str:
    """Module `proof` with all inputs of module `dma` and `rules` beside it."""
    header = re.search(r"^module dma \(\n(.*?)^\);", dut, re.MULTILINE | re.DOTALL)
    assert header
    ports = re.findall(r"^  (input|output) +(?:wire|reg) +(\[\d+:0\] )?(\w+)", header[1], re.MULTILINE)
    inputs = ", ".join(f"input wire {width}{name}" for kind, width, name in ports if kind == "input")
    outputs = "".join(f"  wire {width}{name};\n" for kind, width, name in ports if kind == "output")
    return f"module proof ({inputs});\n{outputs}  dma dut (.*);\n{rules}endmodule\n"


@pytest.mark.every(2)
@pytest.mark.synth
@pytest.mark.parametrize("scatter_gather", [False, True])
def test_only_a_reset_takes_back_a_word_and_nothing_moves_during_one(
    scatter_gather: bool, tmp_path: Path
) -> None:
    dut = verilog.convert(AxiDma(scatter_gather=scatter_gather), "dma")
    for verdict, unless in ((PROVE, "!reset_out"), (REFUTE, "1")):
        assertions(verdict, tmp_path, "proof", dut, around(dut, RULES.replace("UNLESS", unless)))


async def reset(cpu: Cpu, control: int) -> None:
    await cpu.write(control, RESET)
    while await cpu.read(control) & RESET:
        pass


def recorded(bench: Bench, *signals: Any) -> list[tuple[int, ...]]:
    """Values of `signals` in each cycle of the run to come."""
    seen: list[tuple[int, ...]] = []

    async def watch(ctx: Any) -> None:
        while True:
            _, _, *now = await ctx.tick().sample(*signals)
            seen.append(tuple(now))

    models = bench.models
    bench.models = lambda: [*models(), watch]  # type: ignore[method-assign]
    return seen


def taken_back(seen: list[tuple[int, ...]]) -> list[int]:
    """The cycles in which TVALID (first) falls although TREADY (second) was low in the one before."""
    pairs = enumerate(pairwise(seen), start=1)
    return [i for i, (before, now) in pairs if before[0] and not before[1] and not now[0]]


@pytest.mark.every(2)
@pytest.mark.parametrize("control", [MM2S_DMACR, S2MM_DMACR])
def test_a_word_that_waits_is_taken_back_in_the_first_cycle_of_the_reset(control: int) -> None:
    """Whatever the accelerator was about to do: it took each word before that once, and none later."""
    falls = 0
    for seed in range(8):
        bench = Bench(AxiDma(), Timing(latency=6, stall=0.3, stream_stall=0.7), seed)
        bench.memory[:] = range(bench.memory.size)
        stream = bench.dut.m_axis_mm2s
        seen = recorded(bench, stream.tvalid, stream.tready, bench.dut.reset_out)

        async def main(cpu: Cpu, bench: Bench = bench) -> None:
            await cpu.start()
            await cpu.send(0x1000, 4000)
            await cpu.wait(40 + bench.random.randrange(60))
            await reset(cpu, control)

        bench.run(main)
        resetting = [i for i, (_, _, high) in enumerate(seen) if high]
        assert resetting == list(range(resetting[0], resetting[-1] + 1)), "in one piece"
        assert len(resetting) >= MIN_RESET_CYCLES
        assert not any(seen[i][0] for i in resetting)
        assert set(taken_back(seen)) <= {resetting[0]}
        falls += len(taken_back(seen))
        assert [word for word, _ in bench.sent] == list(range(0x400, 0x400 + len(bench.sent)))
        assert not any(last for _, last in bench.sent), "the packet ends without TLAST"
    assert falls >= 3


# --- the SoC: what the accelerator sees ---

WATCHER = """
module watcher (
    input wire clk, RESET_PORT
    input wire [31:0] s_axis_tdata, input wire s_axis_tvalid, output wire s_axis_tready,
    output wire [31:0] m_axis_tdata, output wire m_axis_tvalid, input wire m_axis_tready,
    output wire m_axis_tlast
);
  (* anyseq *) reg ready;
  (* anyseq *) reg [33:0] sends;
  assign s_axis_tready = ready;
  assign {m_axis_tvalid, m_axis_tlast, m_axis_tdata} = sends;
  reg waiting = 0;
  reg [31:0] held;
  always @(posedge clk) begin
    waiting <= s_axis_tvalid && !s_axis_tready && !IN_RESET;
    held <= s_axis_tdata;
  end
`ifdef FORMAL
  always @* if (waiting && !IN_RESET) assert (s_axis_tvalid && s_axis_tdata == held);
`endif
endmodule
"""


def watched(folder: Path, port: str, in_reset: str) -> tuple[str, str]:
    """A SoC with the watcher in the place of the accelerator, and the watcher."""
    text = WATCHER.replace("RESET_PORT", port).replace("IN_RESET", in_reset)
    (folder / "watcher.v").write_text(text)
    rtl = UserRtl([folder / "watcher.v"], "watcher")
    return verilog.emit(isa.builtin("v1_4"), user_rtl=rtl), text


@pytest.mark.slow
@pytest.mark.synth
def test_a_module_of_the_users_is_in_reset_when_a_word_is_taken_back(tmp_path: Path) -> None:
    assertions(PROVE, tmp_path, "axiloom_soc", *watched(tmp_path, "input wire rst_n,", "!rst_n"))


@pytest.mark.slow
@pytest.mark.synth
def test_a_module_without_a_reset_port_sees_a_word_taken_back(tmp_path: Path) -> None:
    assertions(REFUTE, tmp_path, "axiloom_soc", *watched(tmp_path, "", "1'b0"))


class Slow(wiring.Component):
    """Takes a word now and then, and remembers in `taken` that it did."""

    def __init__(self) -> None:
        super().__init__(
            {
                "s_axis": In(AXI4Stream()),
                "m_axis": Out(AXI4Stream()),
                "debug_compute": Out(1),
                "debug_error": Out(4),
                "debug_busy": Out(1),
                "taken": Out(16),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        turn = Signal(3)
        m.d.sync += turn.eq(turn + 1)
        m.d.comb += self.s_axis.tready.eq(turn == 5)
        with m.If(self.s_axis.tvalid & self.s_axis.tready):
            m.d.sync += self.taken.eq(self.taken + 1)
        return m


@pytest.mark.slow
def test_a_generated_accelerator_is_reset_by_the_edge_that_ends_that_cycle() -> None:
    """It knows what it took until the cycle in which TVALID falls, and nothing from the next one on."""
    falls = 0
    for delay in range(8):
        accelerator = Slow()
        bench = Bench(Soc(isa.builtin("v1_4"), accelerator=accelerator), Timing(latency=4))
        dut = bench.dut
        seen = recorded(bench, dut.debug_in_tvalid, dut.debug_in_tready, accelerator.taken)

        async def main(cpu: Cpu, delay: int = delay, seen: list[tuple[int, ...]] = seen) -> None:
            await cpu.start()
            await cpu.send(0x1000, 400)
            await cpu.wait(60 + delay)
            await reset(cpu, MM2S_DMACR)
            assert seen[-1][2] == 0
            await cpu.start()
            await cpu.send(0x1000, 8)
            await cpu.until(MM2S_DMASR, IDLE)
            assert seen[-1][2] == 2, "it works again"

        bench.run(main)
        for i in taken_back(seen):
            falls += 1
            assert seen[i][2] > 0
            assert all(taken == 0 for _, _, taken in seen[i + 1 : i + MIN_RESET_CYCLES])
    assert falls >= 5
