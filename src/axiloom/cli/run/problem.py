"""``axiloom run``: a problem of one op on an accelerator; other kinds are handed to their own commands."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from axiloom import boards
from axiloom.base import processes
from axiloom.base.errors import MismatchError, UnfitError, UsageError
from axiloom.cli import HELP, terminal
from axiloom.cli import options as shared
from axiloom.cli.applet import Applet, option
from axiloom.cli.kinds import Short, filled
from axiloom.cli.nest import run as nest_run
from axiloom.cli.run import network, program, remedies, serial
from axiloom.cli.shown import SHOWN, Shown, say_process
from axiloom.cosim.soc import build_shared, judge
from axiloom.drivergen.pipeline.schedule import Schedule
from axiloom.explore.asked import Asked
from axiloom.explore.chosen import Task
from axiloom.library.plans import Plan, Simulated, of_problem
from axiloom.library.works import Work
from axiloom.read import models
from axiloom.read.mlir import file as mlir_file
from axiloom.run.host_function import HostFunction
from axiloom.run.problem import Workload
from axiloom.run.run import folder_or_temporary

KINDS = (program.ON_NETWORK, program.RUN, nest_run.KIND, serial.RUN)
"""Those that their names and options tell; a network is told by its file."""
OF_ONE = ("json", "report", "perfetto", "trace", "keep")
"""Options that name files of one run."""


def plan(
    problem: str,
    asked: Asked,
    use: Schedule,
    around: Simulated,
    calls: int = 1,
    **_others: Any,
) -> Plan:
    """How it is computed."""
    asked = replace(asked, board=around.board)
    mlir, data_type = shared.problem(problem, use.flow)
    task = Task(problem, mlir, data_type, asked, use, calls)
    return of_problem(Work(problem, mlir, data_type), problem, around, task)


def execute(
    problem: str,
    shown: Shown,
    words: Sequence[str],
    around: Simulated,
    against: str | None = None,
    try_remedies: bool = False,
    define: Sequence[str] = (),
    **how: Any,
) -> int:
    if around.os == "linux" and how.get("calls", 1) != 1:
        raise UsageError("--calls: for programs on bare metal: leave --os out")
    kernel = network.AGAINST[against] if against else None
    if kernel:
        boards.load(around.board).host.check_kernel(kernel)
    with filled(problem, define):
        with processes.meanwhile(lambda: build_shared(around.sim)):  # a choice takes one core of two
            planned = plan(problem, around=around, **how)
        job, watch = planned.job(), shown.watch()
        if kernel == "neon":
            job.check_kernel("the kernel in NEON")  # before minutes of simulation
        run = shown.run(planned, job, words, watch=watch, against=kernel)
        if try_remedies and run.right:
            alone = replace(watch, keep=None, timeline=False)

            def remedied(remedy: str) -> Plan:
                again = APPLET.taken(APPLET.values([*words[1:], *shlex.split(remedy)]))
                again["around"] = replace(again["around"], trace=None, trace_window=None)
                return plan(**again)

            run.report["tried"] = remedies.measured(run.report, remedied, alone)
    code = shown.end(run, words)
    if around.os == "linux":
        say_process(run.result, planned.driver.function)
    judge(run.result)
    return code


def short(words: Sequence[str]) -> int:
    """``axiloom run X``, by what X is."""
    run = Short(APPLET, (network.KIND, *KINDS))
    said = run.said(words)
    problem = said.get("problem")
    if problem is None:
        return run.own(words)
    if (code := run.handed(said, words, KINDS)) is not None:
        return code
    define = said.get("define", ()) if mlir_file.is_mlir(problem) else ()
    with filled(problem, define):
        problems = models.meant(problem)
        if len(problems) == 1:
            return run(words)
        if files := [f"--{name}" for name in OF_ONE if name in said]:
            raise UsageError(
                f"{', '.join(files)}: a file of one run, and {problem} has {len(problems)} functions: name "
                f"one, {problems[0]}"
            )

        def called(name: str) -> int:
            return run([name if word == problem else word for word in words])

        return _several(problems, called, said.get("board", boards.DEFAULT), int(said.get("seed", 0)))


def _several(problems: Sequence[str], called: Callable[[str], int], board: str, seed: int) -> int:
    """The functions of a file, one after the other, those that the accelerator cannot execute by the CPU.

    The exit code is that of one that failed.
    """
    first, unfit = 0, dict[str, UnfitError]()
    for number, problem in enumerate(problems, 1):
        print(f"{'' if number == 1 else chr(10)}{problem} ({number} of {len(problems)})", flush=True)
        try:
            code = called(problem)
        except UnfitError as error:
            unfit[problem] = error
            print("not for the accelerator: see below")
            continue
        first = first or code
    if len(unfit) == len(problems):
        raise next(iter(unfit.values()))
    for problem, cause in unfit.items():
        print(f"\n{problem}, by the CPU alone ({cause})", flush=True)
        first = _on_cpu(problem, board, seed) or first
    return first


def _on_cpu(problem: str, board: str, seed: int) -> int:
    """A function that the accelerator cannot execute. The exit code is 0 if the result is NumPy's."""
    workload = Workload(problem, mlir_file.read_mlir(problem), seed)
    with folder_or_temporary(None) as folder:
        ran = HostFunction(workload, boards.load(board)).run(folder)
    result, clock = ran["result"], ran["counters"]["task-clock"]
    if result["matches"]:
        said = f"Result: equal to NumPy in all {result['elements']:,} elements"
    else:
        wrong = f"{result['mismatches']:,} of {result['elements']:,}"
        said = f"Result: WRONG in {wrong} elements; first: {result['first']}"
    print(terminal.painted(f"{said}\nTime: {clock / 1e6:,.3f} ms, the CPU alone", terminal.has_colour()))
    return 0 if result["matches"] else MismatchError.exit_code


APPLET = Applet(
    "run",
    HELP["run"],
    execute,
    (
        option(
            "problem",
            metavar="PROBLEM",
            help="matmul:MxNxK[:int8|int16|int32], conv:, dwconv:, matvec:, ... (a wrong one says how it "
            "goes on), or FILE.mlir. A network, FILE.c and FILE.program have commands of their own, with "
            "other options: this one hands over to `axiloom network run`, `nest run`, `program run`",
        ),
        shared.accelerator(chosen=True),
        shared.USE,
        shared.SIMULATION,
        SHOWN,
        option(
            "--against",
            choices=tuple(network.AGAINST),
            first=True,
            help="the same beside it on the simulated CPU: plain loops, or NEON by hand",
        ),
        option(
            "--try",
            dest="try_remedies",
            action="store_true",
            first=True,
            excludes={"against": "runs the problem several times; try without --against"},
            help="run it again with each remedy of the report, and say what that won",
        ),
        option(
            "--calls",
            type=shared.calls,
            metavar="N",
            help="call the driver N times, each on what the call before has left, and report the cycles of "
            "the first call and of the later ones (default 1)",
        ),
        shared.DEFINE,
    ),
    "Compiles a problem, builds the SoC, simulates both, and says where the time went. Exit code 0 only if "
    "the result equals NumPy's.",
)
APPLETS = (APPLET,)
SHORT = {"run": short}
