"""``axiloom prove``: what holds of hardware in every cycle."""

from __future__ import annotations

import argparse
import time

from axiloom.cli import HELP
from axiloom.cli import options as shared
from axiloom.cli.prove import axi as prove_axi
from axiloom.cli.prove import instructions as prove_instructions
from axiloom.cli.prove import mapping as prove_mapping
from axiloom.cli.prove import nest as prove_nest
from axiloom.cli.prove import rtl as prove_rtl
from axiloom.cli.prove import rules as prove_rules
from axiloom.cli.prove import shared as proofs


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    prove = commands.add_parser("prove", help=HELP["prove"])
    what = prove.add_subparsers(dest="action", metavar="WHAT", required=True)
    prove_axi.add_command(what)
    spec = what.add_parser(
        "spec",
        help="an instruction set: decode is disjoint and complete, invariants hold, every instruction ends",
        description="Its formal model is proved sound without a bound, by z3 and bitwuzla, and simulated "
        "beside the functional model. Exit code 1 if a claim is violated or not decided. Verdicts are kept "
        "in the user's cache, by the content of the specification; reports of runs name them.",
    )
    shared.add_accelerator(spec)
    spec.add_argument("--data-type", choices=("int8", "int16", "int32"), help="of a built-in one")
    prove_instructions.add_options(spec)
    proofs.add_options(spec, "seconds a claim")
    spec.add_argument("--all", action="store_true", help="a line for each claim, not only for what is not so")
    spec.set_defaults(execute=execute_spec)
    prove_rtl.add_command(what)
    prove_mapping.add_command(what)
    prove_rules.add_command(what)
    prove_nest.add_command(what)


def execute_spec(options: argparse.Namespace) -> int:
    if options.isa:
        return prove_instructions.execute(options)
    from axiloom.prove import solvers
    from axiloom.prove.verdict import summary, table

    solvers.check()
    from axiloom.prove import spec as specs  # needs z3

    begun = time.perf_counter()
    spec = shared.asked(options).spec(options.data_type)
    with proofs.Told(options) as told:
        verdicts = told.of(lambda say: specs.prove(spec, options.limit, say))
    shown = verdicts if options.all else [verdict for verdict in verdicts if not verdict.good]
    if shown:
        print("\n".join(table(shown)))
    how = "from the cache" if verdicts[0].cached else f"{time.perf_counter() - begun:.0f} s"
    print(f"{spec.name}: {summary(verdicts)}; {how}; {solvers.versions()}")
    return proofs.ended(options, verdicts)
