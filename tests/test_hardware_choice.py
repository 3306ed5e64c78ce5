"""Array, buffers, stream and DMA chosen together with the driver, under a device's limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple, replace

import pytest

from axiloom import hardware_choice, isa
from axiloom.choice import ranked
from axiloom.cli import main
from axiloom.drivergen import parse_problem
from axiloom.errors import CompileError, UsageError
from axiloom.estimate import Estimate
from axiloom.hardware_choice import choose_hardware, least, variants
from axiloom.hw.resources import XC7Z020, Resources
from axiloom.isa import AcceleratorSpec

V4 = isa.builtin("v4_16", data_type="int8")
PROBLEM = parse_problem("matmul:64x64x64:int8")


def taking(lut: Callable[[AcceleratorSpec], int]) -> Callable[[AcceleratorSpec], Estimate]:
    """Yosys' place taken by a rule for the LUTs: what is chosen is tested here, not Yosys."""
    return lambda spec: Estimate(spec, "xc7z020", replace(least(spec), lut=lut(spec)))


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hardware_choice, "BUFFERS", (1,))
    monkeypatch.setattr(hardware_choice, "REPLAYED", 2)


def test_variants_keep_the_rules_and_say_what_they_are() -> None:
    names = [spec.name for spec in variants(V4)]
    assert len(names) == len(set(names)) == 18
    assert "v4_16_128m_64_sg" in names
    with pytest.raises(UsageError, match="v3_16: its tile is fixed"):
        list(variants(isa.builtin("v3_16")))


def test_what_cannot_fit_is_known_without_yosys() -> None:
    assert least(V4).dsp == 64
    assert least(isa.builtin("v4_16")).dsp == 192  # three multipliers for 32 bits
    assert least(V4).bram36 == 3 * 4096 * 32 * 2 / 36864
    assert not least(isa.revise(V4, macs=256)).fits(XC7Z020)


def test_the_fastest_that_fits_is_taken_and_what_was_faster_is_told() -> None:
    found = choose_hardware(
        PROBLEM, V4, "xc7z020", estimator=taking(lambda s: 60_000 if s.macs > 64 else 10_000)
    )
    *faster, chosen = found.rows
    assert chosen is found.chosen
    assert chosen.spec.macs == 64
    assert chosen.estimate is not None
    assert chosen.estimate.fits
    assert all(row.estimate is not None and not row.estimate.fits for row in faster)
    assert found.base.spec == V4
    assert found.base.seconds == ranked(PROBLEM, V4)[0].seconds
    assert chosen.seconds < found.base.seconds
    assert (found.variants, found.excluded) == (18, 6)


def test_nothing_fits() -> None:
    with pytest.raises(CompileError, match="no variant of v4_16 fits xc7z020"):
        choose_hardware(PROBLEM, V4, "xc7z020", estimator=taking(lambda _: 60_000))
    with pytest.raises(UsageError, match="device 'ice40': hardware can be chosen for xc7z020"):
        choose_hardware(PROBLEM, V4, "ice40")


def test_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explore", "matmul:8x8x8", "--save-spec", "x.json"]) == 2
    assert "--save-spec writes what --device chooses" in capsys.readouterr().err
    assert main(["explore", "matmul:8x8x8", "matmul:4x4x4", "--device", "xc7z020"]) == 2
    assert "--device chooses hardware for one problem" in capsys.readouterr().err


def test_limits_are_the_devices() -> None:
    assert astuple(hardware_choice.DEVICES["xc7z020"]) == astuple(Resources(220, 53_200, 106_400, 140))
