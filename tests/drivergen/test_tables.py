"""Drivers that are tables of descriptors, on this machine: against queues, and where a queue stays one."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.drivergen import host
from tests.drivergen.test_epilogues import matmul

from axiloom import isa
from axiloom.base.errors import UsageError
from axiloom.drivergen import compile_mlir, reference
from axiloom.drivergen.cost.plans import plans
from axiloom.drivergen.cost.selection import Candidate
from axiloom.drivergen.dialects.table import MOST
from axiloom.drivergen.pipeline.pipelines import OPTIMISATIONS
from axiloom.drivergen.problems.matmul import Problem
from axiloom.plan import Plan, Queue

QUEUED = ",".join(OPTIMISATIONS[:-1])
"""`all` without tables."""


def coherent(name: str, **options: Any) -> isa.AcceleratorSpec:
    spec = isa.builtin(name, **options)
    return isa.revise(spec, dma=replace(spec.link.dma, scatter_gather=True, coherent=True))


class Recorded(host.Device):
    """Keeps all words that were sent."""

    def __init__(self, spec: isa.AcceleratorSpec) -> None:
        super().__init__(spec)
        self.words: list[int] = []

    def _send(self, words: Any, count: int, armed: int) -> None:
        self.words += words[:count]
        super()._send(words, count, armed)


@pytest.mark.parametrize(
    ("name", "sizes", "data_type"),
    [
        ("v3_4", (8, 12, 4), "int32"),
        ("v3_8", (16, 16, 8), "int8"),
        ("v4_16", (16, 32, 48), "int8"),
        ("v4_16", (32, 16, 16), "int32"),
    ],
)
def test_a_table_sends_what_a_queue_sends(name: str, sizes: tuple[int, int, int], data_type: str) -> None:
    spec = coherent(name, data_type=data_type)
    text = Problem(*sizes, data_type).mlir
    sent, found = [], []
    for pipeline in ("all", QUEUED):
        driver = compile_mlir(text, spec, pipeline=pipeline)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(host, "Device", Recorded)
            inputs = host.random_inputs(driver)
            outputs, device = host.run(driver, spec, inputs, times=2)
        assert isinstance(device, Recorded)
        assert ("dma_table_run" in driver.c) == (pipeline == "all")
        sent.append(device.words)
        found.append(outputs)
    assert sent[0] == sent[1]
    for symbol, array in reference(text, inputs).items():
        for outputs in found:
            np.testing.assert_array_equal(outputs[symbol], array)


@pytest.mark.parametrize(
    ("sizes", "table"), [((16, 16, 16), True), ((32, 32, 32), True), ((512, 512, 512), False)]
)
def test_where_there_are_few_descriptors(sizes: tuple[int, int, int], table: bool) -> None:
    driver = compile_mlir(Problem(*sizes, "int8").mlir, coherent("v4_16", data_type="int8"), pipeline="all")
    assert ("dma_table_run(&matmul_table" in driver.c) == table
    assert (
        f"/* A queue, and no table of descriptors: it takes more than {MOST} descriptors. */" in driver.c
    ) != table


PLANNED = [
    ((16, 16, 16), "As", (16, 16, 16)),
    ((64, 64, 64), "Bs", (16, 32, 64)),
    ((64, 64, 32), "As", (16, 16, 32)),
    ((64, 64, 32), "As", (16, 16, 16)),
    ((128, 64, 32), "Bs", (16, 16, 32)),
]


def is_table(plan: Plan) -> bool:
    return isinstance(plan.transport, Queue) and plan.transport.table


def test_the_plan_of_the_replay_knows() -> None:
    found = set()
    for sizes, flow, tile in PLANNED:
        spec, problem = coherent("v4_16", data_type="int8"), Problem(*sizes, "int8")
        order = isa.loop_orders(spec, flow)[0]
        (plan,) = plans(spec, problem, [Candidate(flow, order, tile)], queued=True).values()
        driver = compile_mlir(problem.mlir, spec, flow=flow, order=order, tile=tile, pipeline="all")
        assert is_table(plan) == ("dma_table_run" in driver.c)
        found.add(is_table(plan))
    assert found == {True, False}


def test_a_matrix_that_is_packed_stays_in_a_queue() -> None:
    driver = compile_mlir(matmul(13, 30, 20), coherent("v3_4", data_type="int8"), pipeline="zero-copy,tables")
    assert "dma_table" not in driver.c
    assert "and no table of descriptors: the driver has more to do than to queue" in driver.c


def test_a_plain_port_and_a_layer_have_queues() -> None:
    spec = coherent("v4_16")
    text = Problem(16, 16, 16, "int32").mlir
    plain = isa.revise(spec, dma=replace(spec.link.dma, coherent=False))
    for driver in (
        compile_mlir(text, plain, pipeline="all"),
        compile_mlir(text, spec, pipeline="all", layer=True),
    ):
        assert "dma_queue_open" in driver.c
        assert "table" not in driver.c


def test_neighbouring_words_are_one_descriptor() -> None:
    driver = compile_mlir(Problem(16, 16, 16, "int32").mlir, coherent("v4_16"), flow="As", pipeline="all")
    words = re.search(r"matmul_table_words\[\].*?\};", driver.c, re.DOTALL)
    assert words is not None
    assert [line.split(" /*")[1] for line in words[0].splitlines()[1:-1]] == [" sA */", " sB */", " cC rC */"]


def test_a_table_is_a_pass_with_a_name() -> None:
    with pytest.raises(UsageError, match="did you mean `tables`"):
        compile_mlir(Problem(16, 16, 16, "int32").mlir, coherent("v4_16"), pipeline="table")


def test_in_a_network_a_queue_stays_one() -> None:
    spec, problem = coherent("v4_16", data_type="int8"), Problem(32, 32, 32, "int8")
    one = Candidate("Bs", isa.loop_orders(spec, "Bs")[0], (16, 32, 32))
    alone, layer = (plans(spec, problem, [one], queued=True, tables=tables)[one] for tables in (True, False))
    assert (is_table(alone), is_table(layer)) == (True, False)
    assert alone.levels == layer.levels
