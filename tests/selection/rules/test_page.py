"""docs/selection.md: its commands and its program say what it shows, its rules are the file's."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from tests.cli.commands import main
from tests.pages import section

from axiloom.selection.rules import library

ROOT = Path(__file__).parents[3]
PAGE = section("selection", "Rewrite rules")
COMMANDS = [one for one in re.findall(r"^    axiloom (.+)$", PAGE, re.MULTILINE) if ".rules" in one]
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", PAGE, re.DOTALL)


def _plain(line: str) -> str:
    """A line without its time."""
    return re.sub(r"\s+", " ", re.sub(r"\b\d+\.\d\b|cached", "", line)).strip()


@pytest.mark.every(2)
@pytest.mark.parametrize("command", COMMANDS)
def test_commands(command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert main(shlex.split(command)) == (1 if "act.rules" in command else 0)
    found = {_plain(one) for one in capsys.readouterr().out.splitlines()}
    shown = [_plain(line) for kind, block in BLOCKS if not kind for line in block.splitlines()]
    of_act = [one for one in shown if one.startswith("act")]
    ours = of_act if "act.rules" in command else [one for one in shown if one not in of_act]
    assert len(ours) >= 2
    assert [one for one in ours if one not in found and ";" not in one] == []


def test_the_program(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    (program,) = [block for kind, block in BLOCKS if kind == "python" and "saturate(" in block]
    exec(compile(program, "selection.md", "exec"), {})
    (said,) = re.findall(r"^# (\[.*)$", program, re.MULTILINE)
    assert capsys.readouterr().out.strip() == said


def test_the_rules_of_the_page_are_the_files() -> None:
    (shown,) = [block for kind, block in BLOCKS if kind == "python" and "def two_products" in block]
    assert shown.strip() in (ROOT / "examples" / "rules" / "mine.rules").read_text(encoding="utf-8")


def test_the_number_of_rules() -> None:
    count = sum(len(text.rules) for text in library.every())
    assert f"`{count} rules: {count} proved for all sizes`" in PAGE
