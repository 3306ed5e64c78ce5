"""``axiloom nest --plan`` and ``--run``: the circuit of a schedule, foretold and executed, with the arrays
resident in as many banks as it wants. (``nest_run.py``: ``axiloom run``, the same on the SoC.)"""

from __future__ import annotations

import argparse
import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from axiloom.base.errors import MismatchError, UsageError
from axiloom.base.files import read_arrays, write_whole
from axiloom.cli.given import Refusal, has, lacks, output_folder, refuse
from axiloom.cli.nest import auto as nest_auto
from axiloom.cli.nest.source import DEVICE, defines, load, scheduled
from axiloom.library.progress import told

if TYPE_CHECKING:
    from axiloom.nests.program.loaded import Loaded
    from axiloom.nests.schedule import Schedule

_OF_BOTH = "plain synth report"
_OF_RUNS = "seed input"


def add_options(nest: argparse.ArgumentParser) -> None:
    from axiloom.cli import options as shared

    group = nest.add_argument_group("circuit (arrays resident in banks)")
    group.add_argument(
        "--plan",
        action="store_true",
        help="what the schedule makes: dependences, pipes, banks, cycles and resources, without a simulation",
    )
    group.add_argument(
        "--run",
        action="store_true",
        help="execute it in Verilator, and compare bit for bit: with FILE.c compiled by the host, "
        "or with the program as read from other sources",
    )
    group.add_argument("--plain", action="store_true", help="one nest after the other")
    group.add_argument("--seed", type=shared.natural, default=0, help="of the random inputs (default 0)")
    group.add_argument(
        "--input", type=Path, metavar="FILE.npz", help="inputs, by the names of arrays (default: random ones)"
    )
    group.add_argument(
        "--synth", action="store_true", help="resources by Yosys, minutes, in place of the predicted ones"
    )
    group.add_argument(
        "--report",
        type=output_folder,
        metavar="DIR",
        help="write a page to DIR: loops, pipes over time, banks, FIFOs, resources, roofline",
    )
    refuse(
        nest,
        Refusal(_OF_BOTH, lacks("run", "plan"), "of a circuit: give --plan or --run too"),
        Refusal(_OF_RUNS, lacks("run"), "of a run: give --run too"),
        Refusal("plan", has("run"), "--run says all of it"),
        Refusal("seed", has("input"), "of random inputs; here --input has them"),
    )


def execute(options: argparse.Namespace) -> int:
    from axiloom.base.files import write_arrays
    from axiloom.nest.measure import design, measure
    from axiloom.nest.progress import Steps
    from axiloom.nest.reference import reference
    from axiloom.report.nest.build import Setting, build, table

    if len(options.source) > 1:
        raise UsageError(f"{'--run' if options.run else '--plan'}: one program, not {len(options.source)}")
    steps = Steps(told())
    source = options.source[0]
    loaded = load(source, defines(options.define), options.include)
    arrays = inputs(loaded, options.input, options.seed) if options.run else {}
    schedule, search = scheduled(loaded.program, options.schedule), None
    if options.auto:
        result, _ = nest_auto.search(options, loaded.program)
        schedule, search = nest_auto.replayed(loaded.program, result), nest_auto.searched(result)
        if options.output and not is_results(options):
            write_whole(options.output, nest_auto.as_text(loaded.program.name, result, options))
    with steps.step("from the schedule to a circuit", "design", 0):
        circuit = design(loaded.program, schedule, plain=options.plain)
    run = None
    if options.run:
        with steps.step("computing the reference", "reference", 0):
            right = reference(loaded, schedule, arrays)
        run = measure(circuit, arrays, right, steps)
        if is_results(options):
            write_arrays(options.output, run.resident.results)
    measured = None
    if options.synth:
        with steps.step(
            "synthesis by Yosys", "yosys", sum(len(pipe.nodes) for pipe in circuit.lowered.circuit.pipes)
        ):
            measured = synthesised(circuit.lowered.circuit)
    steps.end()
    setting = Setting(
        source,
        str(options.schedule or ""),
        options.device or DEVICE,
        None if options.input or not run else options.seed,
        measured,
        search,
    )
    data = build(circuit, run, setting)
    if not options.run:
        print(dependences(circuit.schedule))
    print(table(circuit, data))
    if options.json:
        write_whole(options.json, json.dumps(data, indent=2) + "\n")
    if options.report:
        from axiloom.report.nest import write

        write(circuit, data, f"axiloom {shlex.join(options.words)}", options.report)
    if search and search["stopped"]:
        return 128 + int(search["stopped"])
    return 0 if run is None or run.right else MismatchError.exit_code


def is_results(options: argparse.Namespace) -> bool:
    """Whether ``--output`` is for the results of a run."""
    return bool(options.run and options.output and options.output.suffix == ".npz")


def dependences(schedule: Schedule) -> str:
    """The loops as the schedule has them, and what orders them."""
    from axiloom.nests.schedule.show import dependence_table, tree

    parts = (("Loops", tree(schedule)), ("Dependences", dependence_table(schedule)))
    return "\n".join(
        f"{title}\n" + "".join(f"  {line}\n" for line in text.splitlines()) for title, text in parts
    )


def inputs(loaded: Loaded, file: Path | None, seed: int = 0) -> dict[str, Any]:
    """What the caller gives: from ``--input``, or random. Raises UsageError."""
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
