"""``axiloom prove``: what holds of hardware in every cycle."""

from __future__ import annotations

import argparse
import re
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from tqdm import tqdm

from axiloom.cli import HELP
from axiloom.cli import options as shared
from axiloom.cli.given import Refusal, has, is_given, lacks, refuse
from axiloom.cli.prove import instructions as prove_instructions
from axiloom.cli.prove import mapping as prove_mapping
from axiloom.cli.prove import nest as prove_nest
from axiloom.cli.prove import rtl as prove_rtl
from axiloom.cli.prove import rules as prove_rules
from axiloom.cli.prove import shared as proofs
from axiloom.errors import UsageError

if TYPE_CHECKING:
    from axiloom.prove.verdict import Verdict


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    prove = commands.add_parser("prove", help=HELP["prove"])
    what = prove.add_subparsers(dest="action", metavar="WHAT", required=True)
    axi = what.add_parser(
        "axi",
        help="the rules of AXI4, AXI4-Lite and AXI4-Stream on every port of a module",
        description="Without --rtl: on the modules of Axiloom. With it: on your Verilog; its AXI ports are "
        "found by their names. What the other side of a port must keep is assumed. Exit code 1 if a rule is "
        "violated or not decided. Verdicts are kept in the user's cache, by the content of the question.",
    )
    axi.add_argument(
        "modules", nargs="*", metavar="MODULE", help="of Axiloom (default: all; --list names them)"
    )
    axi.add_argument("--list", action="store_true", help="name the modules and end")
    axi.add_argument(
        "--rtl", action="append", type=Path, metavar="FILE", help="your Verilog; once for each file"
    )
    axi.add_argument(
        "--top", metavar="NAME", help="the module of --rtl (default: the name of its first file)"
    )
    axi.add_argument("--clock", metavar="PORT", help="of --top, where its name does not say so")
    axi.add_argument("--reset", metavar="PORT", help="of --top; one that ends in n is active low")
    axi.add_argument(
        "--rule", action="append", metavar="NAME", help="only this one, such as ar_4k; repeat for more"
    )
    axi.add_argument(
        "--stream-width", type=int, choices=(32, 64, 128), default=32, help="of Axiloom's modules"
    )
    axi.add_argument(
        "--outstanding",
        type=shared.positive,
        default=16,
        metavar="N",
        help="bursts under way (default %(default)s)",
    )
    proofs.add_options(axi, "seconds an engine")
    axi.add_argument(
        "--depth", type=shared.positive, default=40, metavar="N",
        help="cycles to which a rule is checked that no engine proves (default %(default)s)",
    )  # fmt: skip
    axi.add_argument(
        "--replay", type=Path, metavar="DIR", help="where counter-examples go (default: ./replay)"
    )
    axi.add_argument(
        "--table", action="store_true", help="a line a port, with how far each kind of rule holds"
    )
    refuse(
        axi,
        Refusal("list stream_width", has("rtl"), "is about Axiloom's modules, not about --rtl"),
        Refusal(
            "rule outstanding limit depth replay table json stream_width",
            has("list"),
            "--list names the modules and proves nothing",
        ),
        Refusal("top clock reset", lacks("rtl"), "is about your Verilog: give --rtl FILE too"),
    )
    axi.set_defaults(execute=execute_axi)

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


def execute_axi(options: argparse.Namespace) -> int:
    # Imported here: provers and simulators are for this command alone.
    from amaranth.hdl import UnusedElaboratable

    from axiloom.prove import abc, replay
    from axiloom.prove.axi import ours, user
    from axiloom.prove.axi.matrix import matrix
    from axiloom.prove.axi.ours import whole
    from axiloom.prove.bench import Bench
    from axiloom.prove.verdict import summary, table

    if options.list:
        print("\n".join(f"{name:<20} {target.text}" for name, target in ours.TARGETS.items()))
        return 0
    begun = time.perf_counter()
    work: list[tuple[str, Bench, tuple[tuple[str, str], ...]]] = []
    # A bench that is left out, or that a wrong option ends, is nobody's fault to be warned of.
    warnings.simplefilter("ignore", UnusedElaboratable)
    if options.rtl and options.modules:
        raise UsageError(f"{', '.join(options.modules)}: is about Axiloom's modules, not about --rtl")
    if options.rtl:
        top = options.top or options.rtl[0].stem
        module, sources = user.read(options.rtl, top, options.clock, options.reset)
        for port in module.axi:
            print(f"{top}: {port.name}: {port.protocol.name}, {port.side}")
        work.append((top, user.bench(module, options.outstanding), sources))
    else:
        chosen = ours.chosen(options.modules)
        for given, has_it in (("stream_width", "streams"), ("outstanding", "bursts")):
            used = any(getattr(ours.TARGETS[one], has_it) for one in chosen)
            if is_given(options, given) and not used:
                flag = given.replace("_", "-")
                raise UsageError(f"--{flag}: {', '.join(chosen)} has no {has_it}")
        for name in chosen:
            work.append((name, ours.TARGETS[name].bench(options.stream_width, options.outstanding), ()))
    if options.rule:
        unknown = [set(bench.only(options.rule)) for _, bench, _ in work]
        if missing := set.intersection(*unknown):
            raise UsageError(f"--rule {', '.join(sorted(missing))}: no port has a rule of that name")
    total = sum(len(bench.properties) for _, bench, _ in work)
    shown = tqdm(total=total, unit=" properties", disable=None, leave=False)

    def counted(_verdict: Verdict) -> None:
        shown.update()

    verdicts: list[Verdict] = []
    folder = options.replay or Path("replay")
    for name, bench, sources in work:
        if not bench.properties:  # none of those of --rule
            continue
        pairs = list(
            abc.prove(
                name,
                bench,
                sources=sources,
                limit_s=options.limit,
                depth=options.depth,
                say=counted,
            )
        )
        for (verdict, found), prop in zip(pairs, bench.properties, strict=True):
            if verdict.good or not found.stimulus:
                verdicts.append(verdict)
                continue
            place = folder / re.sub(r"\W+", "_", f"{name}_{prop.port}_{prop.name}")
            seen = replay.write(place, bench, prop, found.stimulus, sources)
            shown.clear()
            print(f"{name}.{prop.port}: {prop.text} ({prop.source}): not so in cycle {found.cycles}; {place}")
            if not seen:
                print("  the simulator does not show it: it depends on what registers hold before a reset")
            verdicts.append(verdict.with_replay(str(place)))
    shown.close()
    lines = matrix(verdicts, {} if options.rtl else whole.PORTS) if options.table else table(verdicts)
    print("\n".join(lines))
    print(f"{summary(verdicts)}; {time.perf_counter() - begun:.0f} s")
    return proofs.ended(options, verdicts)


def execute_spec(options: argparse.Namespace) -> int:
    if options.isa:
        return prove_instructions.execute(options)
    from axiloom.prove import solvers
    from axiloom.prove.verdict import summary, table

    solvers.check()
    from axiloom.prove import spec as specs  # needs z3

    begun = time.perf_counter()
    spec = shared.accelerator(options, options.data_type)
    verdicts = proofs.with_progress(lambda say: specs.prove(spec, options.limit, say))
    shown = verdicts if options.all else [one for one in verdicts if not one.good]
    for one in verdicts:
        if not one.good:
            print(f"{spec.name}: {one.name}: {one.text}")
    if shown:
        print("\n".join(table(shown)))
    how = "from the cache" if verdicts[0].cached else f"{time.perf_counter() - begun:.0f} s"
    print(f"{spec.name}: {summary(verdicts)}; {how}; {solvers.versions()}")
    return proofs.ended(options, verdicts)
