"""``axiloom prove rules``: ACT's rules, exit codes, what is kept; selection uses proved rules alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.commands import main

from axiloom.base.worker import Worker
from axiloom.selection.rules import RuleError, library
from axiloom.selection.rules.prove.proved import usable

ACT = Path(__file__).parents[3] / "examples" / "rules" / "act.rules"


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AXILOOM_CACHE", str(tmp_path / "cache"))


@pytest.mark.slow
def test_act(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = tmp_path / "act.json"
    assert main(["prove", "rules", str(ACT), "--json", str(report)]) == 1
    found = {one["rule"]: one for one in json.loads(report.read_text())["rules"]}
    assert len(found) == 10
    wrong = found.pop("act_6_narrow_and_back")
    assert wrong["answer"] == "refuted"
    assert "x = 128 (int32): left -128, right 128" in wrong["why"]
    assert all(one["answer"] == "proved" and one["every_size"] and one["tried"] for one in found.values())
    assert "10 rules: 9 proved for all sizes, 1 refuted" in capsys.readouterr().out


GOOD = """
@exact
def twice(x: (m, n)):
    old = transpose(transpose(x, permutation=(1, 0)), permutation=(1, 0))
    new = x
"""
WRONG = GOOD.replace("new = x", "new = negate(x)")
OPEN = """
@exact
def of_exponentials(x: (m, n)):
    "True, but of scalar functions no more is known than that they are functions."
    assert number_of(x) == "float32"
    old = sqrt(abs(x))
    new = sqrt(abs(negate(x)))
"""


def _file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "mine.rules"
    path.write_text(text)
    return path


def test_it_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = _file(tmp_path, GOOD)
    assert main(["prove", "rules", str(path)]) == 0
    assert "cached" not in capsys.readouterr().out
    assert main(["prove", "rules", str(path)]) == 0
    assert "cached" in capsys.readouterr().out
    path.write_text(WRONG)
    assert main(["prove", "rules", str(path)]) == 1
    assert "refuted" in capsys.readouterr().out


def test_a_prover_that_died_is_asked_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _file(tmp_path, GOOD)
    receive = Worker.receive

    def killed(worker: Worker, seconds: float) -> Any:
        assert worker.process is not None
        worker.process.kill()
        return receive(worker, seconds)

    with monkeypatch.context() as patch:
        patch.setattr(Worker, "receive", killed)
        assert main(["prove", "rules", str(path)]) == 1
    assert "1 not decided (twice)" in capsys.readouterr().out
    assert main(["prove", "rules", str(path)]) == 0
    assert "cached" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        (WRONG, 1, "mine.rules:3: x = "),
        (OPEN, 1, "not decided"),
        ("def f(x): pass", 3, "in which sense?"),
        (GOOD.replace("transpose(", "transpos("), 3, "did you mean `transpose`"),
        ("import os", 3, "mine.rules:1"),
    ],
)
def test_exit_codes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, code: int, said: str
) -> None:
    assert main(["prove", "rules", str(_file(tmp_path, text))]) == code
    out = capsys.readouterr()
    assert said in out.out + out.err


def test_only_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", "rules", "--rule", "twice_reversed"]) == 0
    assert "1 rules: 1 proved" in capsys.readouterr().out
    assert main(["prove", "rules", "--rule", "twice_reverse"]) == 2
    assert "did you mean" in capsys.readouterr().err
    assert main(["prove", "rules", "--list"]) == 0
    assert "twice_reversed" in capsys.readouterr().out


def test_selection_uses_proved_rules(tmp_path: Path) -> None:
    (text,) = usable([library.load(_file(tmp_path, GOOD + OPEN))])
    assert [one.name for one in text.rules] == ["twice"]
    with pytest.raises(RuleError, match=r"rule twice is wrong: x = "):
        usable([library.load(_file(tmp_path, WRONG))])
