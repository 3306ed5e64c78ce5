"""The NumPy simulator beside the terms: the same on random commands, and a difference is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from axiloom.cli import main
from axiloom.isa.formal.programs import model_of
from axiloom.isa.instructions.read import parse
from axiloom.prove.instructions import compared
from axiloom.prove.verdict import Answer

EXAMPLE = Path(__file__).parents[2] / "examples/instructions/dense.isa"
TEXT = EXAMPLE.read_text(encoding="utf-8")


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", ""),
        ("max(y[first + r, j], 0)", "max(y[first + r, j], 1)"),
        ("w[k, j] for k", "w[j, k] for k"),
        ("row = word[8:12]", "row = word[9:13]"),
        ("int8(bits(data, 8 * lane, 8))", "int8(bits(data, 120 - 8 * lane, 8))"),
        ("for r in range(rows)", "for r in range(max(rows, 1) - 1)"),
    ],
)
def test_differences_are_found(old: str, new: str) -> None:
    other = TEXT.replace(old, new) if old else TEXT
    assert bool(old) == (other != TEXT)
    verdict = compared(parse(other, "dense.isa", "dense"), model_of(parse(TEXT, "dense.isa", "dense")))
    assert verdict.answer is (Answer.VIOLATED if old else Answer.HOLDS), verdict.text
    assert old or verdict.bound == 16  # four commands of each instruction


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--isa", "vat"], "no instruction set is called vat; did you mean `vta`?"),
        (["--isa", "vta", "--accel", "v3"], "has no option `--accel`, which is of `axiloom prove spec`"),
        (["--forms"], "has no option `--forms`, which is of `axiloom prove instructions`"),
    ],
)
def test_what_is_refused(options: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", "spec", *options]) in (2, 3)
    assert said in capsys.readouterr().err


@pytest.mark.slow
def test_spec_check_proves_them_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    file = tmp_path / "dense.isa"
    file.write_text(TEXT, encoding="utf-8")
    assert main(["spec", "check", str(file), "--prove"]) == 0
    assert "1 for some commands alone" in capsys.readouterr().out
    file.write_text(TEXT.replace("first + rows <= 64", "first + rows <= 65"), encoding="utf-8")
    assert main(["spec", "check", str(file), "--prove"]) == 1
    assert "every index of y lies within it; not so with" in capsys.readouterr().out
