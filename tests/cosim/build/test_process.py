"""Simulator processes: the environment they get, and how their end is told."""

from __future__ import annotations

import os
import re
import sys
import time
from pathlib import Path

import pytest

from axiloom.base.errors import BuildError
from axiloom.cosim.build import process
from axiloom.cosim.build.process import Ended


@pytest.mark.parametrize(
    ("ended", "text"),
    [
        (Ended(3, ""), "ended with exit code 3 and printed nothing"),
        (Ended(-11, "one\ntwo\n\n"), "was killed by SIGSEGV; its last line: two"),
        (Ended(-99, "one\n"), "was killed by signal 99; its last line: one"),
    ],
)
def test_an_end_is_described(ended: Ended, text: str) -> None:
    assert ended.describe() == text


def test_a_timeout_kills_all_of_it(tmp_path: Path) -> None:
    """The process's own children too."""
    begin = time.monotonic()
    ended = process.run(["sh", "-c", "sleep 60 & echo $!; sleep 60"], dict(os.environ), tmp_path, 0.3)
    assert time.monotonic() - begin < 10
    assert ended.timed_out
    child = int(ended.output)
    for _ in range(100):
        if not _runs(child):
            break
        time.sleep(0.05)
    assert not _runs(child)


def _runs(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


def test_the_environment_is_this_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COCOTB_TEST_FILTER", "of the caller's own run")
    monkeypatch.setenv("LD_LIBRARY_PATH", "/before")
    env = process.environment("top", "tests", tmp_path / "results.xml", libraries=[Path("/core")], seed=7)
    assert env["PYGPI_PYTHON_BIN"] == sys.executable
    assert env["COCOTB_RANDOM_SEED"] == "7"
    assert env["LD_LIBRARY_PATH"].endswith(":/core:/before")
    assert "COCOTB_TEST_FILTER" not in env


@pytest.mark.parametrize("odd", ["a:b", "a;b"])
def test_libraries_in_odd_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, odd: str) -> None:
    """Seen from the folder in which the simulator runs, which is as odd."""
    for name in (odd, f"work{odd}"):
        (tmp_path / name).mkdir()
    (tmp_path / odd / "libx.so").touch()
    results = tmp_path / f"work{odd}" / "r.xml"
    searched = process.environment("top", "test", results, libraries=[tmp_path / odd])
    monkeypatch.chdir(results.parent)
    folders = re.split("[:;]", searched["LD_LIBRARY_PATH"])
    assert any((Path(folder) / "libx.so").exists() for folder in folders)


def test_a_python_that_cannot_be_embedded_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LIBPYTHON_LOC", raising=False)
    monkeypatch.setattr("find_libpython.find_libpython", lambda: None)
    with pytest.raises(
        BuildError, match="has no shared libpython, which the simulator must embed: install one"
    ):
        process.environment("top", "tests", tmp_path / "results.xml")
