"""`plan` and `run`: what is to be computed meets a device."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from axiloom import boards
from axiloom.base import processes
from axiloom.base.errors import UsageError
from axiloom.base.wording.names import hint
from axiloom.cosim.soc import build_shared
from axiloom.drivergen.pipeline.schedule import Schedule
from axiloom.explore.asked import OFF, Asked
from axiloom.explore.chosen import Task
from axiloom.library.accelerators import Device
from axiloom.library.devices import Source, of_text, together
from axiloom.library.plans import Plan, Simulated, of_loops, of_network, of_problem
from axiloom.library.programs import planned
from axiloom.library.runs import Run, execute
from axiloom.library.works import PROGRAM, Work, read
from axiloom.report.types import Kernel

Array = np.ndarray[Any, Any]
On: TypeAlias = Device | Source | Sequence[Device | Source] | None


def plan(
    work: Any,
    on: On = None,
    *,
    board: str | Path = boards.DEFAULT,
    flow: str | None = None,
    order: Sequence[str] | None = None,
    tile: Sequence[int] | None = None,
    pipeline: str | None = None,
    schedule: str | Path | None = None,
    calls: int = 1,
    sim: str = "verilator",
    wait: str = "poll",
    os: str = "none",
    stall: range | int | str | None = None,
    seed: int = 0,
) -> Plan:
    """How `work` (what :func:`read` gives or takes) is computed on a device, or several.

    `on`: what :func:`device` gives or takes; without it the fastest built-in accelerator by the cost
    model; beside an instruction set with meaning may be ``"cpu"``. `flow`, `order`, `tile` and `pipeline`
    are the driver's, the best where they are left out; `schedule`: a file of primitives, of loops. `board` is
    a name or a file; `calls` of the driver by one program; `stall`: seeds of pauses, or ``"off"``; `seed` of
    random inputs. Raises what the command raises, before anything runs.
    """
    asked = {option: value for option, value in locals().items() if option != "work"}
    if isinstance(stall, str) and stall != OFF:
        raise UsageError(f"stall={stall!r}: a seed, a range of seeds, or {OFF!r}")
    seeds = range(stall, stall + 1) if isinstance(stall, int) else stall
    around = Simulated(str(board), sim, wait, os, seeds, seed)
    use = Schedule(flow, tuple(order) if order else None, tuple(tile) if tile else None, pipeline)
    instructions = of_text(on)
    nest = repr(work) if hasattr(work, "scheduled_work") else None
    is_file = isinstance(work, (str, Path)) and not str(work).endswith(PROGRAM)
    if not isinstance(work, Work) and (instructions is None or not is_file):
        work = read(work)  # who finds a program of instructions reads a model's file otherwise
    name = work.name if isinstance(work, Work) else str(work)
    options = {option: value for option, value in asked.items() if value != OPTIONS[option].default}
    words = [nest or repr(name), *(f"{option}={value!r}" for option, value in options.items())]
    text = f"ax.plan({', '.join(words)})"
    if instructions is not None or work.program is not None:
        if schedule is not None or use.options() or calls != 1:
            raise UsageError(f"{name}: `flow`, `schedule`, `calls`, ... are not of programs of commands")
        compiled = planned(work, on, instructions, text, around)
    else:
        compiled = _planned(work, on, text, around, together(on, str(board)), schedule, calls, use)
    compiled.job()  # what it refuses, it refuses now
    compiled.again = partial(plan, work, **options)
    return compiled


OPTIONS = signature(plan).parameters


def _planned(
    work: Work,
    on: On,
    text: str,
    around: Simulated,
    asked: Asked,
    schedule: str | Path | None,
    calls: int,
    use: Schedule,
) -> Plan:
    if work.loops is not None:
        if on is not None or use.options() or calls != 1:
            raise UsageError(
                f"{work.name}: loops become an accelerator of their own: leave `on`, `flow`, `calls`, ... out"
            )
        if schedule is not None and work.schedule is not None:
            raise UsageError(f"{work.name}: a nest has its `schedule` already")
        return of_loops(work, text, around, work.schedule or schedule)
    if schedule is not None:
        raise UsageError(f"{work.name}: `schedule` is a file of primitives, for loops")
    task = Task(work.name, work.mlir, work.data_type, asked, use, calls)
    if work.model is None:
        return of_problem(work, text, around, task)
    if calls != 1:
        raise UsageError(f"{work.name}: `calls` is for problems of one op")
    return of_network(work, text, around, task)


def run(
    work: Any,
    on: On = None,
    *,
    against: Kernel | None = None,
    progress: bool = True,
    keep: str | Path | None = None,
    **options: Any,
) -> Run:
    """`work` on the simulated SoC: a plan, or what :func:`plan` takes, with its `options`.

    A wrong result is in what comes back: `Run.check` raises it.

    Options that are arrays are inputs by name (``A=a``), in place of random ones. `against`: the same on the
    CPU alone, by ``"loops"`` or ``"neon"``. `keep`: a folder for sources, ELF and stages of the compiler.
    Raises Error where there is no result: it does not compile, it hangs, the driver fails.
    """
    arrays = {name: value for name, value in options.items() if isinstance(value, np.ndarray)}
    others = {name: value for name, value in options.items() if name not in arrays}
    for name in others:
        if name not in OPTIONS:
            raise UsageError(f"ax.run: no option `{name}`{hint(name, OPTIONS)}; inputs are arrays of NumPy")
    if not isinstance(work, Plan):
        with processes.meanwhile(
            lambda: build_shared(others.get("sim", "verilator"))
        ):  # a choice takes a core
            work = plan(work, on, **others)
    elif on is not None or others:
        raise UsageError(f"ax.run: a plan has its device and options: leave {', '.join(others) or 'on'} out")
    return execute(
        work, arrays, against=against, progress=progress, keep=None if keep is None else Path(keep)
    )
