"""``axiloom example`` and ``axiloom docs``."""

from __future__ import annotations

from pathlib import Path

import pytest

from axiloom.cli import main
from axiloom.cli.example import examples

ROOT = Path(__file__).parents[2]


def test_the_list_has_each_folder(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["example"]) == 0
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    folders = {path.parent for path in (ROOT / "examples").rglob("*") if path.is_file()}
    names = {path.relative_to(ROOT / "examples").parts[0] for path in folders if path != ROOT / "examples"}
    assert listed == sorted(names - {"__pycache__"})
    assert all(len(text) > 20 for text in examples().values())


def test_an_example_is_written_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["example", "hardware"]) == 0
    name = "hardware/start_matmul/matmul_start.json"
    assert name in capsys.readouterr().out.splitlines()
    assert (tmp_path / name).read_bytes() == (ROOT / "examples" / name).read_bytes()
    (tmp_path / name).write_text("mine")
    assert main(["example", "hardware"]) == 2
    assert "not overwritten" in capsys.readouterr().err
    assert (tmp_path / name).read_text() == "mine"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["example", "hardwar"],
            "no example 'hardwar'; did you mean `hardware`?; `axiloom example` lists them",
        ),
        (["example", "../docs"], "no example '../docs'; `axiloom example` lists them"),
        (["docs", "own_rtl"], "no page 'own_rtl'; did you mean `own-rtl`?; `axiloom docs` lists them"),
    ],
)
def test_unknown_names_are_refused(
    words: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    assert capsys.readouterr().err == f"axiloom: {message}\n"
    assert list(tmp_path.iterdir()) == []


def test_pages_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["docs", "boards"]) == 0
    assert capsys.readouterr().out == (ROOT / "docs" / "boards.md").read_text()
    assert main(["docs"]) == 0
    assert "(own-rtl.md)" in capsys.readouterr().out
