"""Our own accelerators give the same results under seeds of pauses; `python -m benchmarks stall_seeds`
takes 20 of them. What fails: ``test_bus_rules.py``."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.simulation.stall_seeds import ROWS, run

SEEDS = 5
ALWAYS = "v3 irq"
OTHERS = sorted({*ROWS} - {ALWAYS, "v2 int32", "v3 int32", "conv_v4"})
"""Without those that others have with more besides."""


@pytest.mark.parametrize("name", [ALWAYS, *(pytest.param(name, marks=pytest.mark.slow) for name in OTHERS)])
def test_the_same_result_under_all_seeds(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(name, SEEDS) == ""
