"""What the device needs alone, beside sums by hand and a run on RTL."""

from dataclasses import replace

import pytest

from axiloom import isa
from axiloom.drivergen import parse_workload
from axiloom.drivergen.cost import conv
from axiloom.drivergen.cost.alone import MOST, device_cycles
from axiloom.drivergen.cost.plans import Plan, plans
from axiloom.drivergen.cost.selection import Candidate
from axiloom.drivergen.pipeline import conv_choice
from axiloom.drivergen.problems.matmul import Problem

BEAT_WORDS = 2


def plan(tile: tuple[int, int, int], size: int, flow: str, order: tuple[str, str, str]) -> Plan:
    spec = isa.builtin("v4", 16, data_type="int8")
    dma = replace(spec.dma, scatter_gather=True)
    spec = isa.revise(spec, dma=dma, stream_width=32 * BEAT_WORDS, macs=256)
    one = Candidate(flow, order, tile)
    return plans(spec, Problem(size, size, size, "int8"), [one], queued=True)[one]


def test_one_tile() -> None:
    """Heads of two words, A, B, the multiply-adds, C: nothing overlaps."""
    loads, computes, result = 3 + 2 * 32, 16**3 // 256, 16 * 16 // BEAT_WORDS
    found = device_cycles(plan((16, 16, 16), 16, "As", ("m", "k", "n")), BEAT_WORDS)
    assert found == loads + computes + result


def test_results_leave_while_the_next_tiles_come() -> None:
    """B stays: behind the first tile the stream out is never idle. Half of its first row leaves before the
    second block is computed."""
    b, a, computes, results = 64 * 32 // 8, 16 * 64 // 8, 16 * 32 * 64 // 256, 64 * 64 // BEAT_WORDS
    found = device_cycles(plan((16, 32, 64), 64, "Bs", ("k", "n", "m")), BEAT_WORDS)
    assert found == 3 + b + a + computes + results - 16 // BEAT_WORDS


def test_results_leave_while_their_tile_is_computed() -> None:
    """Four rows of four blocks: from the second block on, the stream out is never idle."""
    loads, computes, results = 3 + 2 * 64 * 64 // 8, 64**3 // 256, 64 * 64 // BEAT_WORDS
    found = device_cycles(plan((64, 64, 64), 64, "As", ("m", "k", "n")), BEAT_WORDS)
    first_line = 48 // BEAT_WORDS  # of it, what leaves before the fourth block
    assert found == loads + computes // 4 + results - first_line


@pytest.mark.parametrize("buffers", ["as it is", "slow"])
def test_waits_for_buffers(buffers: str) -> None:
    """With an array that takes longer than all else, its time, the first loads and the last result count."""
    made = plan((16, 32, 64), 64, "Bs", ("k", "n", "m"))
    long = 10_000
    slow = replace(
        made, stages=tuple(replace(one, compute=long if one.compute else 0) for one in made.stages)
    )
    found = device_cycles(slow if buffers == "slow" else made, BEAT_WORDS)
    assert found is not None
    assert (found > 8 * long) == (buffers == "slow")
    if buffers == "slow":
        ahead = 16 // BEAT_WORDS  # half of a row of C
        assert found == 3 + 256 + 128 + 8 * long + 16 * 32 // BEAT_WORDS - ahead


def test_too_many_tiles() -> None:
    made = plan((16, 16, 16), 16, "As", ("m", "k", "n"))
    assert device_cycles(replace(made, trips=(MOST + 1, 1, 1)), BEAT_WORDS) is None


def convolution(problem: str) -> conv.Model:
    spec = isa.builtin("conv_v4", data_type="int8")
    dma = replace(spec.dma, scatter_gather=True, coherent=True)
    spec = isa.revise(spec, dma=dma, stream_width=32 * BEAT_WORDS, macs=256)
    found = conv_choice.model(parse_workload(problem).mlir, spec, "Os")
    assert found is not None
    return found


ORDER = ("oc", "oh", "ow", "ic")


def test_one_tile_of_a_convolution() -> None:
    """Image and filters come in before anything is computed; results leave two a cycle."""
    model = convolution("conv:14_32_1_32_1:int8")
    tile = {"oc": 32, "oh": 14, "ow": 14, "ic": 32, "fh": 1, "fw": 1}
    loads, computes, results = 32 * 14 * 14 // 8 + 32 * 32 // 8, 14 * 2 * 32, 32 * 14 * 14 // 2
    found = model.device_alone(tile, ORDER)
    assert found is not None
    assert loads + max(computes, results) < found <= loads + computes + results
    assert found < model.steps(tile, ORDER)


@pytest.mark.parametrize(
    ("problem", "changed"),
    [("conv:14_32_1_32_1:int8", {"oh": 4}), ("conv:14_32_1_32_1:int8", {"ow": 2})],
    ids=["smaller tiles at the edge", "rows that are no whole beats"],
)
def test_no_bound_where_it_is_not_exact(problem: str, changed: dict[str, int]) -> None:
    tile = {"oc": 32, "oh": 14, "ow": 14, "ic": 32, "fh": 1, "fw": 1}
    assert convolution(problem).device_alone(tile | changed, ORDER) is None
