"""Colour on a terminal alone, and what --quiet leaves."""

from __future__ import annotations

import io

import pytest

from axiloom.cli import main, terminal
from axiloom.report import build

TEXT = "matmul on v3\nResult: equal to NumPy\nTime: 1 ms\n\nFabric\n  cycles  5\nLimit: 3 cycles"


def test_result_and_headings_are_painted() -> None:
    lines = terminal.painted(TEXT, True).split("\n")
    assert lines[1] == "\x1b[1m\x1b[32mResult: equal to NumPy\x1b[0m"
    assert lines[2] == "\x1b[1mTime: 1 ms\x1b[0m"
    assert lines[4] == "\x1b[1mFabric\x1b[0m"
    assert [lines[0], *lines[5:]] == ["matmul on v3", "  cycles  5", "Limit: 3 cycles"]
    assert "\x1b[31m" in terminal.painted("Result: WRONG in 3 of 4 elements", True)
    assert terminal.painted(TEXT, False) == TEXT


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_who_has_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert terminal.has_colour(Terminal())
    assert not terminal.has_colour(io.StringIO())
    monkeypatch.setenv("TERM", "dumb")
    assert not terminal.has_colour(Terminal())
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    assert not terminal.has_colour(Terminal())


@pytest.mark.slow
def test_quiet_prints_result_and_time(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "matmul:8x8x8", "--accel", "v3_4", "--quiet"]) == 0
    result, time = capsys.readouterr().out.splitlines()
    assert result == "Result: equal to NumPy in all 64 elements"
    assert time.startswith("Time: 0.") and "fabric cycles; from call to return" in time  # noqa: PT018


def test_a_gain_is_said_only_where_it_is_known() -> None:
    loss = {"gains": {"--flow best": {"times": 1.5, "at_most": False}, "--x": {"times": 2, "at_most": True}}}
    said = [build.gain_text(loss, remedy) for remedy in ("--flow best", "--x", "--y")]  # type: ignore[arg-type]
    assert said == ["about 1.50 times as fast", "at most 2.00 times as fast", ""]
