"""Progress where there is no terminal: a line for each long step."""

from __future__ import annotations

import time

import pytest

from axiloom.library import progress


def test_long_steps_are_told_and_short_ones_not(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "LONG_S", 0.2)
    monkeypatch.setattr(progress, "_IN_LOG", progress.LongSteps())
    progress.told()("of another part of the command, which does not say when it ends")
    say = progress.told()
    say("short")
    say("long: 1 s")
    time.sleep(0.3)
    say("long: 2 s")
    time.sleep(0.3)
    say("")
    time.sleep(0.3)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("axiloom: long: ")
