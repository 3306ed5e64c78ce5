"""docs/nests.md: its files are those of the example, its commands say what it shows."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest
from tests.pages import section

from axiloom.cli import main

ROOT = Path(__file__).parents[2]
PAGE = section("nests", "From a loop in C to cycles in ten minutes")
COMMANDS = re.findall(r"^    axiloom (?!example)(.+)$", PAGE, re.MULTILINE)


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(ROOT / "examples/loops", tmp_path / "mine")
    monkeypatch.chdir(tmp_path / "mine")
    return tmp_path / "mine"


def shown(command: str) -> list[str]:
    """What the page shows below a command, line by line: up to the next command or heading, ``...`` is any
    text."""
    behind = PAGE.partition(f"    axiloom {command}\n")[2]
    part = re.split(r"^    axiloom |^#", behind, maxsplit=1, flags=re.MULTILINE)[0]
    return re.findall(r"^    (\S.*)$", part, re.MULTILINE)


REFUSALS = ("product.sched:", "all these loops", "fuse S0 S1 :", "product.c:12")
"""How lines of the page begin that are said about changed files."""


def is_said(line: str, said: str) -> bool:
    words = ".*".join(re.escape(each) for each in line.split("..."))
    return re.search(words, said) is not None


def test_the_files_are_those_of_the_example() -> None:
    c, sched = (ROOT / "examples/loops" / name for name in ("product.c", "product.sched"))
    (source,) = re.findall(r"```c\n(.*?)```", PAGE, re.DOTALL)
    assert source == c.read_text(encoding="utf-8").partition("\n")[2]
    (schedule,) = re.findall(r"```\n(# Sums.*?)```", PAGE, re.DOTALL)
    assert schedule == sched.read_text(encoding="utf-8")


@pytest.mark.every(3)
@pytest.mark.usefixtures("mine")
@pytest.mark.parametrize(
    "command",
    [
        pytest.param(each, marks=pytest.mark.slow) if each.startswith("run") else each
        for each in dict.fromkeys(COMMANDS)
    ],
)
def test_each_command_holds(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(shlex.split(command)) == 0
    said = capsys.readouterr().out
    wanted = [line for line in shown(command) if not line.startswith(REFUSALS)]
    assert [line for line in wanted if not is_said(line, said)] == []
    assert wanted or not ("--run" in command or "--plan" in command)


@pytest.mark.parametrize(
    ("file", "old", "new", "command", "code", "said"),
    [
        ("product.c", "k < K", "k <= K", "nest product.c", 4, "product.c:12: S1 reads A[0][16] at"),
        ("product.sched", "fission S1 i\n", "", "nest product.c --schedule product.sched --plan", 2,
         "S0 stands in loop i too, but not in loop k: part them first (fission S1 i), or put it into"),
        ("product.sched", "reorder S1 k i j", "fuse S0 S1",
         "nest product.c --schedule product.sched --plan", 2,
         "fuse S0 S1 : S1(0, 0, 0) would read C[0][0] before S0(0, 0) has written it (RAW)"),
    ],
)  # fmt: skip
def test_each_refusal_comes(
    mine: Path, file: str, old: str, new: str, command: str, code: int, said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    text = (mine / file).read_text(encoding="utf-8")
    assert old in text
    (mine / file).write_text(text.replace(old, new), encoding="utf-8")
    assert said in PAGE
    assert main(shlex.split(command)) == code
    assert said in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.usefixtures("mine")
def test_the_search_finds_the_same_and_more(capsys: pytest.CaptureFixture[str]) -> None:
    main(["nest", "product.c", "--auto", "--multipliers", "5", "--plan"])
    assert "Cycles: 825 predicted" in capsys.readouterr().out
    main(["nest", "product.c", "--auto", "--plan"])
    assert re.search(r"Cycles: 82 predicted\nBound: .*, 60 a cycle", capsys.readouterr().out)
