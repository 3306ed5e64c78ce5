"""Optional parts: what they are for, and a command that never asks a registry for our name."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from axiloom.base import extras
from axiloom.cli import main

ROOT = Path(__file__).parents[2]
OURS = ("test", "docs", "dev")
"""Of those who change Axiloom."""


def test_every_extra_has_a_use() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert {*project["optional-dependencies"]} - {*OURS} == {*extras.USES}


def test_from_a_checkout(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(ROOT)
    assert extras.install("nests", "prove") == "pip install -e '.[nests,prove]'"
    monkeypatch.chdir(tmp_path)
    assert extras.install("nests") == f"pip install -e '{ROOT}[nests]'"


@pytest.mark.parametrize(
    ("url", "command"),
    [
        ('{"url": "file:///a%20b/axiloom-1.whl"}', "pip install '/a b/axiloom-1.whl[nests]'"),
        ('{"url": "https://host/axiloom.whl"}', "pip install 'https://host/axiloom.whl[nests]'"),
        (None, "pip install 'FILE[nests]', where FILE is the wheel or the checkout that axiloom came from"),
    ],
)
def test_from_a_wheel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, url: str | None, command: str) -> None:
    class Installed:
        def read_text(self, _name: str) -> str | None:
            return url

    monkeypatch.setattr(
        extras, "__file__", str(tmp_path / "lib" / "site-packages" / "axiloom" / "base" / "extras.py")
    )
    monkeypatch.setattr(extras.metadata, "distribution", lambda _name: Installed())
    monkeypatch.chdir("/")
    assert extras.install("nests").replace("'a b", "'/a b") == command


def test_doctor_says_what_is_not_there(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(extras, "_version", lambda package: None if package == "islpy" else "1")
    assert main(["doctor"]) == 0
    said = capsys.readouterr().out
    assert "loops in C: `axiloom nest`: needs islpy: pip install" in said
    assert "not here: nests; all of it by: pip install" in said
