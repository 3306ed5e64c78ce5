"""Cache maintenance: every generated driver does enough of it, and without one piece the report says so.

The inputs are stored by the CPU before the driver runs, so that they are dirty in its caches as a program's
data would be, and memory holds other ones.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from axiloom import isa
from axiloom.cosim.soc import Soc
from axiloom.cosim.system import System
from axiloom.drivergen import matmul_mlir
from axiloom.drivergen.pipeline.schedule import Schedule
from axiloom.isa import AcceleratorSpec
from axiloom.run.problem import ProblemRun, Workload
from axiloom.run.run import reports_of

SIMPLE = ("published", "coalesced", "coalesce", "keep-packed", "double-buffer", "copying")
TOUCH = """\
void axl_cache_clean(uintptr_t address, uint32_t bytes);

static void touch(volatile int32_t *words, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        words[i] = ~words[i];
    axl_cache_clean((uintptr_t)words, 4 * count);
    for (uint32_t i = 0; i < count; i++)
        words[i] = ~words[i];
}

int main(void)
{
    touch((volatile int32_t *)axl_arg0, sizeof axl_arg0 / 4);
    touch((volatile int32_t *)axl_arg1, sizeof axl_arg1 / 4);
    touch((volatile int32_t *)axl_arg2, sizeof axl_arg2 / 4);
"""


def with_dma(spec: AcceleratorSpec, pipeline: str) -> AcceleratorSpec:
    return isa.revise(spec, dma=replace(spec.link.dma, scatter_gather=pipeline == "all"))


def job(
    spec: AcceleratorSpec,
    shape: tuple[int, int, int],
    flow: str,
    pipeline: str,
    edit: Callable[[str], str] = str,
    *,
    fresh: bool = False,
) -> ProblemRun:
    """`fresh`: the result is zeroed before, so that it is written in place."""
    dtype = spec.data_type.value
    text = matmul_mlir(*shape, dtype)
    if fresh:
        fill = (
            "%zero = arith.constant 0 : i32\n  linalg.fill ins(%zero : i32) outs(%C : memref<{}x{}xi32>)\n  "
        )
        text = text.replace("linalg.matmul", fill.format(*shape[:2]) + "linalg.matmul")
    problem = Workload("x".join(map(str, shape)), text)
    run = ProblemRun(problem, System(spec), Schedule(flow, pipeline=pipeline))
    assert "int main(void)\n{\n" in run.driver.harness
    run.driver.harness = run.driver.harness.replace("int main(void)\n{\n", TOUCH)
    run.driver.c = edit(run.driver.c)
    return run


def check(spec: AcceleratorSpec, pipelines: tuple[str, ...], shapes: list[tuple[int, int, int]]) -> None:
    runs = [job(spec, shape, flow, one) for shape in shapes for flow in spec.flows for one in pipelines]
    for run, report in zip(runs, reports_of(runs), strict=True):
        what = (run.workload.name, run.asked)
        assert report["result"]["matches"], (what, report["result"]["first"])
        assert report["stale"] == [], what


@pytest.mark.parametrize(
    ("shape", "fresh", "call"),
    [
        ((4, 128, 256), False, "dma_queue_clean_all(0x21000u)"),
        ((128, 256, 4), True, "dma_queue_own(C, 0x20000u)"),
    ],
)
def test_large_arrays_leave_no_dirty_line_behind(shape: tuple[int, int, int], fresh: bool, call: str) -> None:
    """Operands, or a result, of 128 KiB: both caches are cleaned, or emptied, as a whole."""
    run = job(with_dma(isa.builtin("v3_4"), "all"), shape, "Cs", "all", fresh=fresh)
    assert call in run.driver.c
    [report] = reports_of([run])
    assert report["result"]["matches"]
    assert report["stale"] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "dtype"),
    [("v1_4", "int8"), ("v2_8", "int32"), ("v3_4", "int8"), ("v3_16", "int32"), ("v4_16", "int8")],
)
def test_all_generated_drivers_maintain_the_caches(name: str, dtype: str) -> None:
    """Less than most tiles, and edges behind whole tiles in all dims."""
    spec = isa.builtin(name, data_type=dtype)
    shapes = [(13, 10, 9), (20, 36, 24)]
    check(spec, SIMPLE, shapes)
    check(with_dma(spec, "all"), ("all",), [*shapes, (16, 16, 16)])


# --- without one piece of it ------------------------------------------------------------------------------


def without(pattern: str, replacement: str, number: int) -> Callable[[str], str]:
    """Edit the piece of that number in a driver."""

    def edit(c: str) -> str:
        found = list(re.finditer(pattern, c))
        assert len(found) > number, c
        one = found[number]
        return c[: one.start()] + one.expand(replacement) + c[one.end() :]

    return edit


UNCLEANED = {
    "published": (r"dma_start_send\(", "dma_packet_send(", "dma_put_word"),
    "coalesced": (r"dma_start_send\(", "dma_packet_send(", "dma_put_word"),
    "coalesce": (r"dma_start_send\(", "dma_packet_send(", "dma_put_word"),
    "keep-packed": (r"TRY\(dma_packet_clean\(.*\)\);", "", "dma_put_word"),
    "double-buffer": (r"TRY\(dma_packet_clean\(.*\)\);", "", "dma_put_word"),
    "copying": (r"TRY\(dma_packet_clean\(.*\)\);", "", "matmul"),
    "all": (r"if \(.*\)\n *dma_clean_rows\(.*\);", "", "axl_arg"),
}
"""Pipeline: what the driver cleans with, what stands there instead, and a name that the report then has.

It is the function that stored what is dirty, or the matrix where it lies.

A `dma_packet_send` sends what was cleaned before, where `dma_start_send` cleans.
"""


def uncleaned(pipeline: str, numbers: list[int], folder: Path) -> list[list[str]]:
    """What is said of each; the device gets old words, so a run may stop, as on a board."""
    pattern, replacement, _ = UNCLEANED[pipeline]
    spec = with_dma(isa.builtin("v3_4"), pipeline)
    edits = [without(pattern, replacement, number) for number in numbers]
    header = '#include "axiloom_packets.h"\n' if replacement else ""
    runs = [job(spec, (16, 16, 16), "Cs", pipeline, lambda c, e=edit: header + e(c)) for edit in edits]
    jobs = [run.job(run.build(folder / str(number))) for number, run in enumerate(runs)]
    return [result.stale for result in Soc(runs[0].system).run_many(jobs, check=False)]


@pytest.mark.every(5)
@pytest.mark.parametrize("pipeline", UNCLEANED)
def test_a_flush_that_is_missing_is_reported(pipeline: str, tmp_path: Path) -> None:
    """Of the first operand that is sent; of each, where nothing is copied."""
    for stale in uncleaned(pipeline, [0, 1] if pipeline == "all" else [0], tmp_path):
        assert stale, pipeline
        for line in stale:
            assert line.startswith("missing flush: the DMA, started by "), line
        assert any(UNCLEANED[pipeline][2] in line for line in stale), stale
