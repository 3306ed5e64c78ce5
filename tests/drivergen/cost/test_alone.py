"""What the device needs alone, beside sums by hand and a run on RTL."""

from dataclasses import replace

import pytest

from axiloom import isa
from axiloom.drivergen import parse_workload
from axiloom.drivergen.cost import conv
from axiloom.drivergen.cost.alone import MOST, device_cycles
from axiloom.drivergen.cost.plans import plans
from axiloom.drivergen.cost.selection import Candidate
from axiloom.drivergen.pipeline import conv_choice
from axiloom.drivergen.problems.matmul import Problem

BEAT_WORDS = 2


def cycles(
    tile: tuple[int, int, int], size: int, flow: str, order: tuple[str, str, str], macs: int = 256
) -> float | None:
    spec = isa.builtin("v4", 16, data_type="int8")
    dma = replace(spec.link.dma, scatter_gather=True)
    spec = isa.revise(spec, dma=dma, stream_width=32 * BEAT_WORDS).replace(macs=macs)
    one = Candidate(flow, order, tile)
    plan = plans(spec, Problem(size, size, size, "int8"), [one], queued=True)[one]
    return device_cycles(spec, plan)


def test_one_tile() -> None:
    """Heads of two words, A, B, the multiply-adds, C: nothing overlaps."""
    loads, computes, result = 3 + 2 * 32, 16**3 // 256, 16 * 16 // BEAT_WORDS
    found = cycles((16, 16, 16), 16, "As", ("m", "k", "n"))
    assert found == loads + computes + result


def test_results_leave_while_the_next_tiles_come() -> None:
    """B stays: behind the first tile the stream out is never idle. Half of its first row leaves before the
    second block is computed."""
    b, a, computes, results = 64 * 32 // 8, 16 * 64 // 8, 16 * 32 * 64 // 256, 64 * 64 // BEAT_WORDS
    found = cycles((16, 32, 64), 64, "Bs", ("k", "n", "m"))
    assert found == 3 + b + a + computes + results - 16 // BEAT_WORDS


def test_results_leave_while_their_tile_is_computed() -> None:
    """Four rows of four blocks: from the second block on, the stream out is never idle."""
    loads, computes, results = 3 + 2 * 64 * 64 // 8, 64**3 // 256, 64 * 64 // BEAT_WORDS
    found = cycles((64, 64, 64), 64, "As", ("m", "k", "n"))
    first_line = 48 // BEAT_WORDS  # of it, what leaves before the fourth block
    assert found == loads + computes // 4 + results - first_line


@pytest.mark.parametrize("macs", [256, 1])
def test_waits_for_buffers(macs: int) -> None:
    """With an array that takes longer than all else, its time, the first loads and the last result count."""
    computes = 16 * 32 * 64 // macs
    found = cycles((16, 32, 64), 64, "Bs", ("k", "n", "m"), macs)
    assert found is not None
    assert (found > 8 * computes + 1000) == (macs == 256)
    if macs == 1:  # the last result leaves behind its first row of blocks at the earliest
        assert 3 + 256 + 128 + 8 * computes < found <= 3 + 256 + 128 + 8 * computes + 16 * 32 // BEAT_WORDS


def test_too_many_tiles() -> None:
    assert MOST < 28**3
    assert cycles((16, 16, 16), 16 * 28, "As", ("m", "k", "n")) is None


def convolution(problem: str) -> conv.Model:
    spec = isa.builtin("conv_v4", data_type="int8")
    dma = replace(spec.link.dma, scatter_gather=True, coherent=True)
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
