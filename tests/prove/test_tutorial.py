"""docs/prove.md: its commands do what it says, on a copy of the example, with the bugs that it
plants."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest
from tests.pages import section

from axiloom.cli import main

ROOT = Path(__file__).parents[2]
PAGE = section("prove", "An accelerator of your own in ten minutes")
COMMANDS = re.findall(r"^    axiloom (.+)$", PAGE, re.MULTILINE)


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(ROOT / "examples/instructions", tmp_path / "mine")
    monkeypatch.chdir(tmp_path / "mine")
    return tmp_path / "mine"


def of_the_example() -> list[str]:
    return [one for one in COMMANDS if ".isa" in one or ".mapping" in one]


@pytest.mark.slow
@pytest.mark.usefixtures("mine")
@pytest.mark.parametrize("command", of_the_example())
def test_each_command_holds(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(shlex.split(command)) == 0, capsys.readouterr().out


def test_the_program(mine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (program,) = re.findall(r"```python\n(from pathlib.*?)```", PAGE, re.DOTALL)
    exec(compile(program, str(mine / "tutorial.py"), "exec"), {})
    said = re.findall(r"# (\[.*\])", program)
    assert capsys.readouterr().out.split("\n")[0].split() == said[0].split()


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("old", "new", "command", "said"),
    [
        ("first + rows <= 64", "first + rows <= 65", "prove spec --isa dense.isa",
         "dense: dense.multiply: x, line 35: violated: every index of x lies within it; not so with"),
        ("max(y[first + r, j], 0)", "max(y[first + r, j], 1)", "prove mapping layer.mapping --size M=2",
         "layer (M=2): c[0, 0]: violated: c[0, 0] is 1, the kernel's is 0; with a[0, 0] = "),
    ],
)  # fmt: skip
def test_its_bugs_are_found(
    mine: Path, old: str, new: str, command: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert old in PAGE
    assert new in PAGE
    text = (mine / "dense.isa").read_text(encoding="utf-8")
    (mine / "dense.isa").write_text(text.replace(old, new, 1), encoding="utf-8")
    assert main(shlex.split(command)) == 1
    assert said in capsys.readouterr().out
