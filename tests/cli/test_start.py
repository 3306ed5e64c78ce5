"""The way of docs/start.md: to the cycles of RTL by hand in at most 12 commands and 10 minutes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "start.md"
SETUP = ("make setup", ". .venv/bin/activate")
"""They make an environment; the tests run in one. `python -m tools.package` makes fresh ones."""


def commands() -> list[str]:
    blocks = re.findall(r"^```\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    return [line for block in blocks for line in block.splitlines() if line]


def test_they_are_few() -> None:
    assert commands()[:2] == [*SETUP]
    assert len(commands()) <= 12


@pytest.mark.slow
def test_they_lead_to_cycles_within_ten_minutes(tmp_path: Path) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "XDG_CACHE_HOME": str(tmp_path / "cache")}  # nothing built yet
    started, script = time.monotonic(), "\n".join(["set -e", *commands()[2:]])
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    seconds = time.monotonic() - started
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("equal to NumPy in all 64 elements") == 3
    folder = tmp_path / "hardware" / "stream_matmul"
    assert json.loads((folder / "mine_run.json").read_text())["fabric"]["cycles"] > 0
    assert (folder / "page" / "index.html").exists()
    assert seconds < 600
    print(f"{len(commands())} commands, {seconds:.0f} s without the installation")
