"""``axiloom nest run``: loops become RTL behind a port, its driver, and a run on the SoC.
Models become loops with ``--schedule`` or ``--auto``; without them they are a network for an accelerator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from axiloom.cli import options as shared
from axiloom.cli.applet import Applet, option
from axiloom.cli.kinds import Kind, Said
from axiloom.cli.nest import auto as nest_auto
from axiloom.cli.nest.source import DEFINE, DEVICE, INCLUDE, PLAIN, SCHEDULE, SOURCE, defines, load, scheduled
from axiloom.cli.shown import SHOWN, Shown
from axiloom.cosim.soc import judge
from axiloom.library.plans import Simulated, of_loops
from axiloom.library.progress import told
from axiloom.library.works import Work
from axiloom.library.works import is_loops as loops_whatever

READ = (".c", ".mlir", ".onnx", ".py")


def is_c(problem: str) -> bool:
    """Whether a problem is a file of C, perhaps with a function."""
    return problem.partition(":")[0].endswith(".c")


def execute(
    source: str,
    around: Simulated,
    shown: Shown,
    words: Sequence[str],
    define: Sequence[str] = (),
    include: Sequence[Path] = (),
    schedule: Path | None = None,
    auto: bool = False,
    plain: bool = False,
    stream_width: int = 64,
    dma: str = "sg",
    input: Path | None = None,
    output: Path | None = None,
) -> int:
    from axiloom.nest.accelerator import accelerator
    from axiloom.nests.timing import cycles

    loaded = load(source, defines(define), include)
    progress = told()
    nest, searched = scheduled(loaded.program, schedule), ""
    if auto:
        nest, searched = nest_auto.best(loaded.program)
    progress("from the schedule to RTL")
    built = accelerator(nest, stream_width, plain=plain, scatter_gather=dma != "simple")
    if built.deadlock:
        progress(f"one nest after the other, as overlapped they would never end: {built.deadlock}")
    plan = of_loops(Work(source, loops=loaded), source, around, nest, built, shown.keep)
    run = shown.run(plan, plan.job(input), words, watch=shown.watch(progress))
    code = shown.end(run, words, output)
    judge(run.result)
    print(searched, end="")
    print("".join(f"warning: {warning}\n" for warning in run.warnings), end="")
    timing = cycles(built.circuit)
    bound = max(packet.beats for packet in built.packets)
    print(
        f"Nests: {timing.cycles:,} cycles from the first word on, predicted; the port alone takes {bound:,} "
        f"({timing.cycles / bound:.3f} times that)"
    )
    if built.deadlock:
        print(f"Nests: they run one after the other, as with --plain. Overlapped: {built.deadlock}")
    return code


def _meant(said: Said) -> str:
    problem: str = said.get("problem", "")
    if "schedule" in said or "auto" in said:
        is_loops = problem.partition(":")[0].endswith(READ)
    else:
        is_loops = loops_whatever(problem)
    return f"{problem} is read as loops" if is_loops else ""


KIND = Kind(
    Applet(
        "nest run",
        "run loops as an accelerator of their own on the SoC, with their driver",
        execute,
        (
            SOURCE,
            DEFINE,
            INCLUDE,
            replace(SCHEDULE, excludes={"auto": "with --auto the schedule is what is searched for"}),
            option(
                "--auto",
                action="store_true",
                first=True,
                help=f"search for the schedule, in the limits of {DEVICE} and as if arrays were resident",
            ),
            PLAIN,
            shared.stream_width("bits of the port (default 64)"),
            option(
                "--dma", choices=("simple", "sg"), help="direct register mode, or scatter-gather (default)"
            ),
            shared.INPUT,
            shared.OUTPUT,
            shared.SIMULATION,
            SHOWN,
        ),
        "The loops become RTL behind a port, and a driver. Exit code 0 only if the results are those of "
        "the C compiled by the host, or of the program as read from other sources.",
    ),
    _meant,
)
