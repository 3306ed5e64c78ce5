"""A schedule as text: IR of the affine dialect, HLS C++, or Verilog."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy.typing as npt

from axiloom.base.errors import CompileError
from axiloom.hw.nest.operators import operator
from axiloom.hw.verilog.nest import emit_nest
from axiloom.nests.affine.build import build, to_text
from axiloom.nests.dataflow.planner import decide
from axiloom.nests.hls import hls
from axiloom.nests.lower.lower import lower
from axiloom.nests.schedule import Layout, Schedule
from axiloom.nests.schedule.plan import Plan
from axiloom.nests.timing import fit

Contents = Mapping[str, npt.NDArray[Any]]


def affine_text(schedule: Schedule, plan: Plan | None = None, contents: Contents | None = None) -> str:
    return to_text(build(schedule, plan))


def hls_text(schedule: Schedule, plan: Plan | None = None, contents: Contents | None = None) -> str:
    """With the banks that the circuit would have, where the schedule does not say which. `contents`: of the
    arrays that are constants of the text."""
    return hls(banked(schedule), plan, contents)


def verilog_text(schedule: Schedule, plan: Plan | None = None, contents: Contents | None = None) -> str:
    """With a memory port for each bank of the caller's arrays; nests as `plan` says, by default at once."""
    circuit = fit(lower(schedule, plan or decide(schedule).plan).circuit).circuit
    return emit_nest(circuit, operator).text


EMITTERS: Mapping[str, Callable[[Schedule, Plan | None, Contents | None], str]] = {
    "affine": affine_text,
    "hls": hls_text,
    "verilog": verilog_text,
}
"""What `axiloom nest --emit` offers. A new form is one more entry."""


def banked(schedule: Schedule) -> Schedule:
    """With a partition for each array; as it is if there is no circuit of it."""
    try:
        layouts_ = lower(schedule).layouts
    except CompileError:
        return schedule
    layouts = {
        name: replace(schedule.layouts.get(name, Layout()), partition=layout.partition)
        for name, layout in layouts_.items()
        if layout.banks > 1
    }
    return replace(schedule, layouts={**schedule.layouts, **layouts})
