"""``axiloom prove nest``: loops, their schedule, their circuit and their Verilog compute the same."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from axiloom.base.errors import UsageError
from axiloom.cli import options as shared
from axiloom.cli.applet import Applet, option
from axiloom.cli.nest.resident import inputs
from axiloom.cli.nest.source import (
    DEFINE,
    INCLUDE,
    PLAIN,
    SCHEDULE,
    SOURCE,
    defines,
    load,
    scheduled,
)
from axiloom.cli.prove import shared as proofs

WIDTH = 64
WAITS = 2


def execute(
    source: str,
    define: Sequence[str] = (),
    include: Sequence[Path] = (),
    schedule: Path | None = None,
    plain: bool = False,
    stream_width: int = WIDTH,
    waits: int = WAITS,
    input: Path | None = None,
    every: bool = False,
    limit: int = proofs.LIMIT_S,
    json_file: Path | None = None,
) -> int:
    # Imported here: provers are for this command alone.
    from axiloom.prove import solvers
    from axiloom.prove.verdict import table

    solvers.check()
    from axiloom.nest.accelerator import accelerator
    from axiloom.nest.reference import reference
    from axiloom.nests.schedule import Schedule
    from axiloom.prove.nest import verdicts  # needs z3

    begun = time.perf_counter()
    loaded = load(source, defines(define), include)
    if loaded.function is not None or loaded.original is not None:
        right = reference(loaded, Schedule.of(loaded.program), inputs(loaded, input))
        print(f"{loaded.program.name}: compared on {input or 'random data'} with {right.text}")
    elif input is not None:
        raise UsageError(
            f"--input: {source} is what is proved, so there is nothing to compare with on data, "
            "and proofs are for all data; leave it out"
        )
    nest = scheduled(loaded.program, schedule)
    built = accelerator(nest, stream_width, plain=plain)
    if built.deadlock:
        print(f"{loaded.program.name}: in the plain form, as overlapped it would never end: {built.deadlock}")
    with proofs.Told(json_file) as told:
        proved = verdicts.prove(loaded.program, nest, built, limit_s=limit, waits=waits, say=told)
    lines = [verdict for verdict in proved if every or verdict.source != "helper" or not verdict.good]
    print("\n".join(table(lines)))
    return proofs.concluded(loaded.program.name, proved, begun, json_file)


APPLET = Applet(
    "prove nest",
    "loops, their schedule, their circuit and its Verilog compute the same, on any data",
    execute,
    (
        SOURCE,
        DEFINE,
        INCLUDE,
        SCHEDULE,
        PLAIN,
        shared.stream_width(f"of the port (default {WIDTH})", first=True),
        option(
            "--waits",
            type=shared.positive,
            metavar="N",
            first=True,
            help=f"cycles in which a stream waits, of the runs of the Verilog (default {WAITS})",
        ),
        option(
            "--input",
            type=Path,
            metavar="FILE.npz",
            first=True,
            help="data on which what was read is compared with the file itself (default: random); proofs "
            "are for all data",
        ),
        replace(proofs.ALL, settings={**proofs.ALL.settings, "help": "a line for each lemma, too"}),
        proofs.limit("a claim"),
        proofs.JSON,
    ),
    "At the sizes that are given, of the accelerator that `axiloom run` uses. The operators "
    "themselves are taken for what they say. Exit code 1 if a claim is violated or not decided. What ABC "
    "says is kept in the user's cache, by the content of the question.",
)
