"""``axiloom prove spec --isa``: instruction sets with meaning, and what each instruction computes."""

from __future__ import annotations

import argparse
import time

from axiloom.cli.given import Refusal, has, is_given, lacks, refuse
from axiloom.cli.prove import shared as proofs
from axiloom.isa.instructions import library

# What describes an accelerator of another kind.
_OTHERS = "accel size spec encoding post rtl top stream_width macs memory_port dma data_type"


def add_options(spec: argparse.ArgumentParser) -> None:
    """To ``prove spec``."""
    spec.add_argument(
        "--isa",
        metavar="NAME|FILE.isa",
        help="an instruction set with meaning (docs/instructions.md); built in are "
        + ", ".join(library.targets()),
    )
    spec.add_argument(
        "--forms",
        action="store_true",
        help="of --isa: what each instruction computes as a whole, proved of its steps for all sizes; "
        "10 seconds a claim if --limit says nothing else",
    )
    refuse(
        spec,
        Refusal(_OTHERS, has("isa"), "is about a specification, not about --isa"),
        Refusal("forms", lacks("isa"), "is about instruction sets with meaning: give --isa too"),
    )


def execute(options: argparse.Namespace) -> int:
    """Proves what --isa names, and prints it."""
    from axiloom.prove import solvers
    from axiloom.prove.verdict import Answer, summary, table

    solvers.check()
    from axiloom.prove import closed_forms, instructions  # need z3

    begun = time.perf_counter()
    source = library.target(options.isa)
    with proofs.Told(options) as told:
        told.of(lambda say: instructions.prove(source, options.limit, say))
        if options.forms:
            limit = options.limit if is_given(options, "limit") else closed_forms.LIMIT_S
            for form in closed_forms.verdicts(source, limit):
                holds = form.answer is Answer.HOLDS
                told.say(f"{'proved' if holds else 'no closed form'}: {form.name.split(':')[0]}: {form.text}")
                told(form)
    verdicts = told.verdicts
    if lines := verdicts if options.all else [verdict for verdict in verdicts if not verdict.good]:
        print("\n".join(table(lines)))
    claims = [verdict for verdict in verdicts if verdict.needed]
    how = "from the cache" if verdicts[0].cached else f"{time.perf_counter() - begun:.0f} s"
    print(f"{source.name}: {summary(claims)}; {how}; {solvers.versions()}")
    return proofs.ended(options, verdicts)
