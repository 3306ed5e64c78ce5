"""Options that several commands share, and what is made of them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from axiloom import boards, drivergen
from axiloom.base.errors import BuildError, CompileError, UsageError
from axiloom.base.files import write_whole
from axiloom.boards.checks import FABRIC_HZ
from axiloom.cli.applet import Group, Option, option, output_file, output_folder
from axiloom.drivergen.pipeline.schedule import Schedule
from axiloom.explore.asked import MODEL, MOST, OFF, Asked
from axiloom.isa.check.link import STREAM_WIDTHS
from axiloom.isa.files.library import ENCODINGS
from axiloom.isa.numerics import INT32
from axiloom.library.plans import Simulated
from axiloom.read.mlir import file as mlir_file

DATA_TYPES = ("int8", "int16", "int32")


def sizes(text: str) -> tuple[int, ...]:
    """``m,n,k`` or ``mxnxk``."""
    parts = text.replace("x", ",").split(",")
    if not all(part.strip().isdecimal() for part in parts):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of sizes such as 16,16,16")
    return tuple(int(part) for part in parts)


MOST_CALLS = 10_000


def positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 on")
    return int(text)


def natural(text: str) -> int:
    """Of a seed, or a number of things that may be none."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 on")
    return int(text)


def port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port from 0 to 65535")
    return int(text)


def calls(text: str) -> int:
    """Of a driver in a program: what each leaves is kept and compared."""
    if not text.isdecimal() or not 1 <= int(text) <= MOST_CALLS:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to {MOST_CALLS:,}")
    return int(text)


def stall(text: str) -> range | str:
    """Seeds of pauses, or none."""
    if text == OFF:
        return OFF
    first, dash, last = text.partition("-")
    seeds = range(positive(first), positive(last if dash else first) + 1)
    if not seeds:
        raise argparse.ArgumentTypeError(f"{text!r}: the last seed is below the first")
    return seeds


def megahertz(text: str) -> float:
    """A fabric's clock."""
    low, high = (limit // 1_000_000 for limit in FABRIC_HZ)
    try:
        clock = float(text)
    except ValueError:
        clock = 0.0
    if not low <= clock <= high:  # false for NaN, too
        raise argparse.ArgumentTypeError(f"{text!r} is no clock from {low} to {high} MHz")
    return clock


def seconds(text: str) -> float:
    """Of a board's time."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 1e-9 <= value <= 1e6:  # false for NaN, too
        raise argparse.ArgumentTypeError(f"{text!r} is no time from 1e-9 to 1e6 seconds")
    return value


def loops(text: str) -> tuple[str, ...]:
    """``m,n,k``: names of loops, outermost first."""
    return tuple(part.strip() for part in text.split(","))


def window(text: str) -> tuple[int, int]:
    """``START:END`` in fabric cycles."""
    start, colon, end = text.partition(":")
    if not colon or not start.isdecimal() or not end.isdecimal() or int(start) >= int(end):
        raise argparse.ArgumentTypeError(f"{text!r} is not a window of cycles such as 1000:2000")
    return int(start), int(end)


def rtl_file(text: str) -> Path:
    """A file that is there, or `MODEL`. Raises BuildError."""
    file = Path(text)
    if not file.is_file() and file != MODEL:
        raise BuildError(f"user RTL {file}: no such file")
    return file


def _macs(text: str) -> int | str:
    if text == MOST:
        return MOST
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a number from 1 on nor {MOST}")
    return int(text)


def _pipeline(text: str) -> str:
    try:
        drivergen.optimisations(text)
    except UsageError as fault:
        raise argparse.ArgumentTypeError(str(fault)) from None
    return text


def define(says: str, metavar: str = "NAME=VALUE", **more: Any) -> Option:
    """``-D``; `says`: of what it is a value."""
    return option("-D", dest="define", action="append", metavar=metavar, help=says, **more)


def include(says: str, **more: Any) -> Option:
    """``-I``; `says`: which headers are in the folder."""
    return option("-I", dest="include", action="append", type=Path, metavar="DIR", help=says, **more)


def stream_width(says: str, **more: Any) -> Option:
    return option("--stream-width", type=int, choices=STREAM_WIDTHS, help=says, **more)


def accelerator(
    dmas: tuple[str, ...] = ("simple", "sg"), *, chosen: bool = False, typed: bool = False
) -> Group:
    """What stands there, as `asked`. `chosen`: what is open of a built-in one, the command chooses
    (:mod:`axiloom.explore.chosen`). `typed`: with ``--data-type``, where no problem says it."""
    file = "what the specification says"
    says = f"the best by the cost model; of a --spec {file}" if chosen else file
    kinds = option("--data-type", choices=DATA_TYPES, help=f"of a built-in one (default {INT32.name})")
    default = "the fastest for the problem" if chosen else "v3"
    options = (
        option(
            "--accel",
            metavar="NAME",
            first=True,
            help=f"a built-in one, as `axiloom list` names them (default: {default}), or a name within "
            "--spec",
        ),
        option("--size", type=int, metavar="S", help="tile of a built-in one: 4, 8 or 16 (default 16)"),
        option("--spec", dest="file", type=Path, metavar="FILE.json", first=True, help="your specification"),
        option("--encoding", choices=ENCODINGS, help=f"of a built-in one's opcodes (default {ENCODINGS[0]})"),
        option(
            "--post",
            action="store_true",
            help="a built-in one with post-processing: bias, scale and clamp to int8 on the device",
        ),
        option(
            "--rtl",
            type=rtl_file,
            nargs="+",
            action="extend",
            metavar="FILE.v|model",
            first=True,
            help="your Verilog or VHDL in place of ours, with --top, or a component.xml; or `model`: the "
            "functional model, before there is RTL",
        ),
        option("--top", metavar="NAME", first=True, help="the top module of --rtl"),
        stream_width(f"bits of the AXI streams and the memory ports (default: {says})"),
        option(
            "--macs",
            type=_macs,
            metavar="N|most",
            help=f"multiply-adds a cycle, a power of two (default: {says}); "
            "most: what the board's part has multipliers for",
        ),
        option(
            "--dma",
            choices=dmas,
            help=f"direct register mode, or scatter-gather (default: {says})"
            + ("; xilinx, xilinx-sg: the same with Xilinx' AXI DMA" if "xilinx" in dmas else ""),
        ),
        option(
            "--memory-port",
            metavar="plain|coherent",
            help="the board's port to memory: one that looks into the CPU's caches (coherent, or its name: "
            f"acp), so that the driver maintains none of them, or not (default: {says})",
        ),
    )
    return Group("accelerator", (*options, kinds) if typed else options, "asked", _asked)


def _asked(rtl: Sequence[Path] = (), **words: Any) -> Asked:
    return Asked(rtl=tuple(rtl), **words)


BOARD = option(
    "--board",
    metavar="NAME|FILE.toml",
    first=True,
    help=f"{', '.join(boards.names())}, or a profile of your own (default {boards.DEFAULT})",
)
FLOW = option(
    "--flow",
    metavar="ID|best",
    help="one of the specification's flows, or the cost model's choice of flow, order, tile and pipeline "
    "as far as they are not given (default: best; of a --spec its selected_flow)",
)
TILE = option("--tile", type=sizes, metavar="m,n,k", help="tile of a flexible accelerator")
USE = Group(
    "driver",
    (
        FLOW,
        option(
            "--order",
            type=loops,
            metavar="m,n,k",
            help="the loops, outermost first (default: the best by the cost model; of a --spec the flow's "
            "own, or what the passes gain most by)",
        ),
        TILE,
        option(
            "--pipeline",
            type=_pipeline,
            metavar="NAME|PASS,...",
            help=f"passes on the transfers: {', '.join(drivergen.PIPELINES)}, or names of passes with commas "
            "between them (default: the best by the cost model; of a --spec `all` with a scatter-gather DMA, "
            "`copying` without)",
        ),
    ),
    "use",
    Schedule,
)
"""How the accelerator is used."""
SEED = option("--seed", type=natural, metavar="N", help="of the random inputs (default 0)")
INPUT = option(
    "--input",
    type=Path,
    metavar="FILE.npz",
    first=True,
    excludes={"seed": "has the inputs; a --seed is of random ones"},
    help="inputs by name (default: random ones)",
)
OUTPUT = option(
    "--output", type=output_file, metavar="FILE.npz", first=True, help="write the results by name"
)
DEFINE = define("of a template of MLIR: ${NAME}")
SIM = option("--sim", choices=("verilator", "icarus"), help="default verilator")
IP = option(
    "--ip",
    action="append",
    metavar="[NAME=]IP[@ADDRESS][,KEY=VALUE]...",
    help="a block of Xilinx' beside the accelerator: axi_gpio, axi_timer, axi_cdma, or axi_fifo_mm_s in "
    "the DMA's place; several times",
)
SIMULATION = Group(
    "simulation",
    (
        SIM,
        BOARD,
        option(
            "--wait",
            choices=("poll", "irq"),
            help="the driver polls the DMA, or sleeps until its interrupt (default poll)",
        ),
        option(
            "--os",
            choices=("none", "linux"),
            help="build the driver for bare metal, or as the static Linux program that runs on the board, "
            "with UIO and u-dma-buf (default none)",
        ),
        option(
            "--watchdog",
            dest="watchdog_cycles",
            type=positive,
            metavar="CYCLES",
            help="fabric cycles without progress that make a hang",
        ),
        option(
            "--stall",
            type=stall,
            metavar="SEED[-LAST]|off",
            help="run it again under pseudo-random pauses on every channel; the result must be the same "
            "(default: with --rtl some seeds, in no more time than the run takes; else off)",
        ),
        option(
            "--trace", type=output_file, metavar="FILE.fst", help="waveforms: FST on Verilator, VCD on Icarus"
        ),
        option(
            "--trace-window",
            type=window,
            metavar="START:END",
            needs={"trace": "a part of a trace"},
            help="only these fabric cycles",
        ),
        SEED,
    ),
    "around",
    Simulated,
)
"""What stands around the accelerator."""
KEEP = option(
    "--keep",
    type=output_folder,
    metavar="DIR",
    first=True,
    help="keep the driver's sources, ELF and IR there",
)
LANES = option(
    "--lanes", type=positive, metavar="N", first=True, help="elements at once in the device's units"
)
JSON = option("--json", type=output_file, metavar="FILE", first=True, help="write the report as JSON too")
JSON_TOO = option(
    "--json",
    dest="json_file",
    type=output_file,
    metavar="FILE",
    first=True,
    help="write what is printed as JSON too",
)
FRONT = option(
    "--report",
    type=output_folder,
    metavar="DIR",
    first=True,
    help="write a page: time against what it takes",
)
TO = option("-o", "--output", type=output_file, metavar="FILE", help="default: standard output")


def problem(text: str, flow: str | None = None) -> tuple[str, str]:
    """The MLIR of a problem, and the data type of its inputs.

    `text` is ``matmul:MxNxK[:dtype]`` or another of :mod:`axiloom.drivergen.problems.kinds`, or the path of a
    ``.mlir`` file, with ``:FUNCTION`` behind where that has several. `flow`: the one that was asked for.
    """
    if mlir_file.is_mlir(text):
        mlir = mlir_file.read_mlir(text)
        for remark in mlir_file.remarks(text, mlir, flow):
            print(f"note: {remark}", file=sys.stderr)
        args = drivergen.compile_cpu(mlir, name=text).args
        if not args:
            raise CompileError(f"{text}: its function has no arguments: there is nothing to offload")
        return mlir, args[0].dtype
    parsed = drivergen.parse_workload(text)
    return parsed.mlir, parsed.dtype


def without(group: Group, *names: str) -> Group:
    """`group` without the options of these names, which do not apply."""
    return Group(
        group.title, tuple(item for item in group.options if item.name not in names), group.name, group.make
    )


def write(text: str, path: Path | None) -> None:
    """To `path`, whole or not at all, or to standard output."""
    if path is None:
        print(text, end="" if text.endswith("\n") else "\n")
        return
    write_whole(path, text)
