"""``axiloom run NETWORK --select egraph --accel vta,cpu``: what it refuses, and a whole run."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.run.test_text_layers import network, weights

from axiloom.cli import main

pytest.importorskip("egglog")
pytest.importorskip("ortools")


def written(folder: Path) -> str:
    file = folder / "net.mlir"
    file.write_text(network())
    np.savez(file.with_suffix(".npz"), **weights())  # type: ignore[arg-type]
    return str(file)


@pytest.mark.parametrize(
    ("accel", "more", "said"),
    [
        (
            "vta,cpu",
            ["--flow", "Cs"],
            "axiloom program network has no option `--flow`, which is of `axiloom run`",
        ),
        (
            "vta,cpu",
            ["--dma", "simple"],
            "axiloom program network has no option `--dma`",
        ),
        ("vta,qkv,cpu", [], "--accel vta,qkv,cpu: one instruction set shares a network with the CPU"),
    ],
    ids=["a flow", "a simple DMA", "two texts"],
)
def test_refusals(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], accel: str, more: list[str], said: str
) -> None:
    code = main(["run", written(tmp_path), "--select", "egraph", "--accel", accel, *more])
    assert code == 2
    assert said in capsys.readouterr().err


def test_one_op_is_no_network(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["run", "matmul:16x16x16:int8", "--select", "egraph", "--accel", "vta,cpu"])
    assert code == 2
    assert "--accel vta,cpu is for networks: MLIR, model.py:build or .onnx" in capsys.readouterr().err


@pytest.mark.slow
def test_a_network(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = tmp_path / "report.json"
    options = ["--select", "egraph", "--accel", "vta,cpu", "--offload", "all", "--json", str(report)]
    assert main(["run", written(tmp_path), *options]) == 0
    found = json.loads(report.read_text())
    assert found["result"]["matches"]
    assert found["config"]["select"] == "egraph"
    assert [layer["place"] for layer in found["network"]["layers"]] == ["accelerator"]
    said = capsys.readouterr().out
    assert "Programs of vta, found by equality saturation" in said
    assert "equal for all inputs" in said
