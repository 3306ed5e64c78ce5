"""What a layer on an accelerator costs in the choice of a network: beside cycles that were simulated."""

from __future__ import annotations

from dataclasses import replace

import pytest

from axiloom import boards, isa
from axiloom.drivergen.network.offers import Offer
from axiloom.drivergen.pipeline.compile import compile_mlir
from axiloom.drivergen.pipeline.schedule import Schedule
from axiloom.drivergen.problems.kinds import parse_workload
from axiloom.isa import AcceleratorSpec
from axiloom.run.costs import START, Costs


def queued(name: str) -> AcceleratorSpec:
    spec = isa.builtin(name, data_type="int8")
    return spec.replace(dma=replace(spec.link.dma, scatter_gather=True), stream_width=64)


def offered(problem: str, name: str, pipeline: str = "all", tile: tuple[int, ...] | None = None) -> Offer:
    """Of one layer that does nothing else."""
    text, how = parse_workload(problem).mlir, Schedule(pipeline=pipeline, tile=tile)
    made = compile_mlir(text, queued(name), **how.options(), stop="linalg", name=problem, layer=True)
    title = "conv" if "conv" in problem else "matmul"
    return Offer(0, (0,), 0, text, title, tuple(made.calls), how, made.passes)


def cost_of(offer: Offer, name: str) -> int:
    return Costs([queued(name)], boards.load(boards.DEFAULT)).of(offer)


def cost(problem: str, name: str, pipeline: str = "all") -> int:
    return cost_of(offered(problem, name, pipeline), name)


def test_tiles_larger_than_a_vector_are_read_in_place() -> None:
    """The product of ResNet18's classifier, whose weights are constants, took 104,000 cycles on v4_16."""
    offer = offered("matmul:1x1000x512:int8", "v4_16", tile=(16, 64, 64))
    copied = cost_of(replace(offer, passes=tuple(one for one in offer.passes if one != "zero-copy")), "v4_16")
    in_place = cost_of(replace(offer, passes=(*offer.passes, "zero-copy")), "v4_16")
    assert 80_000 < in_place < 200_000
    assert copied > 2 * in_place


def test_where_the_cpu_copies_it_is_paid_for() -> None:
    in_place, copied = (cost("matmul:64x64x64:int8", "v4_16", one) for one in ("all", "copying"))
    assert copied > 1.5 * in_place


@pytest.mark.parametrize("channels", [16, 32])
def test_channels_of_a_depthwise_convolution_count_once(channels: int) -> None:
    one, several = (cost(f"dwconv:14x14,{n},3x3:int8", "conv_v4") for n in (channels, 2 * channels))
    assert several - START == pytest.approx(2 * (one - START), rel=0.1)
