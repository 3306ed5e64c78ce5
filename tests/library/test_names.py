"""The library's names: few, lazy, and not hidden by rooms of the same name."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import axiloom as ax


def test_at_most_fifteen_names_and_each_says_what_it_does() -> None:
    assert len(ax.__all__) <= 15
    assert [name for name in ax.__all__ if not (getattr(ax, name).__doc__ or "").strip()] == []
    assert set(ax.__all__) <= set(dir(ax))


def test_importing_touches_nothing_heavy() -> None:
    told = "import sys, axiloom; print({'numpy', 'amaranth', 'torch', 'z3'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_a_room_of_the_same_name_hides_no_function() -> None:
    told = "import axiloom.run.problem, axiloom.read, axiloom as a; print(callable(a.run), callable(a.read))"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True"]
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        ax.nothing  # type: ignore[attr-defined]  # noqa: B018


TYPED = """
import axiloom as ax
import numpy as np


def ratio(problem: str, device: ax.Device) -> float:
    plan: ax.Plan = ax.plan(problem, on=device, board="pynq-z2")
    run: ax.Run = ax.run(plan, A=np.zeros((8, 8), np.int32)).check()
    return run.cycles / run.time


with ax.soc("v3_16") as chip:
    print(chip.specs, [verdict.good for verdict in ax.prove("v3_4")])
print(ax.explore("matmul:8x8x8", on="v3_4").best.c, ax.nest("a.c").cycles, ax.board("zcu104").cpu_hz)
"""


@pytest.mark.slow
def test_a_script_of_a_user_has_types(tmp_path: Path) -> None:
    file = tmp_path / "script.py"
    file.write_text(TYPED)
    command = [sys.executable, "-m", "mypy", "--strict", str(file), "--cache-dir", str(tmp_path)]
    assert subprocess.run(command, capture_output=True, text=True).stdout.startswith("Success")
    file.write_text(TYPED.replace("run.cycles / run.time", "run.cycle"))
    assert 'no attribute "cycle"' in subprocess.run(command, capture_output=True, text=True).stdout
