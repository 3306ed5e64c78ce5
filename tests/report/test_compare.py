"""Two reports beside each other."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from axiloom.cli import main
from axiloom.report import compare

RUN = ["run", "matmul:8x8x8", "--accel", "v3_4", "--pipeline", "published"]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A report of a real run."""
    file = tmp_path_factory.mktemp("compare") / "a.json"
    assert main([*RUN, "--json", str(file)]) == 0
    return dict(compare.read(file))


def rows(lines: list[str]) -> dict[str, str]:
    """The last column of each row, by the row's name."""
    cells = [line.strip().split("  ") for line in lines if line.startswith("  ")]
    return {row[0]: row[-1].strip() for row in cells}


def test_what_differs_is_named(report: dict[str, Any]) -> None:
    lines = compare.compare([report, report])
    assert lines[0].endswith("(1.00 times as fast); A is right, B is right")
    assert "Configuration: all runs have the same one" in lines
    assert rows(lines)["fabric cycles"] == rows(lines)["cache-misses"] == "same"
    other = copy.deepcopy(report)
    other["counters"]["task-clock"] *= 2
    other["fabric"]["words_in"] = report["fabric"]["words_in"] * 3
    other["config"]["clocks"]["fabric_hz"] = 1
    other["result"]["matches"] = False
    lines = compare.compare([report, other])
    assert lines[0].endswith("(0.50 times as fast); A is right, B is WRONG")
    assert rows(lines)["fabric words in"] == "+200.0%"
    assert [line.split()[0] for line in lines if "clocks" in line] == ["clocks.fabric_hz"]


def test_layers_are_matched_by_place(report: dict[str, Any]) -> None:
    first, second = copy.deepcopy(report), copy.deepcopy(report)
    for run, places in ((first, {"a": 2.0, "b": 1.0}), (second, {"b": 3.0, "c": 1.0})):
        layers = [{"location": name, "ms": ms, "accelerator": None} for name, ms in places.items()]
        run["network"] = {"layers": layers}
    found = rows(compare.compare([first, second]))
    assert found["b"] == "+200.0%"
    assert {"a", "c"} <= found.keys()


def test_what_is_no_report_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.json").write_text(json.dumps({"schema": 1}))
    (tmp_path / "b.json").write_text("{")
    for name, words in (("a", "is a required property"), ("b", "not JSON")):
        file = str(tmp_path / f"{name}.json")
        assert main(["report", file, file]) == 2
        error = capsys.readouterr().err
        assert words in error
        assert "--json of `axiloom run` writes" in error
        assert error.count("\n") == 1
