"""What a trace costs under other parameters of the profile: linear in them, the trace being given.

The linear model holds near the profile that the trace was simulated with. What it leaves out is that times
change what the program does: how often it polls, above all. The fit simulates again until that is small.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from axiloom.boards import Board
from axiloom.calibration.traces import Trace

ACCESSES = ("L1-dcache-loads", "L1-dcache-stores")
"""perf's names of L1D accesses on a Cortex-A9: all of them, under either name (``events.l1d_events``)."""


@dataclass(frozen=True)
class Parameter:
    """A free number of the profile: its place (``section.key``) and what is known of it without measurements.

    `prior` is the value that documents suggest, `spread` how far it may well be off, `low` and `high`
    are where it would contradict them. Measurements have no part in these four, or leaving some out
    would prove nothing.
    """

    place: str
    prior: float
    spread: float
    low: float
    high: float

    def of(self, board: Board) -> float:
        value: object = board
        for name in self.place.split("."):
            value = getattr(value, name)
        assert isinstance(value, (int, float))
        return float(value)


TIME = (
    Parameter("os.start.cycles", 9_000_000, 4_000_000, 0, 40_000_000),
    Parameter("os.syscall.cycles", 600, 300, 100, 5_000),
    Parameter("os.page_fault.cycles", 3_000, 2_000, 500, 20_000),
    # Two instructions are issued a cycle, one of them to the only load/store pipe (Cortex-A9 TRM, 2.1):
    # code that lives on its stack is bound by loads and stores, and other instructions hide between them.
    Parameter("cost.alu", 0.5, 0.1, 0.5, 1.0),
    Parameter("cost.load", 1.0, 0.1, 0.9, 2.0),
    Parameter("cost.store", 1.0, 0.1, 0.9, 2.0),
    Parameter("cost.branch", 0.75, 0.25, 0.5, 2.0),
    Parameter("cost.mul", 2.0, 0.5, 1.0, 4.0),
    Parameter("latency.branch_miss", 10, 2, 8, 20),
    Parameter("latency.l2_hit", 22, 6, 8, 45),
    Parameter("latency.ddr", 70, 20, 30, 160),
    Parameter("latency.writeback", 8, 6, 0, 40),
    # A word at a time through PL310 and DDR controller; writes are buffered, but not merged with others.
    Parameter("latency.uncached_read", 85, 25, 30, 250),
    Parameter("latency.uncached_write", 15, 10, 2, 60),
)
COUNTS = (
    Parameter("os.start.loads", 900_000, 400_000, 0, 5_000_000),
    Parameter("os.syscall.loads", 60, 60, 0, 1_000),
    Parameter("os.page_fault.loads", 700, 500, 0, 10_000),
)
"""Half of the operating system's accesses; its stores are set to the same, as no counter tells them apart."""

_EVENTS = {
    "os.start.cycles": {"one": 1},
    "os.syscall.cycles": {"syscalls": 1},
    "os.page_fault.cycles": {"page_faults": 1},
    "latency.branch_miss": {"branch-misses": 1},
    "latency.l2_hit": {"l1_refills": 1},
    "latency.ddr": {"l2-misses": 1},
    "latency.writeback": {"writebacks": 1},
    "latency.uncached_read": {"uncached_loads": 1},
    "latency.uncached_write": {"uncached_stores": 1},
    "os.start.loads": {"one": 2},
    "os.syscall.loads": {"syscalls": 2},
    "os.page_fault.loads": {"page_faults": 2},
}


def sensitivity(parameter: Parameter, trace: Trace) -> float:
    """Change of the predicted cycles (or accesses) for a unit of the parameter."""
    if parameter.place.startswith("cost."):
        return trace[f"executed_{parameter.place.removeprefix('cost.')}"]
    extended = trace | {"one": 1, "l1_refills": trace["cache-misses"] + trace["L1-icache-load-misses"]}
    return float(sum(weight * extended[event] for event, weight in _EVENTS[parameter.place].items()))


def value(metric: str, trace: Trace) -> float:
    """The simulator's prediction of a metric, in the measurements' unit (task-clock in ms)."""
    return trace[metric] / 1e6 if metric == "task-clock" else float(trace[metric])


def scale(metric: str, board: Board) -> float:
    """Of the metric in a cycle (or an access)."""
    return 1e3 / board.cpu_hz if metric == "task-clock" else 1.0


def with_values(board: Board, values: Mapping[str, float]) -> Board:
    """The board with other parameters, by place; those that are whole in a profile are rounded."""
    for place, number in values.items():
        board = _replaced(board, place.split("."), number)
    return board


def _replaced(node: Any, path: list[str], number: float) -> Any:
    # Each level is a frozen dataclass of its own type; `replace` keeps it.
    inner = getattr(node, path[0])
    if len(path) > 1:
        return replace(node, **{path[0]: _replaced(inner, path[1:], number)})
    changes: dict[str, float] = {path[0]: round(number) if isinstance(inner, int) else float(f"{number:.3g}")}
    if path == ["loads"]:
        changes["stores"] = changes["loads"]
    return replace(node, **changes)
