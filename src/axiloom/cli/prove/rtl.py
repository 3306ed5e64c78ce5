"""``axiloom prove rtl``: the RTL does what the formal model of its instruction set does."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tqdm import tqdm

from axiloom.base.errors import UsageError
from axiloom.cli import options as shared
from axiloom.cli.applet import Applet, option
from axiloom.cli.kinds import Kind
from axiloom.cli.prove import shared as proofs
from axiloom.explore.asked import Asked

if TYPE_CHECKING:
    from axiloom.isa.instructions.tree import InstructionSet


def execute(
    asked: Asked,
    small: bool = False,
    map_file: Path | None = None,
    limit: int = proofs.LIMIT_S,
    replay: Path = Path("replay"),
    json_file: Path | None = None,
) -> int:
    # Imported here: provers and simulators are for this command alone.
    from axiloom.prove import solvers
    from axiloom.prove.verdict import table

    solvers.check()
    from axiloom.prove.rtl import verdicts
    from axiloom.prove.rtl.maps import ours as maps
    from axiloom.prove.rtl.maps import user

    begun = time.perf_counter()
    spec = asked.spec()
    if asked.is_model:
        raise UsageError("--rtl model: there is no RTL to prove anything of")
    rtl = asked.user_rtl(spec)
    if rtl is not None and map_file is None:
        raise UsageError("--rtl: needs --map FILE.json, which says what the registers hold")
    if small:
        spec = maps.small(spec)
    if rtl is None or map_file is None:
        device = maps.device_of(spec)
    else:
        device = user.device_of(spec, rtl, map_file)
    with tqdm(unit=" cycles", disable=None, leave=False) as shown:

        def counted() -> None:
            shown.update()

        def say(line: str) -> None:
            shown.clear()
            print(line)

        proved = verdicts.prove(device, limit, counted, folder=replay, say=say)
    print("\n".join(table(proved)))
    return proofs.concluded(f"{device.name}, {verdicts.sizes(device)}", proved, begun, json_file)


def of_text(
    isa: str,
    define: Sequence[str] = (),
    small: bool = False,
    commands: int | None = None,
    lanes: int | None = None,
    stream_width: int | None = None,
    limit: int = proofs.LIMIT_S,
    json_file: Path | None = None,
) -> int:
    from axiloom.device.rtl import device
    from axiloom.prove import solvers
    from axiloom.prove.rtl.texts import prove as texts
    from axiloom.prove.verdict import table

    solvers.check()
    begun = time.perf_counter()
    asked = {"lanes": lanes, "stream_width": stream_width}
    source, sizes = _sized(
        isa, define, {name: size for name, size in asked.items() if size is not None}, small=small
    )
    rtl = device(source, **sizes)
    most = commands or texts.COMMANDS
    with proofs.Told(json_file) as told:
        proved = told.of(lambda say: texts.prove(source, rtl, limit, say, most))
    print("\n".join(table(proved)))
    print("\n".join(f"{verdict.name}: {verdict.text}" for verdict in proved))
    return proofs.concluded(rtl.top, proved, begun, json_file)


def _sized(
    name: str, define: Sequence[str], sizes: dict[str, int], *, small: bool
) -> tuple[InstructionSet, dict[str, int]]:
    """The text with the constants of the command line, and the sizes of its RTL. In its `small` form those
    that the text says come before the defaults."""
    from axiloom.cli.run import program
    from axiloom.isa.instructions import library
    from axiloom.isa.instructions.tree import RTL_SIZES

    defined = program.constants(define)
    isa = library.target(name, constants=defined)
    if not small:
        return isa, sizes
    if not isa.small:
        raise UsageError(
            f"--small: {isa.place} says no small form, such as small(ROWS=4): give -D NAME=VALUE"
        )
    sizes = {size: value for size, value in isa.small.items() if size in RTL_SIZES} | sizes
    constants = {size: value for size, value in isa.small.items() if size not in RTL_SIZES} | defined
    told = ", ".join(f"{size} = {value}" for size, value in {**constants, **sizes}.items())
    print(f"small form: {told}", flush=True)
    return library.target(name, constants=constants), sizes


LIMIT = proofs.limit("of both solvers for what z3 does not say at once")
APPLET = Applet(
    "prove rtl",
    "every instruction of an accelerator's formal model is refined by its Verilog",
    execute,
    (
        shared.accelerator(typed=True),
        option(
            "--small",
            action="store_true",
            first=True,
            excludes={"rtl": "makes our engine small; --rtl is one of its own size"},
            help="the same engine with a small array, tile and buffers",
        ),
        option(
            "--map",
            dest="map_file",
            type=Path,
            metavar="FILE.json",
            first=True,
            needs={"rtl": "says what the registers of your Verilog hold"},
            help="of --rtl: which registers hold what of the model",
        ),
        LIMIT,
        option(
            "--replay",
            type=Path,
            metavar="DIR",
            first=True,
            help="where a counter-example goes (default: ./replay)",
        ),
        proofs.JSON,
    ),
    "From the Verilog that users get, or from yours with --rtl and --map. Words come when "
    "the device is at rest; data, and how long the other sides of the streams wait, are any. Exit code "
    "1 if a claim is violated or not decided. Verdicts are kept in the user's cache, by the content of "
    "the question.",
)
TEXT = Kind(
    Applet(
        "prove device",
        "the RTL that Axiloom makes of an instruction set with meaning does what the text says",
        of_text,
        (
            option("--isa", required=True, metavar="NAME|FILE.isa", first=True, help=proofs.BUILT_IN),
            option(
                "--small",
                action="store_true",
                first=True,
                help="with the constants and sizes that the text says",
            ),
            shared.define(
                "a constant: small memories, such as -D X=4; goes before what --small says", first=True
            ),
            option(
                "--commands",
                type=shared.positive,
                metavar="N",
                first=True,
                help="how many commands of each instruction (default: 24)",
            ),
            shared.LANES,
            shared.stream_width("bits of the streams", first=True),
            LIMIT,
            proofs.JSON,
        ),
        "Each command, for all data. Exit code 1 if a claim is violated or not decided.",
    ),
    lambda said: "--isa is an instruction set with meaning" if "isa" in said else "",
)
