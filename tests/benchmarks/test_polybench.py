"""`python -m benchmarks.polybench`: what it runs, what it prints, and what it does with a wrong result."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from benchmarks.polybench import __main__ as table
from benchmarks.polybench import measure as measuring
from benchmarks.polybench import sizes
from benchmarks.polybench.measure import Row, has_schedule, measure, program, scheduled
from benchmarks.polybench.published import MULTIPLY_ADDS
from benchmarks.polybench.reference import REFERENCE, inputs

from axiloom.base.errors import CompileError
from axiloom.nests.dataflow import plan
from axiloom.nests.lower import lower
from axiloom.nests.timing.timing import cycles

TRIANGULAR = {"symm": 150_000, "syr2k": 180_750, "syrk": 90_375, "trmm": 74_625, "correlation": 116_513}
"""Bounds at 64 multiply-adds, Medium."""


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [kernel for kernel in sizes.MINI if not has_schedule(kernel)])
def test_as_written_in_verilator(kernel: str) -> None:
    row = measure(kernel, "mini", written=True)
    assert row.equal
    assert row.simulated == row.predicted


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [each for each in sizes.MINI if has_schedule(each)])
def test_scheduled_in_verilator(kernel: str) -> None:
    assert measure(kernel, "mini").right


@pytest.mark.parametrize(
    "kernel",
    [each if each == "syrk" else pytest.param(each, marks=pytest.mark.slow)
     for each in TRIANGULAR],
)  # fmt: skip
def test_triangular_kernels_at_medium(kernel: str) -> None:
    assert -(-MULTIPLY_ADDS[kernel](sizes.MEDIUM[kernel]) // 64) == TRIANGULAR[kernel]
    schedule = scheduled(kernel, "medium")
    circuit = lower(schedule, plan(schedule)).circuit
    assert measuring.units(circuit, "add") <= 64 + (kernel == "correlation")
    assert cycles(circuit).cycles <= 1.1 * TRIANGULAR[kernel]


@pytest.mark.slow
def test_references_are_finite_and_not_constant() -> None:
    """Otherwise equal results would say little."""
    for kernel in sizes.MINI:
        source, given = program(kernel, "mini")
        shapes = {each.name: (each.shape, each.number) for each in source.arrays if each.role.is_given}
        for name, each in REFERENCE[kernel](given, inputs(kernel, shapes)).items():
            found = np.asarray(each)
            assert np.isfinite(found).all(), (kernel, name)
            assert np.unique(found).size > 1, (kernel, name)


RIGHT = Row("atax", False, 1, 4, 100, 150, 150, equal=True)


@pytest.mark.parametrize(
    ("row", "said", "code"),
    [
        (RIGHT, "1.500 yes", 0),
        (replace(RIGHT, equal=False), "1.500 NO", 1),
        (replace(RIGHT, simulated=151), "1.510 yes", 1),
    ],
)
def test_what_differs_ends_with_1(
    row: Row, said: str, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(table, "measure", lambda *_: row)
    assert table.main(["atax", "--size", "mini", "--written"]) == code
    out = capsys.readouterr().out
    assert said in out
    assert f"{1 - code} of 1 kernels" in out
    assert "Stream-HLS" not in out


def test_a_refusal_is_a_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def refuse(*_: object) -> Row:
        raise CompileError("no such operator")

    monkeypatch.setattr(table, "measure", refuse)
    assert table.main(["atax", "--size", "mini"]) == 1
    assert "atax           refused: no such operator\n" in capsys.readouterr().out


def test_bits_decide() -> None:
    zero = {"y": np.array([0.0], np.float32)}
    assert measuring.same(zero, {"y": np.float32([0.0])})
    assert not measuring.same(zero, {"y": np.float32([-0.0])})
    nan = {"y": np.array([np.nan], np.float32)}
    assert not measuring.same(nan, nan)
