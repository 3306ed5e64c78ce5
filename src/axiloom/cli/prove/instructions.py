"""``axiloom prove instructions``: instruction sets with meaning, and what each instruction computes."""

from __future__ import annotations

import time
from pathlib import Path

from axiloom.cli.applet import Applet, option
from axiloom.cli.kinds import Kind
from axiloom.cli.prove import shared as proofs
from axiloom.isa.instructions import library


def execute(
    isa: str,
    forms: bool = False,
    limit: int | None = None,
    every: bool = False,
    json_file: Path | None = None,
) -> int:
    from axiloom.prove import solvers
    from axiloom.prove.verdict import Answer, table

    solvers.check()
    from axiloom.prove import closed_forms, instructions  # need z3

    begun = time.perf_counter()
    source = library.target(isa)
    with proofs.Told(json_file) as told:
        told.of(lambda say: instructions.prove(source, limit or proofs.LIMIT_S, say))
        if forms:
            for form in closed_forms.verdicts(source, limit or closed_forms.LIMIT_S):
                holds = form.answer is Answer.HOLDS
                told.say(f"{'proved' if holds else 'no closed form'}: {form.name.split(':')[0]}: {form.text}")
                told(form)
    verdicts = told.verdicts
    if lines := verdicts if every else [verdict for verdict in verdicts if not verdict.good]:
        print("\n".join(table(lines)))
    claims = [verdict for verdict in verdicts if verdict.needed]
    return proofs.concluded(source.name, verdicts, begun, json_file, claims)


KIND = Kind(
    Applet(
        "prove instructions",
        "an instruction set with meaning: the same, and what each instruction computes",
        execute,
        (
            option("--isa", required=True, metavar="NAME|FILE.isa", first=True, help=proofs.BUILT_IN),
            option(
                "--forms",
                action="store_true",
                first=True,
                help="what each instruction computes as a whole, proved of its steps for all sizes; 10 "
                "seconds a claim if --limit says nothing else",
            ),
            proofs.limit("a claim"),
            proofs.ALL,
            proofs.JSON,
        ),
    ),
    lambda said: "--isa is an instruction set with meaning" if "isa" in said else "",
)
