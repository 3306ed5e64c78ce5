"""Programs as files: what is written is read, and what is wrong is named with its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.accelerators.qkv.attention import attention, operators

from axiloom.base.errors import UsageError
from axiloom.selection.program.file import read, write


@pytest.mark.parametrize(
    "program", [attention(), attention("qkv_double", 2), *operators()], ids=lambda p: p.name
)
def test_what_is_written_is_read(program: Any, tmp_path: Path) -> None:
    file = tmp_path / "one.program"
    file.write_text(write(program))
    found = read(file)
    assert (found.target, found.commands, found.arrays) == (program.target, program.commands, program.arrays)
    assert {name: values.tolist() for name, values in found.constants.items()} == {
        name: np.asarray(values).tolist() for name, values in program.constants.items()
    }
    assert write(found) == write(program)


def _changed(change: Any, tmp_path: Path) -> Path:
    given = json.loads(write(operators()[1]))
    change(given)
    file = tmp_path / "one.program"
    file.write_text(json.dumps(given))
    return file


def _set(*path: Any, to: Any) -> Any:
    def change(given: Any) -> None:
        for key in path[:-1]:
            given = given[key]
        given[path[-1]] = to

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_set("arrays", 0, "role", to="inout"), r"\$.arrays\[0\].role: one of in, out, constant, local"),
        (_set("arrays", 0, "number", to="bfloat17"), r"\$.arrays\[0\].number: "),
        (
            _set("arrays", 0, "shape", to=[64, -1]),
            r"\$.arrays\[0\].shape: a natural number is wanted, not -1",
        ),
        (_set("arrays", 1, "name", to="s"), r"\$.arrays: two arrays have one name"),
        (_set("commands", 2, to=["gemm"]), r"\$.commands\[2\]: a list of an instruction and its fields"),
        (_set("commands", 2, 1, "a", to=1.5), r"\$.commands\[2\]: an integer is wanted, not 1.5"),
        (_set("constants", to={}), r"\$.constants: values of one are wanted"),
        (_set("constants", "one", to="!"), r"\$.constants.one: it is no base64"),
        (_set("constants", "one", to="AAAA"), r"\$.constants.one: 3 bytes; \(64, 64\) of bfloat16 are 8192"),
        (_set("more", to=1), r"\$: an object with arrays, commands, constants, name, target is wanted"),
    ],
)
def test_what_is_wrong_is_named(change: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=message):
        read(_changed(change, tmp_path))


def test_what_is_no_file_or_no_json(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        read(tmp_path / "none.program")
    (tmp_path / "deep.program").write_text("[" * 200_000)
    with pytest.raises(UsageError, match="not JSON"):
        read(tmp_path / "deep.program")
