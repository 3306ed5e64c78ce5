"""What is taken where nothing is said, and what stays as it is said."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from axiloom import boards, isa
from axiloom.base.errors import UsageError
from axiloom.drivergen import matmul_mlir, parse_workload
from axiloom.drivergen.pipeline.schedule import DEFAULTS, Schedule
from axiloom.explore.default import Open, hardware, of_network, of_problem, published
from axiloom.read import models
from axiloom.report.build import choice_line
from axiloom.run.resolve import BEST

V3, V4 = isa.builtin("v3_16"), isa.builtin("v4_16")
ROWS = parse_workload("matmul:64x64x64").mlir
NOTHING = Open(dma=False, stream_width=False, macs=False, port=False)


def test_rows_of_whole_beats_are_read_where_they_are() -> None:
    found = of_problem(ROWS, V4, DEFAULTS)
    assert found.spec.link.dma.scatter_gather
    assert found.spec.link.stream_width == 64
    assert found.schedule.pipeline == "all"
    assert found.choice is not None
    assert found.choice["chosen"].keys() == {
        *("flow", "order", "tile", "pipeline", "dma", "stream_width", "port")
    }
    assert found.choice["predicted_ms"] < (found.choice["published_ms"] or 0) / 2
    assert choice_line(found.choice).startswith(f"Chosen: flow {found.schedule.flow}, loops ")


def test_small_tiles_are_copied() -> None:
    """A descriptor takes as long as a copy of sixteen words."""
    found = of_problem(ROWS, isa.builtin("v3_4"), DEFAULTS)
    assert not found.spec.link.dma.scatter_gather
    assert found.schedule.pipeline == "copying"
    assert found.choice is not None
    assert "tile" not in found.choice["chosen"]  # there is but one


def test_what_is_said_stays() -> None:
    asked = Schedule("As", None, (32, 32, 32))
    found = of_problem(ROWS, isa.revise(V4, stream_width=32), asked, Open(stream_width=False))
    assert (found.schedule.flow, found.schedule.tile) == ("As", (32, 32, 32))
    assert found.spec.link.stream_width == 32
    assert found.choice is not None
    assert found.choice["chosen"].keys() == {"order", "pipeline", "dma", "port"}


def test_published_is_published() -> None:
    found = of_problem(ROWS, V3, Schedule(pipeline="published"))
    assert found.spec == V3
    assert found.choice is None


@pytest.mark.parametrize(("pipeline", "in_place"), [("copying", False), ("all", True)])
def test_a_pipeline_says_which_dma(pipeline: str, in_place: bool) -> None:
    found = of_problem(ROWS, V3, Schedule(pipeline=pipeline))
    assert found.spec.link.dma.scatter_gather == in_place
    assert found.schedule.pipeline == pipeline


def test_direct_dma_is_one_option_away() -> None:
    found = of_problem(ROWS, V3, DEFAULTS, Open(dma=False))
    assert not found.spec.link.dma.scatter_gather
    assert found.schedule.pipeline in ("published", "copying")


def test_descriptors_are_not_taken_where_all_tiles_are_copied() -> None:
    """A DMA without them is as fast there, to some per cent, and less logic."""
    found = of_problem(matmul_mlir(58, 59, 56, "int8"), isa.builtin("v3_16", data_type="int8"), DEFAULTS)
    assert not found.spec.link.dma.scatter_gather
    assert found.schedule.pipeline == "copying"


def test_nothing_is_chosen_where_no_flow_can_be_used() -> None:
    """The compiler then says what is wrong; who asks for the best is told so here."""
    wrong = Schedule("Cs", ("q", "n", "k"))
    assert of_problem(ROWS, V3, wrong).choice is None
    with pytest.raises(UsageError, match="no flow of v3_16 can be used"):
        of_problem(ROWS, V3, replace(wrong, flow=BEST))


def test_int8_has_as_many_multiply_adds_as_the_part_has_multipliers_for() -> None:
    spec = isa.builtin("v4_16", data_type="int8")
    assert {one.macs for one in hardware(spec, None, Open(), boards.DEFAULT)} == {256}
    assert {one.macs for one in hardware(spec, None, Open(macs=False), boards.DEFAULT)} == {64}
    assert {one.macs for one in hardware(V4, None, Open(), boards.DEFAULT)} == {64}


@pytest.mark.parametrize(("board", "widest"), [("pynq-z2", 64), ("zcu104", 128)])
def test_no_stream_is_wider_than_the_ports_to_memory(board: str, widest: int) -> None:
    assert max(one.link.stream_width for one in hardware(V4, None, Open(), board)) == widest
    assert list(hardware(V4, None, NOTHING, board)) == [V4]


def test_a_port_that_looks_into_the_caches_is_taken_where_there_is_one() -> None:
    """No line is cleaned: the driver of a small product is faster."""
    found = of_problem(ROWS, V4, DEFAULTS)
    assert found.spec.link.dma.coherent
    assert found.choice is not None
    assert "memory port coherent" in choice_line(found.choice)
    assert found.choice["predicted_ms"] < 0.95 * _predicted(Open(port=False))
    elsewhere = of_problem(ROWS, V4, DEFAULTS, board="zcu104")
    assert not elsewhere.spec.link.dma.coherent
    assert elsewhere.choice is not None
    assert "port" not in elsewhere.choice["chosen"]


def _predicted(left: Open) -> float:
    choice = of_problem(ROWS, V4, DEFAULTS, left).choice
    assert choice is not None
    return choice["predicted_ms"]


@pytest.mark.slow
def test_a_convolution_beside_published() -> None:
    text, spec = parse_workload("conv:14_16_1_16_1").mlir, isa.builtin("conv_v4")
    found = of_problem(text, spec, DEFAULTS)
    assert found.spec.link.dma.scatter_gather
    assert found.choice is not None
    before = published(text, spec)
    assert before is not None
    assert found.choice["published_ms"] == pytest.approx(before * 1e3, abs=1e-4)
    assert found.choice["predicted_ms"] < before * 1e3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("problem", "bits"),
    [
        (
            "conv:30_128_3_128_1:int8",
            32,
        ),  # planes of 900 bytes: at 64 bits the CPU would copy
        (
            "conv:16_32_1_64_2:int8",
            64,
        ),  # the device takes the time at stride 2
    ],
)
def test_a_convolution_is_read_where_it_is_if_a_narrow_stream_can(problem: str, bits: int) -> None:
    spec = isa.builtin("conv_v4", data_type="int8")
    assert of_problem(parse_workload(problem).mlir, spec, DEFAULTS).spec.link.stream_width == bits


def test_later_calls_may_take_other_tiles() -> None:
    """Half of C comes back while the array works on the other half, which the first call, busy with misses of
    the caches, does not gain from."""
    text = parse_workload("matmul:64x64x64:int8").mlir
    spec = isa.builtin("v4_16", data_type="int8")
    once, often = (of_problem(text, spec, DEFAULTS, calls=calls) for calls in (1, 6))
    assert (once.schedule.flow, once.schedule.tile) == ("As", (32, 16, 64))
    assert (often.schedule.flow, often.schedule.tile) == ("Bs", (16, 32, 64))
    assert once.choice is not None
    assert often.choice is not None
    assert "calls" not in once.choice
    assert often.choice["calls"] == 6
    assert often.choice["published_ms"] is None
    assert choice_line(often.choice).endswith(f"predicted {often.choice['predicted_ms']:.3f} ms for 6 calls")
    assert once.choice["predicted_ms"] < often.choice["predicted_ms"] < 6 * once.choice["predicted_ms"]


def test_a_network_is_not_beside_published_where_a_layer_is_not() -> None:
    """Of the first two layers, which requantise, the model knows no published driver."""
    name = str(Path(__file__).parents[1] / "fixtures" / "quantised" / "digits_mlp.mlir")
    network, spec = models.load(name), isa.builtin("v4_16", data_type="int8", post=True)
    choice = of_network(network.mlir, network.weights, [spec], DEFAULTS, NOTHING, name=name).choice
    assert choice is not None
    assert choice["published_ms"] is None
    assert choice["predicted_ms"] > 0
