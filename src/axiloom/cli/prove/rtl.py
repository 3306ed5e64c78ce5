"""``axiloom prove rtl``: the RTL does what the formal model of its instruction set does."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tqdm import tqdm

from axiloom.base.errors import UsageError
from axiloom.cli import options as shared
from axiloom.cli.given import Refusal, has, lacks, refuse
from axiloom.cli.prove import shared as proofs

if TYPE_CHECKING:
    from axiloom.isa.instructions.tree import InstructionSet

_OTHERS = "accel size spec encoding post rtl top macs memory_port dma data_type map replay"
"""What describes an accelerator of another kind."""


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
        help="of our own RTL: the same engine with a small array, tile and buffers; of --isa: with the "
        "constants and sizes that the text says",
    )
    rtl.add_argument(
        "--map", type=Path, metavar="FILE.json", help="of --rtl: which registers hold what of the model"
    )
    proofs.add_options(rtl, "seconds of both solvers for what z3 does not say at once")
    rtl.add_argument(
        "--isa",
        metavar="NAME|FILE.isa",
        help="the RTL that Axiloom makes of an instruction set with meaning, not of an accelerator: each "
        "command does what the text says, for all data",
    )
    rtl.add_argument(
        "-D",
        dest="define",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a constant of --isa: small memories, such as -D X=4; goes before what --small says",
    )
    rtl.add_argument(
        "--commands",
        type=shared.positive,
        metavar="N",
        help="of --isa: how many commands of each instruction (default: 24)",
    )
    rtl.add_argument(
        "--lanes", type=shared.positive, metavar="N", help="of --isa: elements at once in the device's units"
    )
    rtl.add_argument(
        "--replay", type=Path, metavar="DIR", help="where a counter-example goes (default: ./replay)"
    )
    refuse(
        rtl,
        Refusal(_OTHERS, has("isa"), "is about a specification, not about --isa"),
        Refusal(
            "define commands lanes", lacks("isa"), "is of an instruction set with meaning: give --isa too"
        ),
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
    if options.isa:
        return _of_text(options)
    from axiloom.prove.rtl import verdicts
    from axiloom.prove.rtl.maps import ours as maps
    from axiloom.prove.rtl.maps import user

    begun = time.perf_counter()
    spec = shared.asked(options).spec(options.data_type)
    if shared.asked(options).is_model:
        raise UsageError("--rtl model: there is no RTL to prove anything of")
    rtl = shared.asked(options).user_rtl(spec)
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
        proved = verdicts.prove(device, options.limit, counted, folder=folder, say=say)
    print("\n".join(table(proved)))
    print(
        f"{device.name}, {verdicts.sizes(device)}: {summary(proved)}; "
        f"{time.perf_counter() - begun:.0f} s; {solvers.versions()}"
    )
    return proofs.ended(options, proved)


def _of_text(options: argparse.Namespace) -> int:
    from axiloom.device.rtl import device
    from axiloom.prove import solvers
    from axiloom.prove.rtl.texts import prove as texts
    from axiloom.prove.verdict import summary, table

    begun = time.perf_counter()
    isa, sizes = _sized(options)
    rtl = device(isa, **sizes)
    most = options.commands or texts.COMMANDS
    with proofs.Told(options) as told:
        proved = told.of(lambda say: texts.prove(isa, rtl, options.limit, say, most))
    print("\n".join(table(proved)))
    print("\n".join(f"{verdict.name}: {verdict.text}" for verdict in proved))
    print(f"{rtl.top}: {summary(proved)}; {time.perf_counter() - begun:.0f} s; {solvers.versions()}")
    return proofs.ended(options, proved)


def _sized(options: argparse.Namespace) -> tuple[InstructionSet, dict[str, int]]:
    """The text with the constants of the command line, and the sizes of its RTL. With --small those that the
    text says come before the defaults."""
    from axiloom.cli.run import select
    from axiloom.isa.instructions.tree import RTL_SIZES

    defined = select.constants(options.define)
    isa = select.instruction_set(options.isa, Path(), defined, "--isa")
    sizes = {name: getattr(options, name) for name in RTL_SIZES if getattr(options, name) is not None}
    if not options.small:
        return isa, sizes
    if not isa.small:
        raise UsageError(
            f"--small: {isa.place} says no small form, such as small(ROWS=4): give -D NAME=VALUE"
        )
    sizes = {name: value for name, value in isa.small.items() if name in RTL_SIZES} | sizes
    constants = {name: value for name, value in isa.small.items() if name not in RTL_SIZES} | defined
    told = ", ".join(f"{name} = {value}" for name, value in {**constants, **sizes}.items())
    print(f"small form: {told}", flush=True)
    return select.instruction_set(options.isa, Path(), constants, "--isa"), sizes
