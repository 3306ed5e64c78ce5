"""``axiloom explore``: tables, files, what it refuses."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest

from axiloom import isa
from axiloom.cli import main
from axiloom.drivergen.problems.matmul import Problem
from axiloom.run.choice import choose

PROBLEMS = ("matmul:32x256x512", "matmul:100x60x30")


@pytest.mark.slow
def test_a_table_for_each_problem(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explore", *PROBLEMS, "--accel", "v4_16", "--show", "2"]) == 0
    first, second = capsys.readouterr().out.split("\n\n")
    title, head, best, *others = first.splitlines()
    hardware = "v4_16 (DMA sg, stream 64 bits, 64 multiply-adds)"
    assert title.startswith(f"matmul:32x256x512:int32 on {hardware}, pynq-z2: ")
    assert head.split() == ["flow", "loops", "tile", "pipeline", "predicted", "words", "limit"]
    assert best.startswith("*")
    assert "best (ours)" in best
    assert sum("paper's Best" in line for line in (best, *others)) == 1
    assert sum("square" in line for line in (best, *others)) == 3
    assert second.startswith("matmul:100x60x30:int32")


def test_files(tmp_path: Path) -> None:
    as_json, as_csv = tmp_path / "found.json", tmp_path / "found.csv"
    command = ["explore", *PROBLEMS, "--accel", "v4_16", "--pipeline", "published"]
    assert main([*command, "--json", str(as_json), "--output", str(as_csv)]) == 0
    found = json.loads(as_json.read_text())
    assert [one["problem"] for one in found] == [f"{problem}:int32" for problem in PROBLEMS]
    for one in found:
        assert one["chosen"] == one["rows"][0]
        assert {row["pipeline"] for row in one["rows"]} == {"published"}
        assert (one["dma"], one["stream_width"]) == ("simple", 32)
    with as_csv.open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == sum(len(one["rows"]) for one in found)
    assert [row["problem"] for row in rows if row["chosen"] == "1"] == [one["problem"] for one in found]


def test_what_it_does_not_take(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explore", "some.mlir"]) == 2
    assert "explore takes problems such as matmul:64x64x64, not files" in capsys.readouterr().err
    assert main(["explore", "matmul:64x64"]) == 2
    assert "problem `matmul:64x64` is not understood" in capsys.readouterr().err
    assert main(["explore", "matmul:64x64x64", "--confirm", "0"]) == 2
    assert "'0' is not a number from 1 on" in capsys.readouterr().err


def test_a_convolution(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "found.json"
    command = ["explore", "conv:14_16_1_16_1:int8", "--accel", "conv_v4", "--show", "2", "--json", str(file)]
    assert main(command) == 0
    title, head, best, *_ = capsys.readouterr().out.splitlines()
    assert title.startswith("conv:14_16_1_16_1:int8 on conv_v4 (")
    assert head.split() == ["flow", "loops", "tile", "pipeline", "predicted"]
    assert best.startswith("*")
    (found,) = json.loads(file.read_text())
    assert len(found["rows"]) == 2
    assert (found["chosen"]["words"], found["chosen"]["limit_ratio"]) == (None, None)


def test_a_convolution_on_an_accelerator_of_products(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explore", "conv:14_16_1_16_1", "--accel", "v4"]) == 2
    assert "of v4_16 explore ranks drivers of matrix products" in capsys.readouterr().err


def test_compile_takes_the_choice(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compile", "matmul:64x64x64", "--accel", "v3_8", "--flow", "best"]) == 0
    spec = isa.builtin("v3_8")
    spec = isa.revise(spec, stream_width=64, dma=replace(spec.link.dma, scatter_gather=True))
    best = choose(Problem(64, 64, 64), spec)
    expected = f"flow {best.candidate.flow}, loops {', '.join(best.candidate.order)}."
    assert expected in capsys.readouterr().out
