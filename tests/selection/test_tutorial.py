"""docs/selection.md: its commands do what it says, on a copy of the example."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest
from tests.pages import section

from axiloom.cli import main

ROOT = Path(__file__).parents[2]
PAGE = section("selection", "From a function of JAX to a program in ten minutes")
COMMANDS = [one for one in re.findall(r"^    axiloom (?!:)(.+)$", PAGE, re.MULTILINE) if "ROWS=32" not in one]


@pytest.fixture(scope="module")
def mine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tutorial") / "mine"
    shutil.copytree(ROOT / "examples/selection", folder)
    return folder


@pytest.fixture(autouse=True)
def inside(mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(mine)


@pytest.mark.every(3)
@pytest.mark.parametrize(
    "command",
    [pytest.param(one, marks=[pytest.mark.slow] * one.startswith(("run", "prove"))) for one in COMMANDS],
)
def test_each_command_holds(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(shlex.split(command)) == 0, capsys.readouterr()


@pytest.mark.slow
def test_what_it_shows(capsys: pytest.CaptureFixture[str]) -> None:
    compile_ = next(one for one in COMMANDS if one.startswith("compile"))
    assert main(shlex.split(compile_)) == 0
    said = capsys.readouterr().err
    for line in re.findall(r"^    ((?:Commands|Choice|Validated): .*)$", PAGE, re.MULTILINE):
        assert line.removesuffix(" ...") in said


@pytest.mark.slow
def test_too_small(capsys: pytest.CaptureFixture[str]) -> None:
    (command,) = re.findall(r"^    axiloom (compile .*ROWS=32 .*)$", PAGE, re.MULTILINE)
    (expected,) = re.findall(r"^    (axiloom: .*)$", PAGE, re.MULTILINE)
    assert main(shlex.split(command)) == 4
    assert capsys.readouterr().err.strip().splitlines()[-1] == expected
    assert not Path("driver.c").exists()


@pytest.mark.slow
def test_the_program_runs_as_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    compile_ = next(one for one in COMMANDS if one.startswith("compile"))
    assert main(shlex.split(compile_)) == 0
    assert main(["run", "attention.program"]) == 0, capsys.readouterr()


REFUSED = [
    (["run", "attention.mlir", "--select", "egraph"], "--accel"),
    (["run", "attention.mlir", "--select", "egraph", "--accel", "v3"], "bfloat16 has no C"),
    (["run", "attention.mlir", "--select", "egraph", "--accel", "rows32.isa", "--flow", "Cs"], "--flow"),
    (
        ["compile", "attention.mlir", "--select", "egraph", "--accel", "rows32.isa", "--emit", "linalg"],
        "--emit",
    ),
    (["compile", "attention.mlir", "--emit", "program"], "--emit"),
    (["compile", "attention.mlir", "-D", "ROWS=64"], "axiloom program compile"),
    (
        ["compile", "attention.mlir", "--select", "egraph", "--accel", "rows32.isa", "-D", "ROWS=x"],
        "-D ROWS=x",
    ),
    (["run", "attention.mlir", "--accel", "rows32.isa", "-D", "ROWS=x"], "-D ROWS=x: a constant of a text"),
    (["compile", "attention.mlir", "--select", "egraph", "--accel", "none.isa"], "none.isa"),
    (["run", "none.mlir", "--select", "egraph", "--accel", "rows32.isa"], "none.mlir"),
]


@pytest.mark.parametrize(("words", "said"), REFUSED)
def test_refused_in_one_line(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) in (2, 3, 4)
    lines = capsys.readouterr().err.strip().splitlines()
    assert lines[-1].startswith("axiloom")
    assert said in lines[-1]
