"""Array, buffers, stream and DMA chosen together with the drivers, under a device's limits."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any

import pytest

from axiloom import isa
from axiloom.base.errors import CompileError, UsageError
from axiloom.boards.ecp5.nextpnr import Routed, Slowest
from axiloom.boards.ecp5.synthesis import Ecp5Resources
from axiloom.boards.synthesis.resources import XC7Z020, Resources
from axiloom.cli import main
from axiloom.drivergen import parse_problem
from axiloom.drivergen.cost.model import Choice
from axiloom.drivergen.problems.matmul import Problem
from axiloom.explore import estimate
from axiloom.explore import hardware as hardware_choice
from axiloom.explore import order as hardware_order
from axiloom.explore.estimate import Estimate
from axiloom.explore.hardware import HardwareChoice, Kept, choose_hardware, is_larger, least, most, variants
from axiloom.explore.hardware_report import Simulated, as_json, factor, table, taken
from axiloom.explore.products import Product, Work, of_network, of_problem
from axiloom.isa import AcceleratorSpec
from axiloom.read import models
from axiloom.run.choice import ranked, ranked_by_model

V4 = isa.builtin("v4_16", data_type="int8")
PROBLEM = parse_problem("matmul:32x32x64:int8")
WORK = of_problem(PROBLEM)
NETWORK = Path(__file__).parents[1] / "fixtures" / "quantised" / "transformer.mlir"


def taking(
    lut: Callable[[AcceleratorSpec], int], asked: list[str] | None = None
) -> Callable[[AcceleratorSpec], Estimate]:
    """Yosys' place taken by a rule for the LUTs: what is chosen is tested here, not Yosys."""

    def say(spec: AcceleratorSpec) -> Estimate:
        if asked is not None:
            asked.append(spec.name)
        used = least(spec)
        assert isinstance(used, Resources)
        return Estimate(spec, "xc7z020", replace(used, lut=lut(spec)))

    return say


def clocked(
    mhz: Callable[[AcceleratorSpec], float], asked: list[str]
) -> Callable[[AcceleratorSpec], Estimate]:
    """The same for nextpnr and its clock."""

    def say(spec: AcceleratorSpec) -> Estimate:
        asked.append(spec.name)
        path = Slowest(begin="a", end="b", logic_ns=1.0, routing_ns=1.0, levels=1)
        routed = Routed(Path(), mhz(spec) * 1e6, 100e6, {}, path)
        return Estimate(spec, "ecp5-85k", Ecp5Resources(1, 1, 1, 1), routed)

    return say


Ranking = Callable[..., list[Choice]]


def _once(ranking: Ranking) -> Ranking:
    """The same, found once for all tests: a ranking takes a tenth of a second, and does not change."""
    found: dict[tuple[object, ...], list[Choice]] = {}

    def known(problem: Problem, spec: AcceleratorSpec, **options: Any) -> list[Choice]:
        key = (problem, isa.dumps(spec), *sorted((name, str(one)) for name, one in options.items()))
        if key not in found:
            found[key] = ranking(problem, spec, **options)
        return found[key]

    return known


RANKINGS = {"ranked": _once(ranked), "ranked_by_model": _once(ranked_by_model)}


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, ranking in RANKINGS.items():
        monkeypatch.setattr(hardware_order, name, ranking)
    monkeypatch.setattr(hardware_choice, "BUFFERS", (1,))
    monkeypatch.setattr(hardware_choice, "MACS", (64, 128, 256))
    monkeypatch.setattr(hardware_choice, "STREAM_WIDTHS", (32, 64))


def test_variants_keep_the_rules_and_say_what_they_are() -> None:
    names = [spec.name for spec in variants(V4)]
    assert len(names) == len(set(names)) == 12
    assert "v4_16_128m_64_sg" in names
    kept = list(variants(V4, Kept(macs=128, stream_width=64)))
    assert [spec.name for spec in kept] == ["v4_16_128m_64", "v4_16_128m_64_sg"]
    direct = list(variants(V4, Kept(scatter_gather=False)))
    assert len(direct) == 6
    assert not any(spec.link.dma.scatter_gather for spec in direct)
    with pytest.raises(UsageError, match="v3_16: its tile is fixed"):
        list(variants(isa.builtin("v3_16")))


def test_what_cannot_fit_is_known_without_yosys() -> None:
    assert astuple(least(V4)) == (32, 0, 0, 3 * 4096 * 32 * 2 / 36864)  # two products of int8 a multiplier
    assert astuple(least(isa.builtin("v4_16")))[0] == 192  # three multipliers for 32 bits
    assert estimate.within(least(isa.revise(V4, macs=256)), XC7Z020)
    wider = isa.revise(isa.builtin("v4_16", data_type="int16"), macs=256)
    assert astuple(least(wider))[0] == 256
    assert not estimate.within(least(wider), XC7Z020)
    conv = isa.builtin("conv_v4", data_type="int8")
    assert astuple(least(isa.revise(conv, macs=256)))[0] == 128
    assert astuple(least(isa.revise(conv, macs=2)))[0] == 1
    # products of an ECP5 may be in LUTs
    assert astuple(least(isa.revise(V4, macs=256), "ecp5-85k")) == (0, 0, 0, 43)


@pytest.mark.parametrize(
    ("name", "data_type", "macs"),
    [
        ("v4_16", "int8", 256),
        ("v4_16", "int16", 128),
        ("v4_16", "int32", 64),
        ("v3_8", "int8", 64),  # its tile is 8 x 8
        ("conv_v4", "int8", 256),
    ],
)
def test_the_most_multiply_adds_of_a_board(
    monkeypatch: pytest.MonkeyPatch, name: str, data_type: str, macs: int
) -> None:
    monkeypatch.setattr(hardware_choice, "MACS", (16, 32, 64, 128, 256))
    spec = isa.builtin(name, data_type=data_type)
    assert most(spec, "pynq-z2") == isa.revise(spec, macs=macs)


def test_a_tile_that_no_array_can_have(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hardware_choice, "MACS", (256,))
    with pytest.raises(UsageError, match=r"v4_16: no array of 256 multiply-adds or more .* 220 multipliers"):
        most(isa.builtin("v4_16"), "pynq-z2")


@pytest.mark.slow
def test_the_fastest_that_fits_is_taken_and_what_was_faster_is_told() -> None:
    asked: list[str] = []
    found = choose_hardware(
        WORK, V4, "xc7z020", estimator=taking(lambda s: 60_000 if s.macs > 64 else 10_000, asked)
    )
    chosen = found.chosen
    assert chosen.fits
    assert chosen.variant.spec.macs == 64
    assert found.refused
    assert not any(one.fits for one in found.refused)
    assert found.base.variant.spec == V4
    assert found.base.variant.seconds == ranked(PROBLEM, V4)[0].seconds
    assert chosen.variant.seconds < found.base.variant.seconds
    assert (found.variants, found.excluded) == (12, 0)
    # What is in nothing smaller than one that does not fit is not asked about.
    refused = [one.variant.spec for one in found.refused]
    assert not any(is_larger(b, a) for i, a in enumerate(refused) for b in refused[i + 1 :])
    assert asked == [*(one.name for one in refused), chosen.variant.spec.name, "v4_16"]


@pytest.mark.slow
def test_an_array_with_too_many_products_is_not_asked_about() -> None:
    asked: list[str] = []
    wider = isa.builtin("v4_16", data_type="int16")
    work = of_problem(parse_problem("matmul:32x32x64:int16"))
    found = choose_hardware(work, wider, "xc7z020", estimator=taking(lambda _: 1, asked))
    assert (found.variants, found.excluded) == (12, 4)
    assert not any("_256m" in name for name in asked)


@pytest.mark.slow
def test_of_what_is_as_fast_the_smallest_is_taken_and_nothing_larger_is_found() -> None:
    found = choose_hardware(WORK, V4, "xc7z020", estimator=taking(lambda _: 1), count=3)
    times = {spec.name: ranked(PROBLEM, spec)[0].seconds for spec in variants(V4)}
    chosen, seconds = found.chosen.variant.spec, found.chosen.variant.seconds
    assert seconds <= min(times.values()) * (1 + hardware_choice.CLOSE)
    near = [s for s in variants(V4) if times.get(s.name, 1.0) <= min(times.values()) * 1.01]
    assert not any(is_larger(chosen, other) for other in near if other.name != chosen.name)
    designs = [one.variant.spec for one in found.found]
    assert len(designs) == 3
    for number, one in enumerate(designs):
        for later in found.found[number + 1 :]:
            assert not is_larger(later.variant.spec, one) or (
                later.variant.seconds * (1 + hardware_choice.CLOSE) < found.found[number].variant.seconds
            )


@pytest.mark.slow
def test_the_clock_that_nextpnr_reaches_decides() -> None:
    """Larger arrays are so slow that the smaller one is faster; one more is asked than needed at most."""
    asked: list[str] = []
    by_clock = clocked(lambda s: 100.0 if s.macs == 64 else 50.9, asked)
    found = choose_hardware(WORK, V4, "ecp5-85k", estimator=by_clock)
    assert found.chosen.variant.spec.macs == 64
    assert found.chosen.reached
    assert found.chosen.variant.clock_hz == 100e6
    assert not found.refused
    # Each of 128 has a smaller one of 256 multiply-adds, or itself, that said how slow it is.
    slow = [name for name in asked if "_64m_" not in name and name != "v4_16"]
    assert 1 <= len(slow) <= 6
    always = choose_hardware(WORK, V4, "ecp5-85k", estimator=clocked(lambda _: 50.9, []))
    assert always.chosen.variant.clock_hz == always.base.variant.clock_hz == 50e6
    assert always.board_of(always.chosen) == "pynq-z2@50"
    exact = ranked(PROBLEM, always.chosen.variant.spec, board="pynq-z2@50")[0]
    assert always.chosen.variant.seconds == exact.seconds


def test_nextpnr_runs_only_if_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without, what it said before counts (None)."""
    ways: list[bool | None] = []

    def say(spec: AcceleratorSpec, _device: str, *, route: bool | None, **_: object) -> Estimate:
        ways.append(route)
        return clocked(lambda _: 100.0, [])(spec)

    monkeypatch.setattr(hardware_choice, "estimate", say)
    for route, way in ((True, True), (False, None)):
        ways.clear()
        choose_hardware(WORK, V4, "ecp5-85k", route=route)
        assert set(ways) == {way}


def test_a_clock_that_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hardware_choice, "MACS", (64,))
    slow = choose_hardware(WORK, V4, "xc7z020", clock_hz=50e6, estimator=taking(lambda _: 1))
    fast = choose_hardware(WORK, V4, "xc7z020", clock_hz=150e6, estimator=taking(lambda _: 1))
    assert slow.chosen.variant.seconds > fast.chosen.variant.seconds
    assert fast.board_of(fast.chosen) == "pynq-z2@150"
    assert "No open tool routes xc7z020: 150 MHz is assumed" in table(fast, {})


@pytest.mark.slow
def test_nothing_fits() -> None:
    with pytest.raises(CompileError, match="no variant of v4_16 fits xc7z020"):
        choose_hardware(WORK, V4, "xc7z020", estimator=taking(lambda _: 60_000))
    with pytest.raises(UsageError, match="device 'ice40' is unknown: use one of xc7z010, xc7z020"):
        choose_hardware(WORK, V4, "ice40")


@pytest.mark.slow
def test_the_products_of_a_network() -> None:
    """Equal ones once, batches as often, and rows of a weight as they are packed: in whole beats."""
    model = models.load(str(NETWORK))
    work = of_network(str(NETWORK), model.mlir, model.weights, V4)
    assert work.products
    assert len({one.problem for one in work.products}) == len(work.products)
    assert all(one.problem.dtype == "int8" for one in work.products)
    assert work.multiply_adds == sum(one.multiply_adds for one in work.products)
    posted = of_network(
        str(NETWORK), model.mlir, model.weights, isa.builtin("v4_16", None, "int8", post=True)
    )
    assert "Cs" in {one.flow for one in posted.products}
    found = choose_hardware(work, V4, "xc7z020", estimator=taking(lambda _: 1))
    alone = {
        product.problem: ranked(product.problem, found.base.variant.spec)[0].seconds * product.count
        for product in work.products
    }
    assert found.base.variant.seconds == pytest.approx(sum(alone.values()))


def chosen_of(count: int = 2) -> HardwareChoice:
    return choose_hardware(WORK, V4, "xc7z020", estimator=taking(lambda s: 1_000), count=count)


def test_the_simulation_has_the_last_word() -> None:
    found = chosen_of()
    first, second = (one.variant.spec.name for one in found.found)
    runs = {first: Simulated(2e-3), second: Simulated(1e-3), "v4_16": Simulated(4e-3)}
    assert taken(found, {}) is found.found[0]
    assert taken(found, runs) is found.found[1]
    assert factor(found, runs) == (4.0, True)
    text = table(found, runs)
    (starred,) = [line for line in text.splitlines() if line.startswith("*")]
    assert f" {second} " in starred
    assert "1.000 ms" in starred
    assert f"{second} fits xc7z020: 1.000 ms, v4_16 4.000 ms (simulated), 4.00 times as long" in text
    broken = {**runs, "v4_16": Simulated(None, "DriverError: it hangs")}
    assert factor(found, broken)[1] is False
    assert "v4_16: DriverError: it hangs" in table(found, broken)


def test_as_json() -> None:
    found = chosen_of(1)
    told = json.loads(json.dumps(as_json(found, {})))
    assert told["factor_is"] == "predicted"
    assert told["chosen"] == told["found"][0]
    assert told["limits"] == {"dsp": 220, "lut": 53_200, "ff": 106_400, "bram36": 140}
    assert told["chosen"]["resources"]["lut"] == 1_000
    (product,) = told["base"]["products"]
    assert product["problem"] == "32x32x64:int8"
    assert product["count"] == 1


def test_what_the_command_line_refuses(capsys: pytest.CaptureFixture[str]) -> None:
    for options, why in (
        (("--save-spec", "x.json"), "no option `--save-spec`, which is of `axiloom hardware`"),
        (("--route",), "no option `--route`, which is of `axiloom hardware`"),
        (("matmul:4x4x4", "--device", "xc7z020"), "does not know what to do with `matmul:4x4x4`"),
        (("--device", "xc7z020", "--route"), "no open tool routes xc7z020; ecp5-85k can be routed"),
    ):
        assert main(["explore", "matmul:8x8x8", *options]) == 2
        assert why in capsys.readouterr().err
    assert main(["explore", str(NETWORK), "--device", "xc7z020", "--output", "x.csv"]) == 2
    assert "a network has --json" in capsys.readouterr().err


def test_work_is_summed() -> None:
    work = Work("two", (Product(PROBLEM, 3), Product(parse_problem("matmul:8x8x8:int8"))))
    assert work.multiply_adds == 3 * 32 * 32 * 64 + 8**3


def test_limits_are_the_devices() -> None:
    assert astuple(estimate.DEVICES["xc7z020"]) == astuple(Resources(220, 53_200, 106_400, 140))
    assert estimate.is_routed("ecp5-85k")
    assert not estimate.is_routed("xczu7ev")
