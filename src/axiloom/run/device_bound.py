"""What no call of a run can pass, whatever its driver does: what its device needs alone.

Once with a memory that answers at once: the first operands come in before anything is computed, and the last
result leaves behind it. Once with the latencies of the board.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from axiloom.cosim.replay import ENDED, FIRST_WORD
from axiloom.drivergen.cost.alone import device_cycles
from axiloom.drivergen.cost.plans import plans
from axiloom.drivergen.cost.selection import Candidate
from axiloom.drivergen.pipeline import conv_choice
from axiloom.isa.kernels.forms import IMAGE, MATMUL
from axiloom.report.types import Report
from axiloom.run.modelled import product
from axiloom.run.problem import ProblemRun


def add(report: Report, run: ProblemRun) -> None:
    """Put ``limit.at_once_cycles`` and ``limit.alone_cycles`` for an op that the DMA reads in place."""
    spec, calls = run.spec, run.driver.calls
    if "call_cycles" not in report["limit"] or len(calls) != 1 or report["config"].get("pipeline") != "all":
        return
    alone = ALONE.get(spec.form.name)
    cycles = alone(run) if alone and spec.link.dma.scatter_gather else None
    if cycles is None:
        return
    fabric = run.system.profile.fabric
    # Not the fetch of descriptors: a driver may let the DMA do that before it starts it (AHEADDESC).
    latency = fabric.mmio_request + fabric.ddr_read + FIRST_WORD + fabric.ddr_write + ENDED
    report["limit"]["at_once_cycles"] = round(cycles)
    report["limit"]["alone_cycles"] = round(cycles + latency)


def _of_product(run: ProblemRun) -> float | None:
    (call,) = run.driver.calls
    candidate = Candidate(call.flow, call.order, call.tile)
    asked = product(call, run.workload.mlir, run.spec, run.workload.name)
    plan = plans(run.spec, asked, [candidate], queued=True).get(candidate)
    return device_cycles(run.spec, plan) if plan else None


def _of_convolution(run: ProblemRun) -> float | None:
    (call,) = run.driver.calls
    model = conv_choice.model(run.workload.mlir, run.spec, call.flow, run.workload.name)
    tile = dict(zip(run.spec.dims, call.tile, strict=True))
    return model.device_alone(tile, call.order) if model else None


ALONE: Mapping[str, Callable[[ProblemRun], float | None]] = {
    MATMUL.name: _of_product,
    IMAGE.name: _of_convolution,
}
"""Fabric cycles by the name of a form; None where nobody knows them exactly."""
