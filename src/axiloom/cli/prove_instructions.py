"""``axiloom prove spec --isa``: instruction sets with meaning, and what each instruction computes."""

from __future__ import annotations

import argparse
import json
import time
from typing import TYPE_CHECKING

from tqdm import tqdm

from axiloom.cli.given import Refusal, has, is_given, lacks, refuse
from axiloom.files import write_whole
from axiloom.isa.instructions import library

if TYPE_CHECKING:
    from axiloom.isa.instructions.tree import InstructionSet
    from axiloom.prove.verdict import Verdict

# What describes an accelerator of another kind.
_OTHERS = "accel size spec encoding post rtl top stream_width macs dma data_type"


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


def with_progress(source: InstructionSet, limit_s: int) -> list[Verdict]:
    """The verdicts on an instruction set; a line of progress with the time left meanwhile."""
    from axiloom.prove import instructions  # needs z3

    with tqdm(unit=" claims", disable=None, leave=False) as shown:

        def counted(total: int) -> None:
            shown.total = total
            shown.update()

        return instructions.prove(source, limit_s, counted)


def execute(options: argparse.Namespace) -> int:
    """Proves what --isa names, and prints it."""
    from axiloom.prove import solvers
    from axiloom.prove.verdict import Answer, as_json, summary, table

    solvers.check()
    from axiloom.prove import closed_forms  # needs z3

    begun = time.perf_counter()
    source = library.target(options.isa)
    verdicts = with_progress(source, options.limit)
    if options.forms:
        with tqdm(unit=" formulas", disable=None, leave=False) as shown:
            limit = options.limit if is_given(options, "limit") else closed_forms.LIMIT_S
            for one in closed_forms.verdicts(source, limit):
                shown.update()
                shown.clear()
                found = one.answer is Answer.HOLDS
                print(f"{'proved' if found else 'no closed form'}: {one.name.split(':')[0]}: {one.text}")
                verdicts.append(one)
    for one in verdicts:
        if not one.good:
            print(f"{source.name}: {one.name}: {one.text}")
    if lines := verdicts if options.all else [one for one in verdicts if not one.good]:
        print("\n".join(table(lines)))
    claims = [one for one in verdicts if one.needed]
    how = "from the cache" if verdicts[0].cached else f"{time.perf_counter() - begun:.0f} s"
    print(f"{source.name}: {summary(claims)}; {how}; {solvers.versions()}")
    if options.json:
        write_whole(options.json, json.dumps({"verdicts": as_json(verdicts)}, indent=1) + "\n")
    return 0 if all(one.good for one in verdicts) else 1
