"""Cache tiling: what the model says of a nest, and that blocked drivers compute the same."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.drivergen import host
from tests.drivergen.placed import nests
from tests.some import slow

from axiloom import isa
from axiloom.drivergen import compile_mlir, matmul_mlir
from axiloom.drivergen.dialects.mlir import parse
from axiloom.drivergen.passes.lowering.place import Place
from axiloom.plan import Plan
from axiloom.plan.blocks import divisors, movable
from axiloom.plan.caches import Caches, lines_from_memory
from axiloom.plan.rewrite import blocked

TINY = Caches(l2_size=8192, l2_ways=8)


def nest(M: int, N: int, K: int, flow: str = "Cs") -> Plan:
    driver = compile_mlir(matmul_mlir(M, N, K), isa.builtin("v3_16"), flow=flow, stop="accel")
    found = [one for _, one in nests(parse(driver.stages["accel"]))]
    assert len(found) == 1
    return found[0].plan()


def test_matrices_that_fit_are_read_once() -> None:
    """A and B once, C read and written: elements / 8 a line."""
    assert lines_from_memory(nest(64, 96, 128), Caches()) == (64 * 128 + 128 * 96 + 2 * 64 * 96) / 8


def test_what_does_not_fit_is_read_for_every_row_of_tiles() -> None:
    whole = lines_from_memory(nest(128, 960, 480), Caches())
    read_once = (128 * 480 + 480 * 960 + 2 * 128 * 960) / 8
    assert whole == pytest.approx(read_once + 7 * 480 * 960 / 8, rel=0.1)
    in_blocks = lines_from_memory(blocked(nest(128, 960, 480), 1, 4), Caches())
    assert in_blocks < 1.35 * read_once


def test_rows_a_power_of_two_apart_share_few_sets() -> None:
    """128 KiB of B fit L2 by far, but not the 512 rows of a column of tiles into the sets they fall on."""
    even, odd = nest(128, 1024, 512), nest(128, 1024 + 16, 512)
    ratio = lines_from_memory(blocked(even, 1, 4), Caches()) / lines_from_memory(blocked(odd, 1, 5), Caches())
    assert ratio > 2


@pytest.mark.parametrize(("flow", "loops"), [("Ns", {1, 2}), ("As", {1}), ("Bs", {1}), ("Cs", {1})])
def test_loops_that_may_go_in_blocks(flow: str, loops: set[int]) -> None:
    """Those with nothing but loops around them."""
    plan = nest(64, 64, 64, flow)
    assert {*movable(plan)} == loops
    assert {*divisors(plan.trips[1])} == {1, 2}


def test_nothing_to_gain_no_blocks() -> None:
    text = compile_mlir(matmul_mlir(64, 64, 64), isa.builtin("v3_16"), pipeline="cache-tiling").c
    assert (
        text.replace(", pipeline cache-tiling", "")
        == compile_mlir(matmul_mlir(64, 64, 64), isa.builtin("v3_16")).c
    )


@pytest.mark.slow
@pytest.mark.parametrize("pipeline", ["cache-tiling", "copying"])
@pytest.mark.parametrize("flow", [slow("Ns"), "As", slow("Bs"), "Cs"])
def test_blocked_drivers_compute_the_same(flow: str, pipeline: str) -> None:
    """Also where the last block ends with part of a tile."""
    spec = isa.builtin("v3_4")
    driver, device = host.check(matmul_mlir(47, 95, 46), spec, flow=flow, pipeline=pipeline, caches=TINY)
    if pipeline == "cache-tiling":
        assert "_block" in driver.c
        _, plain = host.check(matmul_mlir(47, 95, 46), spec, flow=flow)
        assert sorted(device.sent) == sorted(plain.sent)


def test_pass_is_repeatable_from_its_text() -> None:
    place = Place(l2_size=2048, l2_ways=2, buffers=2, keep=True)
    assert str(place) == "accel-place{l2_size=2048 l2_ways=2 buffers=2 keep=true}"


@pytest.mark.parametrize(
    ("flow", "loops"),
    [
        ("As", ("m", "k", "n")),  # 16 rows of C stay in L1 while k goes by, all of C would not
        ("Ns", ("m", "k", "n")),  # and a tile of A in the device, which saves more words than C in place does
        (
            "Bs",
            ("n", "k", "m"),
        ),  # a column of C falls on few sets: this is the first order
    ],
)
def test_partial_sums_come_back_while_their_place_is_in_the_first_level(
    flow: str, loops: tuple[str, ...]
) -> None:
    spec = isa.builtin("v2_16")
    spec = spec.replace(dma=replace(spec.link.dma, scatter_gather=True))
    driver = compile_mlir(matmul_mlir(256, 256, 256), spec, flow=flow, pipeline="all")
    assert driver.calls[0].order == loops
