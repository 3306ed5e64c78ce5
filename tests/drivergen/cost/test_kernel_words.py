"""`--flow best` for kernels that are data: the words that it counts are those that travel, and are few."""

from __future__ import annotations

import pytest
from tests.drivergen import host

from axiloom.base.errors import CompileError, UsageError
from axiloom.drivergen import compile_mlir, parse_workload
from axiloom.drivergen.pipeline.kernel_choice import best
from axiloom.drivergen.pipeline.schedule import Schedule
from axiloom.drivergen.problems.kernels import parse_kernel
from axiloom.isa import AcceleratorSpec
from axiloom.isa.files.device import device_of
from axiloom.run.resolve import BEST, resolve

PROBLEMS = (
    "relu:n=1000:int8",
    "scale_shift:c=40,n=50:int8",
    "linalg.vecmat:n=30,k=40:int8",
    "linalg.matmul:m=21,n=18,k=12",
    "reduce_max:m=30,k=36",
    "max_pooling:c=6,oh=9,ow=8,fh=3,fw=2,sh=2:int8",
)


def spec_of(problem: str) -> AcceleratorSpec:
    parsed = parse_kernel(problem)
    return device_of(parsed.kernel, data_type=parsed.dtype)


@pytest.mark.every(3)
@pytest.mark.parametrize("problem", PROBLEMS)
def test_results_come_back_as_counted(problem: str) -> None:
    text, spec = parse_workload(problem).mlir, spec_of(problem)
    found = best(text, spec)
    how = {"flow": found.flow, "order": found.order, "tile": found.tile}
    _, device = host.check(text, spec, pipeline="copying", **how)
    assert sum(device.received) == 2 * found.words[1]  # it runs twice


@pytest.mark.every(3)
@pytest.mark.parametrize("problem", PROBLEMS)
def test_no_more_words_than_by_default(problem: str) -> None:
    text, spec = parse_workload(problem).mlir, spec_of(problem)
    found = best(text, spec)
    how = {"flow": found.flow, "order": found.order, "tile": found.tile}
    chosen, default = (host.check(text, spec, pipeline="copying", **one)[1] for one in (how, {}))
    assert sum(chosen.sent) + sum(chosen.received) <= sum(default.sent) + sum(default.received)


def test_words_are_those_of_the_maps() -> None:
    """Whole: A (21, 12), B (12, 18) and C (21, 18), each once, if the buffers hold them."""
    problem = "linalg.matmul:m=21,n=18,k=12"
    spec = spec_of(problem)
    found = best(parse_workload(problem).mlir, spec)
    assert found.tile == (21, 18, 12)
    assert found.words == (21 * 12 + 12 * 18, 21 * 18)
    narrow = spec.replace(buffers={**spec.buffers, "C": 21 * 9})
    found = best(parse_workload(problem).mlir, narrow)
    assert found.tile[0] * found.tile[1] <= 21 * 9
    assert found.words[0] in (2 * 21 * 12 + 12 * 18, 21 * 12 + 2 * 12 * 18)  # one of both is sent twice


def test_what_is_given_is_kept() -> None:
    problem = "linalg.matmul:m=20,n=16,k=12"
    text, spec = parse_workload(problem).mlir, spec_of(problem)
    found = resolve(text, spec, Schedule(BEST, ("n", "m", "k"), (4, 8, 12)))
    assert (found.order, found.tile) == (("n", "m", "k"), (4, 8, 12))
    with pytest.raises(UsageError, match="can be used with loops k,m,n"):
        resolve(text, spec, Schedule(BEST, ("k", "m", "n")))


def test_refused() -> None:
    text = parse_workload("relu:n=10").mlir
    with pytest.raises(CompileError, match=r"no op in it is linalg\.add"):
        best(text, device_of("linalg.add"))


def test_a_repeated_kernel_counts_each_time() -> None:
    """Rows that the device does not know are a loop of the host."""
    text = """\
func.func @f(%A : memref<5x300xi32>, %B : memref<5x300xi32>, %C : memref<5x300xi32>) {
  linalg.add ins(%A, %B : memref<5x300xi32>, memref<5x300xi32>) outs(%C : memref<5x300xi32>)
  func.return
}
"""
    found = best(text, device_of("linalg.add"))
    assert found.words == (2 * 1500, 1500)
    assert compile_mlir(text, device_of("linalg.add"), tile=found.tile).calls[0].words == found.words
