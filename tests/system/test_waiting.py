"""Drivers that sleep until the DMA's interrupt do what those that poll do."""

from __future__ import annotations

from dataclasses import replace

import pytest

from axiloom import isa
from axiloom.cosim.system import System
from axiloom.drivergen.pipeline.schedule import Schedule
from axiloom.run.problem import ProblemRun, Workload
from axiloom.run.run import report_of


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pipeline", "scatter_gather"),
    [("published", False), ("copying", False), ("published", True), ("all", True)],
)
def test_asleep_instead_of_polling(pipeline: str, scatter_gather: bool) -> None:
    spec = isa.builtin("v3_4")
    spec = spec.replace(dma=replace(spec.link.dma, scatter_gather=scatter_gather))
    problem, schedule = Workload.of("matmul:10x9x7"), Schedule(pipeline=pipeline)
    poll, irq = (
        report_of(ProblemRun(problem, System(spec, wait=wait), schedule)) for wait in ("poll", "irq")
    )
    for report in (poll, irq):
        assert report["result"]["matches"]
        assert not report["stale"]
    assert irq["config"]["wait"] == "irq"
    assert irq["fabric"]["polls"] == 0
    for same in ("words_in", "words_out", "transfers_in", "transfers_out"):
        assert irq["fabric"][same] == poll["fabric"][same]
    if pipeline == "published":
        assert poll["fabric"]["polls"] > 0
