"""A nest on the SoC: RTL by hand behind the packets that nests have, and the driver made for them."""

from pathlib import Path

import numpy as np
import pytest

from axiloom.cli import main
from axiloom.cosim.system import System
from axiloom.errors import DriverError, SpecError
from axiloom.hw.rtl_files.user_rtl import UserRtl
from axiloom.isa.model.model import FunctionalModel
from axiloom.nests.ports import packets, specification
from axiloom.nests.program import Array, Program, Role
from axiloom.run.nest import NestRun
from axiloom.run.run import report_of

RTL = Path(__file__).parent.parent / "nests" / "ports" / "scaled.v"


def scaled(columns: int = 6) -> Program:
    """C = alpha * A + C."""
    arrays = (
        Array("alpha", (), "int32", Role.IN),
        Array("A", (3, columns), "int32", Role.IN),
        Array("C", (3, columns), "int32", Role.INOUT),
    )
    return Program("scaled", arrays, ())


def run_of(columns: int, scatter_gather: bool, *, wrong: bool = False) -> NestRun:
    program = scaled(columns)
    both = packets(program)
    spec = specification("scaled", *both, multipliers=2, scatter_gather=scatter_gather)
    random = np.random.default_rng(1)
    values = {
        "alpha": np.array(7, np.int32),
        "A": random.integers(-99, 99, (3, columns), np.int32),
        "C": random.integers(-99, 99, (3, columns), np.int32),
    }
    results = {"C": 7 * values["A"] + values["C"] + wrong}
    return NestRun(
        program, both, System(spec, user_rtl=UserRtl([RTL], "scaled")), values, results, 3 * columns
    )


@pytest.mark.parametrize("scatter_gather", [True, False])
@pytest.mark.parametrize("columns", [6, 5])
def test_driver_and_rtl_meet(columns: int, scatter_gather: bool) -> None:
    """With 5 columns each row is filled up to a beat, in packets of as many beats."""
    report = report_of(run_of(columns, scatter_gather))
    assert report["result"]["matches"]
    assert report["fabric"]["words_in"] == 2 + 2 * 18
    assert report["stale"] == []


def test_a_wrong_result_is_seen() -> None:
    assert not report_of(run_of(6, True, wrong=True))["result"]["matches"]


def test_tlast_is_where_the_specification_says() -> None:
    """RTL for other packets is found out by the words on the streams."""
    with pytest.raises(DriverError, match="TLAST on word 18 of the 24 of Y"):
        report_of(run_of(8, True))


def test_no_model_of_a_packet() -> None:
    spec = run_of(6, True).system.spec
    with pytest.raises(SpecError, match="there is no functional model of packet"):
        FunctionalModel(spec)


POLYBENCH = Path(__file__).parent.parent.parent / "benchmarks" / "polybench"


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["atax", "bicg", "gesummv", "mvt"])
def test_from_c_to_the_soc(kernel: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Loops in C and a schedule: RTL, driver, SoC; results of one array and of two."""
    schedule = POLYBENCH / "schedules" / "ports" / f"{kernel}.sched"
    sizes = ["-D", "M=30", "-D", "N=40"]
    assert main(["run", str(POLYBENCH / f"{kernel}.c"), "--schedule", str(schedule), *sizes]) == 0
    assert "Result: equal to NumPy" in capsys.readouterr().out
