"""Runs as values: what they are made of, what goes together, and what a run leaves behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from axiloom import isa
from axiloom.base.errors import UsageError
from axiloom.cosim.system import System
from axiloom.drivergen.pipeline.schedule import Schedule
from axiloom.read.mlir.model import read as read_model
from axiloom.run.network import Network, NetworkRun
from axiloom.run.problem import ProblemRun, Workload
from axiloom.run.run import Watch, report_of, reports_of, simulate_cpu

SPEC = isa.builtin("v3_4")
SYSTEM = System(SPEC, model=True)
PROBLEM = Workload.of("matmul:8x8x8")
MLP = Path(__file__).parents[1] / "fixtures" / "quantised" / "digits_mlp.mlir"


def test_a_problem_runs_on_one_accelerator() -> None:
    both = System(isa.place([SPEC, isa.builtin("v4_16")]))
    with pytest.raises(UsageError, match=r"^matmul:8x8x8 runs on one accelerator, not on v3_4, v4_16$"):
        ProblemRun(PROBLEM, both)


def test_a_network_needs_integer_sums() -> None:
    with pytest.raises(UsageError, match=r"^net: layers are compared bit by bit, and v3_4 rounds its sums"):
        NetworkRun(Network("net", ""), System(isa.builtin("v3_4", data_type="float32")))


def test_one_process_has_one_system() -> None:
    runs = [ProblemRun(PROBLEM, SYSTEM), ProblemRun(PROBLEM, System(SPEC))]
    with pytest.raises(UsageError, match=r"^runs in one simulator process must have one system$"):
        reports_of(runs)


def test_equal_values_are_one_system() -> None:
    """Each has its own inputs; both are right."""
    other = Workload.of("matmul:8x8x8", seed=1)
    first, second = reports_of([ProblemRun(PROBLEM, SYSTEM), ProblemRun(other, System(SPEC, model=True))])
    assert (first["seed"], second["seed"]) == (0, 1)
    assert first["result"]["matches"]
    assert second["result"]["matches"]


def test_what_is_watched(tmp_path: Path) -> None:
    """Sources, the program and what they were made of stay; progress names the steps."""
    said: list[str] = []
    watch = Watch(said.append, keep=tmp_path)
    run = ProblemRun(PROBLEM, SYSTEM, Schedule("Cs", pipeline="published"))
    report = report_of(run, watch, against="loops")
    assert report["result"]["matches"]
    assert report["cpu"]["kernel"] == "loops"
    assert report["config"]["flow"] == "Cs"
    assert [said[0], said[-1]] == ["compiling the driver", "waiting for the CPU alone"]
    kept = {path.name for path in tmp_path.iterdir()}
    assert {"driver.c", "driver_main.c", "driver.elf", "cpu.elf", "input.mlir", "accelerator.json"} <= kept
    assert (tmp_path / "input.mlir").read_text(encoding="utf-8") == PROBLEM.mlir


def test_a_network_has_the_same_protocol(tmp_path: Path) -> None:
    model = read_model(MLP)
    system = System(isa.builtin("v4_16", data_type="int8"), model=True)
    run = NetworkRun(Network("digits", model.mlir, model.weights), system, stop_after="0")
    said: list[str] = []
    report = report_of(run, Watch(said.append, keep=tmp_path))
    assert said[0] == "compiling the network"
    assert [row["layer"] for row in report["network"]["layers"]] == [0]
    assert report["network"]["stopped_after"] == 0
    assert report["limit"]["ratio"] is None, "cycles of the functional model are stated"
    kept = {path.name for path in tmp_path.iterdir()}
    assert {"network.c", "network.elf", "memory.txt", "stage-layers.mlir"} <= kept


def test_kernels_by_hand_are_refused_before_anything_runs() -> None:
    said: list[str] = []
    run = ProblemRun(PROBLEM, System(SPEC, "nexys-video-rv32"))
    with pytest.raises(UsageError, match="NEON kernels do not run on"):
        simulate_cpu(run, "neon", Watch(said.append))
    assert said == []
