"""``axiloom prove spec``: the formal model of a specification is sound."""

from __future__ import annotations

import time
from pathlib import Path

from axiloom.cli import options as shared
from axiloom.cli.applet import Applet
from axiloom.cli.prove import shared as proofs
from axiloom.explore.asked import Asked


def execute(
    asked: Asked, limit: int = proofs.LIMIT_S, every: bool = False, json_file: Path | None = None
) -> int:
    from axiloom.prove import solvers
    from axiloom.prove.verdict import table

    solvers.check()
    from axiloom.prove import spec as specs  # needs z3

    begun = time.perf_counter()
    spec = asked.spec()
    with proofs.Told(json_file) as told:
        verdicts = told.of(lambda say: specs.prove(spec, limit, say))
    shown = verdicts if every else [verdict for verdict in verdicts if not verdict.good]
    if shown:
        print("\n".join(table(shown)))
    return proofs.concluded(spec.name, verdicts, begun, json_file)


APPLET = Applet(
    "prove spec",
    "an instruction set: decode is disjoint and complete, invariants hold, every instruction ends",
    execute,
    (
        shared.without(shared.accelerator(typed=True), "rtl", "top"),
        proofs.limit("a claim"),
        proofs.ALL,
        proofs.JSON,
    ),
    "Its formal model is proved sound without a bound, by z3 and bitwuzla, and simulated "
    "beside the functional model. Exit code 1 if a claim is violated or not decided. Verdicts are kept "
    "in the user's cache, by the content of the specification; reports of runs name them.",
)
