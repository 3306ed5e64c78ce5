"""What no call of a driver can pass: what its device needs alone, with the latencies of the board."""

from __future__ import annotations

from axiloom.cosim.replay import ENDED, FETCH, FIRST_WORD
from axiloom.drivergen.cost.alone import device_cycles
from axiloom.drivergen.cost.plans import plans
from axiloom.drivergen.cost.selection import Candidate
from axiloom.isa.kernels.forms import MATMUL
from axiloom.report.types import Report
from axiloom.run.modelled import product
from axiloom.run.problem import ProblemRun


def add(report: Report, run: ProblemRun) -> None:
    """Put ``limit.alone_cycles`` for a matrix product that the DMA reads in place."""
    spec, calls = run.spec, run.driver.calls
    if "call_cycles" not in report["limit"] or len(calls) != 1 or report["config"].get("pipeline") != "all":
        return
    if spec.form.name != MATMUL.name or not spec.dma.scatter_gather:
        return
    one = Candidate(calls[0].flow, calls[0].order, calls[0].tile)
    asked = product(calls[0], run.workload.mlir, spec, run.workload.name)
    plan = plans(spec, asked, [one], queued=True).get(one)
    cycles = device_cycles(plan, spec.beat_words) if plan else None
    if cycles is None:
        return
    fabric = run.system.profile.fabric
    latency = fabric.mmio_request + FETCH + fabric.ddr_read + FIRST_WORD + fabric.ddr_write + ENDED
    report["limit"]["alone_cycles"] = round(cycles + latency)
