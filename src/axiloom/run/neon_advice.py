"""That a NEON kernel on the same CPU takes less time, by an estimate, than the calls that were measured."""

from __future__ import annotations

from axiloom.base.errors import UsageError
from axiloom.drivergen.cost import neon
from axiloom.report.types import Report
from axiloom.run.by_hand import ByHand
from axiloom.run.problem import ProblemRun


def add(report: Report, run: ProblemRun) -> None:
    """Put it into ``advice`` if it is so: for products and convolutions that there is a kernel for, on a CPU
    that it was fitted to. What was measured with ``--against`` needs no estimate."""
    bound, board = report["limit"], run.system.profile
    ours = bound.get("call_cycles")
    if not ours or "cpu" in report or "advice" in report or board.host.name != neon.FITTED_TO:
        return
    try:
        run.check_kernel("cpu_neon")
        sizes = ByHand.of(run.workload.name).sizes
    except UsageError:
        return
    later = bound.get("calls", [])[1:]
    if later:
        ours = round(sum(later) / len(later))
    cycles = neon.cpu_cycles(sizes, run.spec.data_type.bits, first=not later)
    theirs = round(cycles * board.fabric_hz / board.cpu_hz)
    if theirs < ours:
        which = "a later call" if later else "from call to return"
        report["advice"] = (
            f"NEON would take about {theirs:,} cycles {which} (estimate; --against neon measures it), "
            f"the accelerator takes {ours:,}: keep this size on the CPU"
        )
