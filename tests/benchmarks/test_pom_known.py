"""Figures are kept for the code they were found with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from benchmarks.pom import known
from benchmarks.pom.__main__ import OWN_RUNS, refused
from benchmarks.pom.kernels import KERNELS


def test_what_was_found_is_not_sought_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AXILOOM_CACHE", str(tmp_path))
    sought = []

    def find() -> dict[str, Any]:
        sought.append(1)
        return {"cycles": 3 + len(sought)}

    what = ["model", "gemm", "pom", {"n": 6}]
    assert [known.known(what, find)["cycles"] for _ in range(2)] == [4, 4]
    assert known.known(["model", "gemm", "pom", {"n": 7}], find) == {"cycles": 5}
    monkeypatch.setattr(known, "code", lambda: "other code")
    assert known.known(what, find) == {"cycles": 6}


def test_nine_kernels_are_executed_at_poms_size() -> None:
    assert len(OWN_RUNS) == 9
    assert set(OWN_RUNS) < set(KERNELS)


def test_poms_schedule_of_seidel_is_refused_with_its_witness() -> None:
    assert refused() == (
        "skew S0 i j 2: S0(0, 1, 0) would read A[1][2] before S0(0, 0, 1) has written it (RAW); legal: "
        "skew S0 j i 2, then interchange S0 i j"
    )
