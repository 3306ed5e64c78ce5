"""``axiloom sweep``: the combinations, the CSV, and that nothing runs twice."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from tests.cli.commands import keywords

from axiloom.cli import main
from axiloom.cli.explore.sweep import points


def combinations(*words: str) -> list[tuple[str, str, str, str]]:
    given = keywords("sweep", *words)
    found = points(**{name: given[name] for name in given if name != "where"})
    return [
        (one["problem"], one["spec"]["accelerators"][0]["name"], one["flow"], one["pipeline"])
        for one in found
    ]


def test_all_combinations_that_can_be() -> None:
    found = combinations(
        "matmul:8x8x8", "--accel", "v2,v3", "--size", "4", "--pipelines", "published,copying"
    )
    assert {accelerator for _, accelerator, _, _ in found} == {"v2_4", "v3_4"}
    assert [flow for _, name, flow, pipeline in found if name == "v2_4" and pipeline == "copying"] == [
        "Ns",
        "As",
        "Bs",
    ]
    assert len(found) == (3 + 4) * 2
    chosen = combinations("matmul:8x8x8", "matmul:4x4x4", "--accel", "v2,v3_16", "--flows", "Cs,best")
    assert [(problem, flow) for problem, _, flow, _ in chosen] == [
        (f"matmul:{size}:int32", flow) for size in ("8x8x8", "4x4x4") for flow in ("best", "Cs", "best")
    ]


@pytest.mark.slow
def test_to_csv_and_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store, output = tmp_path / "runs.jsonl", tmp_path / "runs.csv"
    command = [
        "sweep",
        "matmul:8x4x8",
        "--accel",
        "v3_4",
        "--flows",
        "Cs,Ns",
        "--store",
        str(store),
        "--jobs",
        "1",
    ]
    assert main([*command, "--output", str(output)]) == 0
    rows = list(csv.DictReader(io.StringIO(output.read_text())))
    assert [(row["flow"], row["loops"], row["tile"]) for row in rows] == [
        ("Cs", "m,n,k", "4x4x4"),
        ("Ns", rows[1]["loops"], "4x4x4"),
    ]
    assert all(int(row["task_clock_ns"]) > 0 and not row["error"] for row in rows)
    size = store.stat().st_size
    capsys.readouterr()
    assert main(command) == 0
    assert capsys.readouterr().out == output.read_text()
    assert store.stat().st_size == size


def test_what_it_does_not_take(capsys: pytest.CaptureFixture[str]) -> None:
    for words, message in (
        (["some.mlir"], "sweep takes problems such as matmul:64x64x64, not files"),
        (
            ["matmul:8x8x8", "--flows", "Xs"],
            "no accelerator here has a flow `Xs`; there are As, Bs, Cs, Ns, best",
        ),
        (["matmul:8x8x8", "--pipelines", "fast"], "unknown pipeline `fast`"),
    ):
        assert main(["sweep", *words]) == 2
        assert message in capsys.readouterr().err
