"""An accelerator of somebody else: a package in a folder of its own, found by its entry point."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from axiloom.base.accelerators import GROUP, Part, accelerators, parts, texts
from axiloom.base.errors import UsageError
from axiloom.cli import main

SOURCES = Path(__file__).parents[2] / "src"
FILES = {
    "pyproject.toml": """
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "heron"
version = "1"

[project.entry-points."axiloom.accelerators"]
heron = "heron:ACCELERATOR"

[tool.setuptools]
packages = ["heron"]
""",
    "heron/__init__.py": """
from pathlib import Path

from axiloom.base.accelerators import Accelerator

ACCELERATOR = Accelerator("heron", Path(__file__).parent)
""",
    "heron/heron.isa": '''
"""Rows of 4 bytes, doubled."""

word = input(8)
host = memory(64, type=int8, host=True)
out = memory(16, type=int16, host=True)


@instruction(word[0:1] == 1)
def double():
    row = word[4:6]
    for lane in lanes(4):
        out[4 * row + lane] = 2 * host[4 * row + lane]
''',
    "heron/heron_double.mapping": '''
"""Each element twice."""

target("heron")
N = size(2, most=4)
x = tensor(4, 4, type=int8)
y = tensor(4, 4, type=int16)


def kernel():
    for i in range(N):
        for j in lanes(4):
            y[i, j] = x[i, j] + x[i, j]


def program():
    for i in range(N):
        for j in lanes(4):
            host[4 * i + j] = x[i, j]
        command(word=1 | i << 4)


def result():
    for i in range(N):
        for j in lanes(4):
            y[i, j] = out[4 * i + j]
''',
}
CHECKED, PROVED = ("spec", "check", "heron"), ("prove", "mapping", "heron_double")


def write(folder: Path, files: dict[str, str] = FILES) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text.lstrip(), encoding="utf-8")


@pytest.fixture
def beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the path, with a package and its metadata, as an installation leaves them."""
    write(tmp_path)
    write(
        tmp_path / "heron-1.dist-info",
        {
            "METADATA": "Metadata-Version: 2.1\nName: heron\nVersion: 1\n",
            "entry_points.txt": f"[{GROUP}]\nheron = heron:ACCELERATOR\n",
        },
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    accelerators.cache_clear()
    yield tmp_path
    accelerators.cache_clear()
    for name in [name for name in sys.modules if name.partition(".")[0] == "heron"]:
        del sys.modules[name]


def test_it_is_used_by_its_name(beside: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert [*accelerators()][-1] == "heron"
    assert main([*CHECKED]) == 0
    assert main([*PROVED]) == 0
    assert "heron_double" in capsys.readouterr().out
    text = beside / "heron/heron.isa"
    text.write_text(text.read_text().replace("= 2 *", "= 3 *"))
    assert main([*PROVED]) == 1


def test_pip_installs_it(tmp_path: Path) -> None:
    write(tmp_path / "heron")
    python = tmp_path / "venv/bin/python"
    path = os.pathsep.join([str(SOURCES), *filter(None, sys.path)])
    environment = {**os.environ, "PYTHONPATH": path}
    pip = ("-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-build-isolation")

    def run(*command: str | Path) -> str:
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv")
    run(sys.executable, *pip, "--no-index", "--editable", tmp_path / "heron")
    assert "heron: heron: no faults" in run(python, "-m", "axiloom", *CHECKED)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"heron/__init__.py": "import herron\n"}, "ModuleNotFoundError: No module named 'herron'"),
        ({"heron/__init__.py": "A = 1\n"}, "AttributeError: module 'heron' has no attribute"),
        ({"heron/__init__.py": "ACCELERATOR = 1\n"}, "an Accelerator is wanted, not 1"),
        ({"heron/vta.isa": FILES["heron/heron.isa"]}, "two accelerators bring vta.isa: "),
    ],
)  # fmt: skip
def test_one_that_cannot_be_used_is_named(
    files: dict[str, str], message: str, beside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(beside, files)
    assert main([*CHECKED]) == UsageError.exit_code
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1


def test_what_ours_name_is_there() -> None:
    assert all(parts(part) for part in get_args(Part))
    brought = {name for part in get_args(Part) for name in parts(part)}
    assert {file.parent.name for file in texts(".isa").values()} | brought == {*accelerators()}
