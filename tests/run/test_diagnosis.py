"""Each usual fault of a product is told from all others, and real faults in RTL and drivers are named."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from benchmarks.simulation import faults as injected

from axiloom.run.diagnosis import Faults, Product, computed, diagnosis, guesses, of_run


def problem(tile: tuple[int, int, int], bits: int) -> tuple[Product, np.ndarray]:
    rng = np.random.default_rng(1)
    half = 1 << (bits - 1)
    a = rng.integers(-half, half, (8, 16)).astype(np.int32)
    b = rng.integers(-half, half, (16, 24)).astype(np.int32)
    c = rng.integers(-(1 << 31), 1 << 31, (8, 24)).astype(np.int32)
    want = (c.astype(np.int64) + a.astype(np.int64) @ b.astype(np.int64)).astype(np.int32)
    return Product(a, b, c, tile, ("n", "k", "m")), want


@pytest.mark.every(7)
@pytest.mark.parametrize("tile", [(4, 4, 4), (1, 8, 8)])
@pytest.mark.parametrize("bits", [8, 32])
def test_each_fault_is_told(tile: tuple[int, int, int], bits: int) -> None:
    one, want = problem(tile, bits)
    assert (computed(one, Faults()) == want).all()
    for text, fault in guesses(bits).items():
        got = computed(one, fault)
        lines = diagnosis(one, got, want, bits)
        if (got == want).all():  # a vector has no transpose, small sums do not saturate
            assert lines == []
            continue
        assert text in lines[1] or lines[1].count(", or ") == 2, (text, lines[1])


def test_where() -> None:
    one, want = problem((4, 4, 4), 32)
    got = want.copy()
    got[5, 9] += 1
    got[5, 13] += 1
    first, second = diagnosis(one, got, want, 32)
    assert first == "2 of 12 tiles of C (4 x 4) are wrong, the first from [4, 8], only in row 1 of a tile"
    assert second.startswith("none of")


def test_only_plain_products() -> None:
    a = np.zeros((2, 4), np.int32)
    assert of_run({"m": 2, "n": 3, "k": 4}, (2, 3, 4), "mnk", [a, a.T, np.zeros((2, 2), np.int32)]) is None
    assert of_run({"oc": 2}, (2,), ("oc",), [a, a, a]) is None


DEFAULT = ("B's index is turned",)
"""Half of the faults are here; ``python -m benchmarks faults`` has them all."""


@pytest.mark.every(7)
@pytest.mark.parametrize(
    "fault",
    [pytest.param(one, marks=() if one.what in DEFAULT else pytest.mark.slow) for one in injected.RTL[::2]],
    ids=lambda one: one.what,
)
def test_faults_in_rtl(fault: injected.Fault, tmp_path: Path) -> None:
    assert fault.named in injected.said_of_rtl(fault, tmp_path)[-1]


@pytest.mark.slow
@pytest.mark.parametrize("fault", injected.DRIVER[::2], ids=lambda one: one.what)
def test_faults_in_drivers(fault: injected.Fault, tmp_path: Path) -> None:
    assert fault.named in injected.said_of_driver(fault, tmp_path)[-1]
