"""Where results cannot be written: one line before anything runs, and nothing half-written."""

from __future__ import annotations

import importlib
import os
import stat
from pathlib import Path

import numpy as np
import pytest
from tests.cli.commands import main

from axiloom.base.errors import UsageError
from axiloom.base.files import check_file, check_folder, write_whole
from axiloom.cli import GROUPS
from axiloom.cli.applet import output_file, output_folder
from axiloom.read.context.model import Model
from axiloom.sweep.store import Store

FILES = [
    "compile matmul:4x4x4 --output",
    "run matmul:4x4x4 --board ulx3s --json",
    "explore matmul:4x4x4 --device xc7z020 --save-spec",
    "sweep matmul:4x4x4 --store",
    "bench fig10 --store",
]
FOLDERS = ["run matmul:4x4x4 --report", "bench fig10 --output", "board new pynq-z2 --accel v1_4 --output"]
"""Some: `test_every_output_is_looked_at` sees all."""


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def refused(capsys: pytest.CaptureFixture[str], command: str) -> str:
    before = sorted(Path().rglob("*"))
    assert main(command.split()) == 2
    out, err = capsys.readouterr()
    assert not out
    assert err.startswith("axiloom: ")
    assert err.count("\n") == 1
    assert sorted(Path().rglob("*")) == before
    return err


@pytest.mark.parametrize("command", FILES)
def test_a_folder_in_place_of_a_file(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    option = command.split()[-1]
    assert f"{option} .: is a folder; give the name of a file" in refused(capsys, f"{command} .")


@pytest.mark.parametrize("command", FOLDERS)
def test_a_file_in_place_of_a_folder(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("there").touch()
    option = command.split()[-1]
    assert f"{option} there: is a file, not a folder" in refused(capsys, f"{command} there")
    assert "there is a file, not a folder" in refused(capsys, f"{command} there/below/it")


def test_below_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    Path("there").touch()
    message = refused(capsys, "compile matmul:4x4x4 -o there/driver.c")
    assert f"--output there/driver.c: {Path('there').absolute()} is a file, not a folder" in message


def test_a_folder_that_is_missing_is_made() -> None:
    assert main(["spec", "show", "v1_4", "-o", "new/er/v1.json"]) == 0
    assert Path("new/er/v1.json").is_file()


def test_two_outputs_of_one_name(capsys: pytest.CaptureFixture[str]) -> None:
    message = refused(capsys, "run matmul:4x4x4 --json a --perfetto a")
    assert "--json and --perfetto are both a: give them different names" in message


def test_a_device_is_written_to_and_not_replaced() -> None:
    assert main(["spec", "show", "v1_4", "-o", os.devnull]) == 0
    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is unwritable for root")
def test_a_folder_that_is_not_mine(capsys: pytest.CaptureFixture[str]) -> None:
    Path("closed").mkdir(mode=0o500)
    assert "cannot be written to" in refused(capsys, "compile matmul:4x4x4 -o closed/x.c")


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="no /proc")
def test_what_only_writing_shows(capsys: pytest.CaptureFixture[str]) -> None:
    """No permission says that nobody makes folders in /proc."""
    assert "/proc/x" in refused(capsys, "spec show v1_4 -o /proc/x/y")


def test_a_write_that_fails_leaves_nothing() -> None:
    Path("there").write_text("old")
    with pytest.raises(UnicodeEncodeError):
        write_whole(Path("there"), "new\ud800")
    assert Path("there").read_text() == "old"
    assert [file.name for file in Path().iterdir()] == ["there"]


def test_weights_that_cannot_be_written_leave_no_model() -> None:
    Path("net.npz").mkdir()
    with pytest.raises(UsageError, match=r"^net\.npz: is a folder"):
        Model("net", "module {}", {"w": np.zeros(3)}).write(Path("net.mlir"))
    assert [file.name for file in Path().iterdir()] == ["net.npz"]


def test_a_store_that_is_a_folder() -> None:
    with pytest.raises(UsageError, match="is a folder"):
        Store(Path())


def test_checks_make_nothing() -> None:
    check_file(Path("a/b/c"))
    check_folder(Path("a/b/c"))
    assert not list(Path().iterdir())


WRITTEN = {"json", "json_file", "output", "keep", "report", "perfetto", "trace", "save_spec", "store"}


def test_every_output_is_looked_at() -> None:
    """By its type: an option of these names with another would be written to unseen."""

    modules = [importlib.import_module(f"axiloom.cli.{group}") for group in GROUPS]
    options = [option for module in modules for applet in module.APPLETS for option in applet.options]
    found = [option for option in options if option.name in WRITTEN]
    assert len(found) > 20
    assert all(option.settings["type"] in (output_file, output_folder) for option in found)
