"""Icarus as the second opinion on Verilator: the same wrapper, the same results."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from axiloom import boards, isa
from axiloom.base.errors import BuildError, ProtocolError
from axiloom.cosim.build import icarus
from axiloom.cosim.build.toolchain import compile_bare
from axiloom.cosim.job import Job, Result
from axiloom.cosim.soc import Soc
from axiloom.cosim.system import System

pytestmark = pytest.mark.icarus

SPEC = isa.builtin("v3_4")
OURS = Path(__file__).parents[1] / "drivers"
SHARED = Path(__file__).parents[2] / "system" / "drivers"
DRIVERS = [
    "right",
    "missing_store",
    "missing_payload",
    "no_receive",
    "unknown_opcode",
    "bad_pointer",
    "forgotten_flush",
]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Result]]:
    """Every driver on both simulators, in one process each."""
    folder = tmp_path_factory.mktemp("elf")
    board = boards.load(boards.DEFAULT)
    a, b = np.random.default_rng(3).integers(-100, 100, (2, 4, 4), np.int32)
    jobs = []
    for name in DRIVERS:
        elf = compile_bare([SHARED / f"{name}.c"], folder / f"{name}.elf", board=board, include=[SHARED])
        inputs, outputs = ({"A": a, "B": b}, {"C": ((4, 4), "int32")}) if name == "right" else ({}, {})
        jobs.append(Job(elf, inputs, outputs))
    waits = compile_bare(
        [OURS / "interrupt.c"], folder / "i.elf", board=board, include=[SHARED], defines={"WAITS": 2}
    )
    jobs.append(Job(waits))
    return {
        sim: Soc(System(SPEC, sim=sim, watchdog_cycles=3000)).run_many(jobs, check=False)
        for sim in ("verilator", "icarus")
    }


@pytest.mark.parametrize("number", range(len(DRIVERS) + 1))
def test_both_simulators_agree_on_everything(results: dict[str, list[Result]], number: int) -> None:
    one, other = results["verilator"][number], results["icarus"][number]
    assert one.counters == other.counters
    assert one.fabric == other.fabric
    assert (one.exit_code, one.hang, one.fault, one.stale) == (
        other.exit_code,
        other.hang,
        other.fault,
        other.stale,
    )
    for symbol, array in one.outputs.items():
        assert (array == other.outputs[symbol]).all()


def test_without_icarus_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    icarus.find.cache_clear()
    monkeypatch.setenv("PATH", "/nowhere")
    try:
        with pytest.raises(BuildError) as error:
            icarus.find()
    finally:
        icarus.find.cache_clear()
    assert (
        str(error.value) == "Icarus Verilog is not installed: apt install iverilog (or use --sim verilator)"
    )


def test_the_first_error_is_the_message() -> None:
    with pytest.raises(BuildError) as error:
        icarus.build((("bad.v", "module bad;\n  wire a\nendmodule\n"),), "bad")
    assert str(error.value) == "Icarus cannot build bad: bad.v:3: syntax error"


def test_unknown_values_end_a_run_that_would_never_end(tmp_path: Path) -> None:
    """A user's module whose output is never reset."""
    from axiloom.hw.rtl_files.user_rtl import UserRtl

    file = tmp_path / "unset.v"
    file.write_text(
        """
        module unset (
            input wire clk,
            input wire [31:0] s_axis_tdata, input wire s_axis_tvalid, output wire s_axis_tready,
            output wire [31:0] m_axis_tdata, output reg m_axis_tvalid, input wire m_axis_tready,
            output wire m_axis_tlast
        );
          assign s_axis_tready = 1'b1;
          assign m_axis_tdata = s_axis_tdata;
          assign m_axis_tlast = 1'b1;
          always @(posedge clk) if (m_axis_tready) m_axis_tvalid <= m_axis_tvalid & s_axis_tvalid;
        endmodule
        """
    )
    elf = compile_bare(
        [SHARED / "right.c"], tmp_path / "right.elf", board=boards.load(boards.DEFAULT), include=[SHARED]
    )
    soc = Soc(System(SPEC, sim="icarus", user_rtl=UserRtl([file], "unset")))
    with pytest.raises(ProtocolError, match=r"unknown values \(X\) on m_axis_tvalid"):
        soc.run(elf, timeout_s=30)
