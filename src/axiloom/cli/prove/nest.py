"""``axiloom prove nest``: loops, their schedule, their circuit and their Verilog compute the same."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from axiloom.base.errors import UsageError
from axiloom.cli import options as shared
from axiloom.cli.nest import source as nest_source
from axiloom.cli.nest.resident import inputs
from axiloom.cli.prove import shared as proofs
from axiloom.isa.check.link import STREAM_WIDTHS

WIDTH = 64
WAITS = 2


def add_command(what: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    nest = what.add_parser(
        "nest",
        help="loops, their schedule, their circuit and its Verilog compute the same, on any data",
        description="At the sizes that are given, of the accelerator that `axiloom run` uses. The operators "
        "themselves are taken for what they say. Exit code 1 if a claim is violated or not decided. What ABC "
        "says is kept in the user's cache, by the content of the question.",
    )
    nest_source.add_source(nest)
    nest.add_argument(
        "--schedule", type=Path, metavar="FILE", help="primitives, a line each (default: as it is written)"
    )
    nest.add_argument(
        "--plain", action="store_true", help="all inputs, then one nest after the other, then all results"
    )
    nest.add_argument(
        "--stream-width",
        type=int,
        choices=STREAM_WIDTHS,
        default=WIDTH,
        help="of the port (default %(default)s)",
    )
    nest.add_argument(
        "--waits", type=shared.positive, default=WAITS, metavar="N",
        help="cycles in which a stream waits, of the runs of the Verilog (default %(default)s)",
    )  # fmt: skip
    nest.add_argument(
        "--input", type=Path, metavar="FILE.npz",
        help="data on which what was read is compared with the file itself (default: random); proofs are for "
        "all data",
    )  # fmt: skip
    nest.add_argument("--all", action="store_true", help="a line for each lemma, too")
    proofs.add_options(nest, "seconds a claim")
    nest.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    # Imported here: provers are for this command alone.
    from axiloom.prove import solvers
    from axiloom.prove.verdict import summary, table

    solvers.check()
    from axiloom.nest.accelerator import accelerator
    from axiloom.nest.reference import reference
    from axiloom.nests.schedule import Schedule
    from axiloom.prove.nest import verdicts  # needs z3

    begun = time.perf_counter()
    if len(options.source) > 1:
        raise UsageError(f"{', '.join(options.source)}: give one program")
    loaded = nest_source.load(options.source[0], nest_source.defines(options.define), options.include)
    if loaded.function is not None or loaded.original is not None:
        right = reference(loaded, Schedule.of(loaded.program), inputs(loaded, options.input))
        print(f"{loaded.program.name}: compared on {options.input or 'random data'} with {right.text}")
    elif options.input is not None:
        raise UsageError(
            f"--input: {options.source[0]} is what is proved, so there is nothing to compare with on data, "
            "and proofs are for all data; leave it out"
        )
    schedule = nest_source.scheduled(loaded.program, options.schedule)
    built = accelerator(schedule, options.stream_width, plain=options.plain)
    if built.deadlock:
        print(f"{loaded.program.name}: in the plain form, as overlapped it would never end: {built.deadlock}")
    with proofs.Told(options) as told:
        proved = verdicts.prove(
            loaded.program, schedule, built, limit_s=options.limit, waits=options.waits, say=told
        )
    lines = [verdict for verdict in proved if options.all or verdict.source != "helper" or not verdict.good]
    print("\n".join(table(lines)))
    print(
        f"{loaded.program.name}: {summary(proved)}; {time.perf_counter() - begun:.0f} s; {solvers.versions()}"
    )
    return proofs.ended(options, proved)
