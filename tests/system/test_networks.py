"""Whole networks: on the simulated CPU, and on the SoC with an accelerator."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from axiloom import isa
from axiloom.base.errors import UsageError
from axiloom.cosim.system import System
from axiloom.read.mlir.model import read as read_model
from axiloom.report import build as report
from axiloom.report import network as network_report
from axiloom.report import page
from axiloom.run.network import Network, NetworkRun
from axiloom.run.run import Watch, report_of, simulate, simulate_cpu

FIXTURES = Path(__file__).parents[1] / "fixtures"


def network(name: str, given: Path | None = None, **options: str) -> NetworkRun:
    path = FIXTURES / f"{name}.mlir"
    model = read_model(path)
    workload = Network(path.name, model.mlir, model.weights, given)
    return NetworkRun(workload, System(isa.builtin("v4_16", data_type="int8")), **options)


@pytest.mark.slow
@pytest.mark.parametrize("weights", ["streamed", "embedded"])
def test_on_the_cpu_alone(weights: str) -> None:
    """Floats and integers, exp and a sum a row: every element as NumPy says, a time for each layer."""
    run = network("imported/attention", keep_weights=weights)
    found = simulate_cpu(run)
    assert found["result"]["matches"]
    layers = found["layers"]
    assert [row["layer"] for row in layers] == list(range(len(layers)))
    assert all(row["ms"] > 0 for row in layers)
    assert sum(row["ms"] for row in layers) <= found["counters"]["task-clock"] / 1e6


@pytest.mark.slow
def test_on_the_cpu_alone_with_kernels_by_hand() -> None:
    run = network("quantised/digits_cnn")
    assert simulate_cpu(run, "neon")["result"]["matches"]


@pytest.mark.slow
def test_products_beside_an_accelerator_are_kernels_by_hand_too() -> None:
    """Where the CPU has NEON."""
    run = network("quantised/digits_cnn", least=1_000_000)
    soft = replace(run, system=replace(run.system, board="nexys-video-rv32"))
    kernels = [sum("_neon.c for " in text for text in one.driver.sources.values()) for one in (run, soft)]
    assert kernels == [3, 0]
    assert all(layer.place == "cpu" for layer in run.driver.layers)


def test_inputs_that_index_stay_in_their_table() -> None:
    run = network("imported/embedding")
    (words,) = [array for array in run.inputs.values() if array.dtype == np.int64]
    assert words.min() >= 0
    assert words.max() < 40


def test_inputs_from_a_file(tmp_path: Path) -> None:
    with np.load(FIXTURES / "quantised" / "digits_mlp.npz") as stored:
        given = stored["input0"]
    np.savez(tmp_path / "in.npz", input0=given)
    run = network("quantised/digits_mlp", given=tmp_path / "in.npz")
    (found,) = run.inputs.values()
    np.testing.assert_array_equal(found, given)
    np.savez(tmp_path / "other.npz", x=given)
    with pytest.raises(UsageError, match=r"other\.npz: no array `image`; it has x$"):
        _ = network("quantised/digits_mlp", given=tmp_path / "other.npz").inputs


def test_a_layer_to_stop_after_that_is_not_there() -> None:
    run = network("quantised/digits_mlp", stop_after="softmax")
    with pytest.raises(UsageError, match=r"^no layer `softmax` to stop after; there are 0:matmul_1x64x64, "):
        _ = run.last_layer


@pytest.mark.slow
def test_on_the_soc(tmp_path: Path) -> None:
    run = network("quantised/digits_mlp")
    result = simulate(run, Watch(timeline=True))
    found = run.checked(result, simulate_cpu(run))
    assert result.profile.timeline is not None
    source = page.Source(result.profile.timeline, run.driver.c, "axiloom run ...")
    html = page.write(found, source, tmp_path).read_text(encoding="utf-8")
    assert "<code>matmul_1x64x64</code>" in html
    assert html.count("<rect") >= len(found["network"]["arena"]["buffers"])
    jsonschema.validate(found, report.schema())
    assert found["result"]["matches"]
    assert found["cpu"]["result"]["matches"]
    layers = found["network"]["layers"]
    assert [row["place"] for row in layers] == ["accelerator", "cpu"] * 3
    assert len(found["network"]["cpu_layers"]) == len(layers)
    assert sum(row["share"] for row in layers) == pytest.approx(1, abs=1e-4)
    assert found["fabric"]["words_in"] > 0
    text = report.table(found)
    assert re.search(r"  0  matmul_1x64x64 +v4_16 ", text)
    assert "CPU alone: " in text
    for row in layers:
        assert row["alone_ms"] > 0
        offloaded = row["place"] == "accelerator"
        assert (row["use"] is not None) == (row["limit"] is not None) == offloaded
    first = layers[0]
    assert first["use"] == {"flow": "Cs", "tile": [16, 64, 64], "pipeline": "copying", "note": None}
    assert first["limit"]["ratio"] > 1
    assert sum(row["limit"]["words_in"] for row in layers if row["limit"]) <= found["fabric"]["words_in"]
    part = found["network"]["offload"]
    assert part["speed_up"] == pytest.approx(part["alone_ms"] / part["ms"], abs=1e-3)
    assert (
        found["limit"]["cycles"]
        == part["limit_cycles"]
        == sum(row["limit"]["cycles"] for row in layers if row["limit"])
    )


@pytest.mark.slow
def test_stopped_after_a_layer() -> None:
    """The layers up to there ran, the others did not; nothing is compared."""
    run = network("quantised/digits_mlp", stop_after="requantise_1x64")
    found = report_of(run)
    assert found["result"]["matches"] is None
    assert found["network"]["stopped_after"] == 1
    assert [row["layer"] for row in found["network"]["layers"]] == [0, 1]
    assert "Stopped after layer 1" in report.table(found)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["digits_cnn", "transformer"])
def test_quantised_networks_on_the_soc(name: str) -> None:
    found = report_of(network(f"quantised/{name}"))
    assert found["result"]["matches"]
    assert not found["stale"]


def test_the_memory_map_is_in_order() -> None:
    text = network_report.memory_map(network("imported/attention").driver)
    first, _, *rows = text.splitlines()
    assert first.startswith("arena: ")
    assert [int(row.split()[0]) for row in rows] == sorted(int(row.split()[0]) for row in rows)
