"""Queues on the RTL, with caches: packed operands, results in rows that are no whole cache lines."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from tests.drivergen.epilogues import Rounded
from tests.drivergen.pipeline.test_pipeline import two_products
from tests.drivergen.test_epilogues import matmul
from tests.some import slow

from axiloom import isa
from axiloom.cosim.system import System
from axiloom.drivergen.pipeline.schedule import Schedule
from axiloom.run.network import Network, NetworkRun
from axiloom.run.problem import ProblemRun, Workload
from axiloom.run.run import report_of

SHAPE = (13, 30, 20)
"""Rows of 120 and of 30 bytes come back; rows of 30 bytes are packed; every edge is one."""


def run(text: str, weights: dict[str, np.ndarray]) -> NetworkRun:
    """On a small accelerator with post-processing; arguments with these names are weights."""
    for name in weights:
        text = re.sub(rf"(%{name} ?: tensor<[^>]*>)", rf'\1 {{axiloom.weight = "{name}"}}', text, count=1)
    spec = isa.builtin("v3_4", data_type="int8", post=True)
    spec = isa.revise(spec, dma=replace(spec.link.dma, scatter_gather=True))
    return NetworkRun(Network("queues.mlir", text, weights), System(spec))


@pytest.mark.slow
@pytest.mark.parametrize("post", [slow(False), True])
def test_results_are_exact(post: bool) -> None:
    M, N, K = SHAPE
    rng = np.random.default_rng(1)
    weights = {"W": rng.integers(-128, 128, (K, N)).astype(np.int8)}
    text = matmul(M, N, K)
    if post:
        text = Rounded(text, (M, N), 1, zp=-3).text
        weights |= {
            "B": rng.integers(-9999, 9999, N).astype(np.int32),
            "M": rng.integers(0, 1 << 16, N).astype(np.int32),
            "S": rng.integers(14, 20, N).astype(np.int32),
        }
    one = run(text, weights)
    report = report_of(one)
    assert report["result"]["matches"]
    source = next(text for name, text in one.driver.sources.items() if name.startswith("matmul"))
    assert ("dma_queue_own" in source) == (not post)
    assert ("DMA_TAKER_COPY_I8" in source) == post
    assert {"W.packed", "B.packed"} & {arg.name for arg in one.driver.weight_args}


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("second", "columns"),
    [
        ("%C", (16, 16)),  # in one queue it would be read before it is written
        ("%A", (20, 36)),  # each result shares cache lines: a queue of its own
    ],
)
def test_products_one_after_the_other_are_exact(second: str, columns: tuple[int, int]) -> None:
    spec = isa.builtin("v3_4")
    spec = isa.revise(spec, dma=replace(spec.link.dma, scatter_gather=True))
    problem = Workload("products.mlir", two_products("%A", second, columns))
    one = ProblemRun(problem, System(spec), Schedule(pipeline="all"))
    assert report_of(one)["result"]["matches"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "call"),
    [
        ("40x24x16", "TRY(dma_queue_open_ahead(add_to_C, 64, 16, 96, 2));"),
        ("48x32x16", "TRY(dma_table_run(&matmul_table, "),
    ],
    ids=["queue", "table"],
)
@pytest.mark.parametrize("wait", ["poll", "irq"])
def test_halves_of_tiles_behind_a_coherent_port(wait: str, size: str, call: str) -> None:
    """The queue's last tile has rows in its first half alone. With interrupts there are no halves."""
    spec = isa.builtin("v3_16")
    spec = isa.revise(spec, dma=replace(spec.link.dma, scatter_gather=True, coherent=True))
    system = System(spec, wait=wait)
    run = ProblemRun(Workload.of(f"matmul:{size}"), system, Schedule(pipeline="all"), calls=4)
    assert call in run.driver.c
    report = report_of(run)
    assert report["result"]["matches"]
    assert not report["stale"]


TWO = """
func.func @f(%A : memref<80x16xi32>, %B : memref<16x80xi32>, %C : memref<80x80xi32>, %D : memref<64x16xi32>,
             %E : memref<16x64xi32>, %F : memref<64x64xi32>) {
  linalg.matmul ins(%A, %B : memref<80x16xi32>, memref<16x80xi32>) outs(%C : memref<80x80xi32>)
  linalg.matmul ins(%D, %E : memref<64x16xi32>, memref<16x64xi32>) outs(%F : memref<64x64xi32>)
  func.return
}
"""


@pytest.mark.slow
def test_halves_behind_a_queue_of_an_odd_number_of_tiles() -> None:
    """Both halves of a tile lie in slots that follow each other, whatever the queue before has received."""
    spec = isa.builtin("v3_16")
    spec = isa.revise(spec, dma=replace(spec.link.dma, scatter_gather=True, coherent=True))
    run = ProblemRun(Workload("two.mlir", TWO), System(spec), Schedule(pipeline="all"), calls=2)
    assert [f", {parts}));" in run.driver.c for parts in (1, 2)] == [True, True]
    assert report_of(run)["result"]["matches"]
