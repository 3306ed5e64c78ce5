"""Layers that have not changed are taken from the store; others are simulated, and compared with NumPy."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from benchmarks.published.inputs import RESHAPED
from tests.cli.commands import main

from axiloom import isa
from axiloom.base.cache import cache_root
from axiloom.cosim.system import System
from axiloom.read.mlir.model import read as read_model
from axiloom.report import network as network_report
from axiloom.report.build import summary
from axiloom.report.types import Report
from axiloom.run import cached_layers
from axiloom.run.cached_layers import Span, spans, warm_up
from axiloom.run.network import AGAIN, ALL, CHANGED, Network, NetworkRun
from axiloom.run.run import report_of

MLP = Path(__file__).parents[1] / "fixtures" / "quantised" / "digits_mlp.mlir"


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """One of its own, in the usual cache, which has the simulator."""
    names = [f"{kind}-of-{tmp_path.name}-{os.getpid()}" for kind in ("layers", "cuts")]
    for variable, name in zip(("KIND", "CUTS"), names, strict=True):
        monkeypatch.setattr(cached_layers, variable, name)
    yield
    for name in names:
        shutil.rmtree(cache_root() / name, ignore_errors=True)


def network(layers: str, **weights: np.ndarray) -> NetworkRun:
    model = read_model(MLP)
    named = {**model.weights, **weights}
    system = System(isa.builtin("v4_16", data_type="int8"))
    return NetworkRun(Network("mlp", model.mlir, named), system, simulated=layers)


def counted(report: Report) -> dict[str, object]:
    """All but what says how it was simulated, and when: a whole run alone has one time."""
    layers = [{**layer, "begin_ms": None} for layer in report["network"]["layers"]]
    found = {**report, "network": {**report["network"], "kept": None, "layers": layers}}
    return {name: part for name, part in found.items() if name != "simulation"}


def test_neighbours_are_in_one_job() -> None:
    cpu = [None] * 9
    assert spans([], cpu) == []
    assert spans([0, 1], cpu) == [Span(0, 0, 1)]
    assert spans([3, 5, 8], cpu) == [Span(2, 3, 5), Span(7, 8, 8)]


def test_a_job_begins_with_a_layer_on_the_same_accelerator() -> None:
    devices = [0, 1, None, 0, None, None, None, None, 0]
    assert [warm_up(devices, layer) for layer in (0, 1, 2, 3, 8)] == [0, 0, 1, 0, 7]
    assert spans([3], devices) == [Span(0, 3, 3)]


@pytest.mark.slow
def test_the_same_network_is_not_simulated_twice() -> None:
    whole = report_of(network(ALL))
    first, second = report_of(network(CHANGED)), report_of(network(CHANGED))
    assert counted(first) == counted(whole)
    assert "kept" not in whole["network"]
    count = len(whole["network"]["layers"])
    assert first["network"]["kept"]["simulated"] == count
    assert second["network"]["kept"]["kept"] == list(range(count))
    assert second["simulation"]["rtl_cycles"] == 0
    assert counted(second) | {"result": None} == counted(first) | {"result": None}
    assert second["result"]["matches"]
    assert summary(second)[0] == "Result: equal to NumPy when it was simulated, in earlier runs"


@pytest.mark.slow
def test_a_layer_with_other_weights_is_simulated_and_those_that_begin_with_it() -> None:
    report_of(network(CHANGED))
    (name,) = [n for n, array in read_model(MLP).weights.items() if sorted(array.shape) == [32, 64]]
    other = {name: np.roll(read_model(MLP).weights[name], 1)}
    found = report_of(network(CHANGED, **other))
    kept = found["network"]["kept"]
    assert (kept["simulated"], kept["kept"]) == (3, [0, 1, 5])
    assert kept["other_data"] == [5]
    assert found["result"]["matches"]
    assert found["result"]["elements"]
    assert (
        "Simulated: 3 of 6 layers; 3 from the store, 1 of them with other data"
        in network_report.kept_lines(found["network"])[0]
    )
    whole = report_of(network(AGAIN, **other))
    assert whole["network"]["kept"]["compared"] == 6
    assert abs(whole["network"]["kept"]["off"]) < 0.01
    assert whole["network"]["kept"]["off_most"] < 0.02
    assert network_report.kept_lines(whole["network"])[0].startswith("The store: 6 layers, together ")
    for kept_row, row in zip(found["network"]["layers"], whole["network"]["layers"], strict=True):
        assert kept_row["ms"] == pytest.approx(row["ms"], rel=0.1, abs=0.0005), row["function"]
    cycles = [one["fabric"]["cycles"] for one in (found, whole)]
    assert cycles[0] == pytest.approx(cycles[1], rel=0.01)
    assert found["fabric"]["words_in"] == whole["fabric"]["words_in"]
    assert found["fabric"]["transfers_out"] == whole["fabric"]["transfers_out"]


@pytest.mark.slow
def test_the_command_twice(capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):  # the second run simulates nothing, and has no results
        assert main(["run", str(MLP), "--accel", "v4_16", "--quiet"]) == 0
        assert "Result: equal to NumPy" in capsys.readouterr().out


def test_a_wrong_result_is_named_by_its_layer_and_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """NumPy is made to want something else of a layer."""
    run = network(CHANGED)
    cut = run.store._cut
    whole = type(cut).results

    def other(self: object, layers: object) -> dict[int, list[np.ndarray]]:
        return {n: [array + (n == 5) for array in arrays] for n, arrays in whole(self, layers).items()}  # type: ignore[arg-type]

    monkeypatch.setattr(type(cut), "results", other)
    report_of(run)
    assert run.store.outcome is not None
    assert not run.store.outcome["matches"]
    assert "layer 5:add_1x10 gives " in str(run.store.outcome["first"])
    assert not list((cache_root() / cached_layers.KIND).glob("[!.]*"))


def test_a_result_that_is_added_to_in_place_is_compared_when_it_is_whole() -> None:
    run = NetworkRun(Network("added", RESHAPED, {}), System(isa.builtin("v3", 4)), simulated=CHANGED)
    assert [step.results[0] for step in run.driver.lives.steps] == [run.driver.lives.copies[0][1]] * 2
    assert run.store._wrong_in_cut(run.expected) is None
    (symbol,) = run.expected
    wrong = run.store._wrong_in_cut({symbol: run.expected[symbol] + 1})
    assert wrong == f"{symbol} of the network that was cut into layers is not what the MLIR says"


def test_only_the_function_of_a_layer_is_looked_at() -> None:
    source = "void a(int x)\n{\n    x++;\n}\n\nvoid b(int x)\n{\n    x--;\n}\n"
    assert cached_layers.function_text(source, "b") == "void b(int x)\n{\n    x--;"
    assert cached_layers.function_text(source, "c") == source
