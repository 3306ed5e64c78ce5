"""``axiloom nest plan`` and ``nest simulate``: the circuit of a schedule, foretold and executed, with the
arrays resident in as many banks as it wants. (``run.py``: ``axiloom nest run``, the same on the SoC.)"""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from axiloom.base.errors import MismatchError, UsageError
from axiloom.base.files import read_arrays, write_arrays, write_whole
from axiloom.cli import options as shared
from axiloom.cli.applet import Applet, option, output_file, output_folder
from axiloom.cli.nest import auto as nest_auto
from axiloom.cli.nest.auto import Search
from axiloom.cli.nest.source import (
    DEFINE,
    DEVICE,
    INCLUDE,
    PART,
    PLAIN,
    SCHEDULE,
    SOURCE,
    defines,
    load,
    scheduled,
)
from axiloom.library.progress import told

if TYPE_CHECKING:
    from axiloom.nests.program.loaded import Loaded
    from axiloom.nests.schedule import Schedule


def plan(words: Sequence[str], **options: Any) -> int:
    """What a schedule makes, without a simulation."""
    return _circuit(simulated=False, words=words, **options)


def simulate(words: Sequence[str], **options: Any) -> int:
    """The same executed."""
    return _circuit(simulated=True, words=words, **options)


def _circuit(
    source: str,
    simulated: bool,
    search: Search,
    words: Sequence[str],
    define: Sequence[str] = (),
    include: Sequence[Path] = (),
    schedule: Path | None = None,
    auto: bool = False,
    device: str = DEVICE,
    plain: bool = False,
    seed: int = 0,
    input: Path | None = None,
    synth: bool = False,
    json_file: Path | None = None,
    report: Path | None = None,
    output: Path | None = None,
) -> int:
    from axiloom.nest.measure import design, measure
    from axiloom.nest.progress import Steps
    from axiloom.nest.reference import reference
    from axiloom.report.nest.build import Setting, build, table

    is_results = output is not None and output.suffix == ".npz"
    if output is not None and not (is_results and simulated) and not auto:
        what = "FILE.npz for results" if simulated else "for the schedule that --auto finds"
        raise UsageError(f"--output {output}: expected is {what}")
    steps = Steps(told())
    loaded = load(source, defines(define), include)
    arrays = inputs(loaded, input, seed) if simulated else {}
    nest, searched = scheduled(loaded.program, schedule), None
    if auto:
        result = search.best(loaded.program, device)
        nest, searched = nest_auto.replayed(loaded.program, result), nest_auto.searched(result)
        if output and not (is_results and simulated):
            text = nest_auto.as_text(loaded.program.name, result, str(search.limits(device)))
            write_whole(output, text)
    with steps.step("from the schedule to a circuit", "design", 0):
        circuit = design(loaded.program, nest, plain=plain)
    run = None
    if simulated:
        with steps.step("computing the reference", "reference", 0):
            right = reference(loaded, nest, arrays)
        run = measure(circuit, arrays, right, steps)
        if output and is_results:
            write_arrays(output, run.resident.results)
    measured = None
    if synth:
        with steps.step(
            "synthesis by Yosys", "yosys", sum(len(pipe.nodes) for pipe in circuit.lowered.circuit.pipes)
        ):
            measured = synthesised(circuit.lowered.circuit)
    steps.end()
    seeded = None if input or not run else seed
    setting = Setting(source, str(schedule or ""), device, seeded, measured, searched)
    data = build(circuit, run, setting)
    if not simulated:
        print(dependences(circuit.schedule))
    print(table(circuit, data))
    if json_file:
        write_whole(json_file, json.dumps(data, indent=2) + "\n")
    if report:
        from axiloom.report.nest import write

        write(circuit, data, f"axiloom {shlex.join(words)}", report)
    if searched and searched["stopped"]:
        return 128 + int(searched["stopped"])
    return 0 if run is None or run.right else MismatchError.exit_code


def dependences(schedule: Schedule) -> str:
    """The loops as the schedule has them, and what orders them."""
    from axiloom.nests.schedule.show import dependence_table, tree

    parts = (("Loops", tree(schedule)), ("Dependences", dependence_table(schedule)))
    return "\n".join(
        f"{title}\n" + "".join(f"  {line}\n" for line in text.splitlines()) for title, text in parts
    )


def inputs(loaded: Loaded, file: Path | None, seed: int = 0) -> dict[str, Any]:
    """What the caller gives: from a `file`, or random. Raises UsageError."""
    from axiloom.nest.values import values_of

    return values_of(loaded, None if file is None else read_arrays(file), seed, str(file))


def synthesised(circuit: Any) -> Any:
    """Resources by Yosys. Raises BuildError if it is not installed."""
    from axiloom.base.cache import cached_build
    from axiloom.boards.synthesis.resources import synthesise
    from axiloom.hw.nest.operators import operator
    from axiloom.hw.verilog.nest import emit_nest

    verilog = emit_nest(circuit, operator)
    return synthesise(verilog.text, verilog.top, cached_build)


_AUTO = {"auto": "of a search"}
CIRCUIT = (
    SOURCE,
    DEFINE,
    INCLUDE,
    SCHEDULE,
    option(
        "--auto",
        action="store_true",
        first=True,
        excludes={"schedule": "with --auto the schedule is what is searched for"},
        help="search for the schedule, and write it to -o",
    ),
    nest_auto.searching(needs=_AUTO),
    PART,
    PLAIN,
    option(
        "--synth",
        action="store_true",
        first=True,
        help="resources by Yosys, minutes, in place of the predicted ones",
    ),
    option(
        "--report",
        type=output_folder,
        metavar="DIR",
        first=True,
        help="write a page: loops, pipes over time, banks, FIFOs, resources, roofline",
    ),
    shared.JSON_TOO,
)
PLAN = Applet(
    "nest plan",
    "the circuit that a schedule makes: dependences, pipes, banks, cycles and resources",
    plan,
    (
        *CIRCUIT,
        option(
            "-o",
            "--output",
            type=output_file,
            metavar="FILE",
            needs=_AUTO,
            help="write the schedule that --auto found",
        ),
    ),
)
SIMULATE = Applet(
    "nest simulate",
    "execute that circuit in Verilator, and compare bit for bit",
    simulate,
    (
        *CIRCUIT,
        shared.SEED,
        shared.INPUT,
        option(
            "-o",
            "--output",
            type=output_file,
            metavar="FILE",
            first=True,
            help="FILE.npz: the results, by the names of arrays; else the schedule that --auto found",
        ),
    ),
    "FILE.c is compared with itself, compiled by the host; other sources with the program as read. Exit "
    "code 0 only if results and cycles are as foretold.",
)
