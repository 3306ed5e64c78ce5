"""`python -m benchmarks kernel_table`: its columns without RTL, and what it does with a wrong result."""

from __future__ import annotations

from dataclasses import replace

import pytest
from benchmarks.drivers import kernel_table
from benchmarks.drivers.kernel_table import CASES, Case, lines, measured, on_model, through_model
from tests.some import slow

from axiloom.isa.kernels.named import KERNELS

BY_TITLE = {case.title: case for case in CASES}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_the_model_says_what_numpy_says(case: Case) -> None:
    assert through_model(case)


@pytest.mark.slow
@pytest.mark.parametrize("title", [slow("conv NHWC"), "relu", "reduction, maximum"])
def test_drivers_are_right_on_the_model(title: str) -> None:
    assert on_model(BY_TITLE[title])


def test_every_family_is_there() -> None:
    assert len(BY_TITLE) == len(CASES) >= 14
    assert {case.kernel for case in CASES} <= KERNELS.keys()
    assert sum(case.hardware is not None for case in CASES) >= 14


def test_hardware_by_hand_is_of_the_kernel() -> None:
    for case in CASES:
        if case.hardware is not None and case.hardware.verilog:
            assert case.hardware.spec("int32").kernel == case.kernel


@pytest.mark.slow
def test_rtl_by_hand() -> None:
    row = measured(BY_TITLE["sub"])
    assert row.rtl
    assert row.cycles is not None
    assert row.limit is not None
    assert row.cycles > row.limit


@pytest.mark.slow
def test_a_wrong_result_ends_with_1(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    right = replace(BY_TITLE["relu"], hardware=None)
    wrong = replace(right, title="wrong", formula=lambda a: a)
    monkeypatch.setattr(kernel_table, "CASES", (right, wrong))
    with pytest.raises(SystemExit) as caught:
        kernel_table.main()
    assert str(caught.value) == "not equal to NumPy: wrong"
    said = capsys.readouterr().out
    assert "| relu | relu:n=1000 | equal | equal | - |" in said
    assert "| wrong | relu:n=1000 | NOT EQUAL | equal | - |" in said
    assert len(list(lines([measured(right, rtl=False)]))) == 3
