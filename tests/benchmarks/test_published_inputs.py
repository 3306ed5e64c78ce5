"""The table of published forms: what is read stays read, and what is refused is refused in one line."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks import published
from benchmarks.published.configurations import CONFIGURATIONS
from benchmarks.published.files import FORMS
from benchmarks.published.inputs import INPUTS
from benchmarks.published.lowered import drivers
from benchmarks.published.programs import programs

lowered = {**drivers(), **programs()}


def test_what_is_no_input_is_refused_in_one_line(tmp_path: Path) -> None:
    name = "map<s0 -> ...>, no valid MLIR"
    row = published.of_mlir(tmp_path, name, INPUTS[name])
    assert (row.verdict, "\n" in row.said) == ("refused", False)
    assert ".mlir:" in row.said


def test_configurations_are_imported_or_refused_in_one_line(tmp_path: Path) -> None:
    rows = [published.of_configuration(tmp_path, name, one) for name, one in CONFIGURATIONS.items()]
    assert [one.name for one in rows if not one.unchanged] == ["caches of a board alone"]
    assert rows[-1].verdict == "refused in one line"


def test_each_published_file_has_a_form() -> None:
    assert len(FORMS) == 32
    assert set(FORMS.values()) <= {*INPUTS, *lowered}


@pytest.mark.slow
def test_the_whole_table() -> None:
    rows = published.rows()
    drivers = {one.name: one.verdict for one in rows if one.kind == "driver"}
    assert len(drivers) == 22
    assert {name for name, verdict in drivers.items() if verdict != "unchanged"} == {"experiment 3, v3_Fs"}
    assert drivers["experiment 3, v3_Fs"] == "after a change"
    maps = [one for one in rows if one.kind == "opcode map"]
    assert len(maps) == 8
    assert all(one.unchanged for one in maps)
    refused = {one.name for one in rows if one.kind == "MLIR" and one.verdict == "refused"}
    assert refused == {"map<s0 -> ...>, no valid MLIR"}
