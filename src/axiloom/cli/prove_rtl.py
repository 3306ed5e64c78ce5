"""``axiloom prove rtl``: the RTL does what the formal model of its instruction set does."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from tqdm import tqdm

from axiloom.cli import options as shared
from axiloom.cli import proofs
from axiloom.cli.given import Refusal, has, lacks, refuse
from axiloom.errors import UsageError


def add_command(what: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    rtl = what.add_parser(
        "rtl",
        help="every instruction of an accelerator's formal model is refined by its Verilog",
        description="From the Verilog that users get, or from yours with --rtl and --map. Words come when "
        "the device is at rest; data, and how long the other sides of the streams wait, are any. Exit code "
        "1 if a claim is violated or not decided. Verdicts are kept in the user's cache, by the content of "
        "the question.",
    )
    shared.add_accelerator(rtl)
    rtl.add_argument("--data-type", choices=("int8", "int16", "int32"), help="of a built-in one")
    rtl.add_argument(
        "--small",
        action="store_true",
        help="of our own RTL: the same engine with a small array, tile and buffers",
    )
    rtl.add_argument(
        "--map", type=Path, metavar="FILE.json", help="of --rtl: which registers hold what of the model"
    )
    proofs.add_options(rtl, "seconds of both solvers for what z3 does not say at once")
    rtl.add_argument(
        "--replay", type=Path, metavar="DIR", help="where a counter-example goes (default: ./replay)"
    )
    refuse(
        rtl,
        Refusal("map", lacks("rtl"), "says what the registers of your Verilog hold: give --rtl FILE too"),
        Refusal("small", has("rtl"), "makes our engine small; --rtl is one of its own size"),
        Refusal("data_type", has("spec"), "is of a built-in accelerator; --spec says its own"),
    )
    rtl.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    # Imported here: provers and simulators are for this command alone.
    from axiloom.prove import solvers
    from axiloom.prove.verdict import summary, table

    solvers.check()
    from axiloom.prove.rtl import maps, user, verdicts  # need z3

    begun = time.perf_counter()
    spec = shared.accelerator(options, options.data_type)
    if shared.wants_model(options):
        raise UsageError("--rtl model: there is no RTL to prove anything of")
    rtl = shared.user_rtl(options, spec)
    if rtl is not None and options.map is None:
        raise UsageError("--rtl: needs --map FILE.json, which says what the registers hold")
    if options.small:
        spec = maps.small(spec)
    device = maps.device_of(spec) if rtl is None else user.device_of(spec, rtl, options.map)
    with tqdm(unit=" cycles", disable=None, leave=False) as shown:

        def counted() -> None:
            shown.update()

        def say(line: str) -> None:
            shown.clear()
            print(line)

        folder = options.replay or Path("replay")
        found = verdicts.prove(device, options.limit, counted, folder=folder, say=say)
    print("\n".join(table(found)))
    print(
        f"{device.name}, {verdicts.sizes(device)}: {summary(found)}; "
        f"{time.perf_counter() - begun:.0f} s; {solvers.versions()}"
    )
    return proofs.ended(options, found)
