"""What is chosen for many calls of a driver, against what is chosen for one: first and later calls.

Small products on v3_16 and v4_16, of int8 and int32, as ``axiloom run ... --calls N`` takes them with N = 1
and with N = `CALLS`; on the hardware of the second also the next best by the replay. Each is called `CALLS`
times, every call's result is compared with NumPy's. Prints the fabric cycles from call to return, how much
faster the later calls are, how far they are above the best one found, and how far off the replay is that
foretold them. Exits with 1 if one is more than 10 % above the best.

``AXILOOM_LATER`` is how many problems there are (20); they take accelerators and types in turn.
"""

from __future__ import annotations

import math
import os
import random
import sys
from dataclasses import dataclass
from statistics import mean

from axiloom import boards, drivergen, isa
from axiloom.base.errors import MismatchError
from axiloom.cosim.replay import Replay
from axiloom.cosim.system import System
from axiloom.drivergen.cost.plans import plans
from axiloom.drivergen.cost.replay_costs import costs_of, kind_of
from axiloom.drivergen.cost.selection import Candidate, reads_in_place
from axiloom.drivergen.pipeline.schedule import DEFAULTS, Schedule
from axiloom.explore.default import of_problem
from axiloom.explore.explore import distinct
from axiloom.isa import AcceleratorSpec
from axiloom.run.choice import ranked
from axiloom.run.problem import ProblemRun, Workload
from axiloom.run.run import simulate

COUNT = 20
CALLS = 10
BESIDE = 3
"""Ways that are simulated beside those two."""
WITHIN = 1.10
BOARD = boards.load(boards.DEFAULT)
FIXED = ("16x16x16:int8", "32x32x32:int8", "64x64x64:int8")
"""On v4_16, before the random ones."""
LARGEST = 64**3


@dataclass(frozen=True)
class Calls:
    """Fabric cycles from call to return."""

    first: int
    later: float


def problems(count: int) -> list[tuple[str, str]]:
    """Accelerator and problem: sizes even in their logarithm, three of four of multiples of 16."""
    rng, drawn = random.Random("later"), [("v4_16", f"matmul:{text}") for text in FIXED]
    while len(drawn) < count:
        unit = 16 if len(drawn) % 4 else 1
        sizes = [max(16, round(2 ** rng.uniform(4, 7)) // unit * unit) for _ in range(3)]
        if math.prod(sizes) <= LARGEST:
            name, kind = ("v4_16", "v3_16")[len(drawn) % 2], ("int8", "int32")[len(drawn) // 2 % 2]
            drawn.append((name, f"matmul:{'x'.join(map(str, sizes))}:{kind}"))
    return drawn[:count]


def called(problem: str, spec: AcceleratorSpec, schedule: Schedule, known: dict[str, Calls]) -> Calls:
    """Simulated, if it is not in `known` yet."""
    name = f"{problem} {isa.dumps(spec)} {schedule}"
    if name not in known:
        known[name] = _simulated(ProblemRun(Workload.of(problem), System(spec), schedule, calls=CALLS))
    return known[name]


def _simulated(run: ProblemRun) -> Calls:
    report = run.checked(simulate(run))
    if not report["result"]["matches"]:
        raise MismatchError(f"{run.workload.name}: {report['result']['first']}")
    calls = report["limit"]["calls"]
    return Calls(calls[0], mean(calls[1:]))


def foretold(problem: str, spec: AcceleratorSpec, schedule: Schedule) -> float | None:
    """A later call by the replay; None for drivers that it does not know."""
    assert schedule.tile is not None
    assert schedule.order is not None
    assert schedule.flow is not None
    work, candidate = (
        drivergen.parse_problem(problem),
        Candidate(schedule.flow, schedule.order, schedule.tile),
    )
    queued = schedule.pipeline == "all" and reads_in_place(spec, work, candidate.tile)
    plan = plans(spec, work, [candidate], queued=queued).get(candidate)
    if plan is None or schedule.pipeline not in ("all", "copying"):
        return None
    replay = Replay(spec, BOARD, costs_of(kind_of(spec, queued), spec.link.dma.coherent))
    return replay.run(plan, CALLS).later * BOARD.fabric_hz / BOARD.cpu_hz


def main() -> None:
    print(f"{'problem':<24}{'on':<7}{'for one call: first':>20}{'later':>8}", end="")
    print(f"{f'for {CALLS}: first':>16}{'later':>8}{'times':>7}{'/best':>7}{'replay':>8}")
    times, above, off = [], [], []
    known: dict[str, Calls] = {}
    for name, problem in problems(int(os.environ.get("AXILOOM_LATER", COUNT))):
        work = drivergen.parse_workload(problem)
        spec = isa.builtin(name, data_type=work.dtype)
        once, often = (of_problem(work.mlir, spec, DEFAULTS, name=problem, calls=n) for n in (1, CALLS))
        single, many = (called(problem, use.spec, use.schedule, known) for use in (once, often))
        beside = [
            Schedule(choice.candidate.flow, choice.candidate.order, choice.candidate.tile, choice.pipeline)
            for choice in distinct(ranked(drivergen.parse_problem(problem), often.spec, calls=CALLS))
        ][:BESIDE]
        best = min(
            single.later,
            many.later,
            *(called(problem, often.spec, schedule, known).later for schedule in beside),
        )
        guess = foretold(problem, often.spec, often.schedule)
        times.append(single.later / many.later)
        above.append(many.later / best)
        if guess is not None:
            off.append(guess / many.later - 1)
        said = f"{off[-1]:+.1%}" if guess is not None else "-"
        print(
            f"{problem:<24}{name:<7}{single.first:>20,}{single.later:>8,.0f}{many.first:>16,}{many.later:>8,.0f}"
            f"{times[-1]:>7.2f}{above[-1]:>7.3f}{said:>8}",
            flush=True,
        )
    print(
        f"{len(times)} problems: later calls {math.exp(mean(map(math.log, times))):.3f} times as fast "
        f"(geometric mean; {min(times):.2f} to {max(times):.2f}), at most {max(above) - 1:.1%} above the "
        f"best found; the replay is {mean(map(abs, off)):.1%} off, {max(map(abs, off)):.1%} at most"
    )
    sys.exit(max(above) > WITHIN)


if __name__ == "__main__":
    main()
