"""Options that several commands share, and what they mean."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from axiloom import boards, drivergen
from axiloom.base.errors import CompileError, UsageError
from axiloom.base.files import write_whole
from axiloom.boards.checks import FABRIC_HZ
from axiloom.cli.given import Refusal, has, is_given, lacks, output_file, output_folder, refuse
from axiloom.cosim.system import System
from axiloom.drivergen.pipeline.schedule import Schedule
from axiloom.explore.asked import MOST, OFF, Asked
from axiloom.explore.chosen import Task
from axiloom.isa import Link
from axiloom.isa.check.link import STREAM_WIDTHS
from axiloom.isa.files.library import ENCODINGS
from axiloom.read.mlir import file as mlir_file


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


def add_accelerator(
    command: argparse.ArgumentParser, dmas: tuple[str, ...] = ("simple", "sg"), *, chosen: bool = False
) -> None:
    """What stands there. `chosen`: what is open of a built-in one, the command chooses
    (:mod:`axiloom.explore.chosen`)."""
    file = "what the specification says"
    says = f"the best by the cost model; of a --spec {file}" if chosen else file
    group = command.add_argument_group("accelerator")
    group.add_argument(
        "--accel",
        metavar="NAME",
        help="a built-in one (v1..v4, v3_16, conv_v3, conv_v4, loopback, identity; default "
        f"{'the fastest for the problem by the cost model' if chosen else 'v3'}), or a name within --spec",
    )
    group.add_argument(
        "--size", type=int, metavar="S", help="tile size of a built-in one: 4, 8 or 16 (default 16)"
    )
    group.add_argument("--spec", type=Path, metavar="FILE.json", help="a specification of your own")
    group.add_argument("--encoding", choices=ENCODINGS, default="bitmask", help="of a built-in one's opcodes")
    group.add_argument(
        "--post",
        action="store_true",
        help="a built-in one with post-processing: bias, scale and clamp to int8 on the device",
    )
    group.add_argument(
        "--rtl",
        type=Path,
        nargs="+",
        action="extend",
        metavar="FILE.v|model",
        help="your accelerator's Verilog (or VHDL, with GHDL) in place of ours; or `model`: the "
        "specification's functional model, which runs any driver before there is RTL, in stated cycles",
    )
    group.add_argument("--top", metavar="NAME", help="the top module of --rtl")
    group.add_argument(
        "--stream-width",
        type=int,
        choices=STREAM_WIDTHS,
        help=f"bits of the AXI streams and the memory ports (default: {says})",
    )
    group.add_argument(
        "--macs",
        type=_macs,
        metavar="N|most",
        help=f"multiply-adds a cycle, a power of two (default: {says}); "
        "most: what the board's part has multipliers for",
    )
    group.add_argument(
        "--dma",
        choices=dmas,
        help=f"direct register mode, or scatter-gather (default: {says})"
        + ("; xilinx, xilinx-sg: the same with Xilinx' AXI DMA" if "xilinx" in dmas else ""),
    )
    group.add_argument(
        "--memory-port",
        metavar="plain|coherent",
        help="the board's port to memory: one that looks into the CPU's caches (coherent, or its name: acp), "
        f"so that the driver maintains none of them, or not (default: {says})",
    )
    refuse(
        command,
        Refusal("top", lacks("rtl"), "names the top module of --rtl: give the files too, --rtl FILE.v..."),
        Refusal("rtl", _nameless, "needs --top NAME, the module with the AXI-Stream ports"),
        Refusal("size", has("spec"), "chooses a built-in accelerator; with --spec the file says the tile"),
        Refusal("encoding", has("spec"), "of a built-in accelerator; with --spec the file has the opcodes"),
        Refusal("post", has("spec"), "for a built-in accelerator; in a file, `post`: true says it"),
        Refusal("data_type", has("spec"), "of a built-in accelerator; in a file, `data_type` says it"),
        Refusal(
            "macs",
            verilog_given,
            "sizes the array of a generated accelerator; --rtl has its own: `macs` in its specification says "
            "how large that is",
        ),
    )


def verilog_given(options: argparse.Namespace) -> bool:
    """--rtl names files, and not the functional model."""
    return is_given(options, "rtl") and asked(options).is_verilog


def _nameless(options: argparse.Namespace) -> bool:
    return verilog_given(options) and not is_given(options, "top")


def _pipeline(text: str) -> str:
    try:
        drivergen.optimisations(text)
    except UsageError as fault:
        raise argparse.ArgumentTypeError(str(fault)) from None
    return text


def add_schedule(command: argparse.ArgumentParser) -> None:
    """How the accelerator is used: flow, order of the loops, tile, passes."""
    command.add_argument(
        "--flow",
        metavar="ID|best",
        help="one of the specification's flows, or the cost model's choice of flow, order, tile and pipeline "
        "as far as they are not given (default: best; of a --spec its selected_flow)",
    )
    command.add_argument(
        "--order",
        type=loops,
        metavar="m,n,k",
        help="the loops, outermost first (default: the best by the cost model; of a --spec the flow's own, "
        "or what the passes gain most by)",
    )
    command.add_argument("--tile", type=sizes, metavar="m,n,k", help="tile of a flexible accelerator")
    add_pipeline(command)


def add_pipeline(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--pipeline",
        type=_pipeline,
        metavar="NAME|PASS,...",
        help=f"passes on the transfers: {', '.join(drivergen.PIPELINES)}, or names of passes with commas "
        "between them (default: the best by the cost model; of a --spec `all` with a scatter-gather DMA, "
        "`copying` without)",
    )


def add_simulation(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group("simulation")
    group.add_argument(
        "--sim", choices=("verilator", "icarus"), default="verilator", help="default %(default)s"
    )
    group.add_argument(
        "--board",
        default=boards.DEFAULT,
        metavar="NAME|FILE.toml",
        help=f"{', '.join(boards.names())}, a profile of your own, or ulx3s: the driver runs here, the "
        "accelerator behind a serial line (default %(default)s)",
    )
    group.add_argument(
        "--wait",
        choices=("poll", "irq"),
        default="poll",
        help="the driver polls the DMA, or sleeps until its interrupt (default %(default)s)",
    )
    group.add_argument(
        "--os",
        choices=("none", "linux"),
        default="none",
        help="build the driver for bare metal, or as the static Linux program that runs on the board, with "
        "UIO and u-dma-buf (default %(default)s)",
    )
    group.add_argument(
        "--clock",
        type=megahertz,
        metavar="MHZ",
        help="with --board ulx3s: what `board build --clock` was given",
    )
    group.add_argument(
        "--port",
        metavar="TTY",
        help="a board on a serial line (--board ulx3s) that is there, not a simulated one",
    )
    group.add_argument("--quiet", action="store_true", help="print the result and the time alone")
    group.add_argument("--json", type=output_file, metavar="FILE", help="write the report as JSON too")
    group.add_argument(
        "--report",
        type=output_folder,
        metavar="DIR",
        help="write a page to DIR: where the time went, with a timeline",
    )
    group.add_argument(
        "--perfetto",
        type=output_file,
        metavar="FILE.json",
        help="write the timeline for Perfetto (ui.perfetto.dev)",
    )
    group.add_argument(
        "--trace", type=output_file, metavar="FILE.fst", help="waveforms: FST on Verilator, VCD on Icarus"
    )
    group.add_argument("--trace-window", type=window, metavar="START:END", help="only these fabric cycles")
    group.add_argument(
        "--keep", type=output_folder, metavar="DIR", help="keep the driver's sources, ELF and IR there"
    )
    group.add_argument(
        "--watchdog", type=positive, metavar="CYCLES", help="fabric cycles without progress that make a hang"
    )
    group.add_argument(
        "--stall",
        type=stall,
        metavar="SEED[-LAST]|off",
        help="run it again under pseudo-random pauses on every channel; the result must be the same "
        "(default: with --rtl some seeds, in no more time than the run takes; else off)",
    )
    refuse(
        command,
        Refusal("trace_window", lacks("trace"), "a part of a trace: give --trace FILE too"),
        Refusal(
            "stall",
            lambda o: isinstance(o.stall, range) and asked(o).is_model,
            "holds up RTL; --rtl model has none",
        ),
        Refusal(
            "stall",
            lambda o: isinstance(o.stall, range) and o.trace is not None,
            "makes a second run, and a trace is of one: leave one of them out",
        ),
    )


def asked(options: argparse.Namespace) -> Asked:
    """What the options of :func:`add_accelerator` ask for, as far as the command has them."""
    value = vars(options).get
    return Asked(
        accel=options.accel,
        size=options.size,
        file=options.spec,
        encoding=options.encoding if is_given(options, "encoding") else None,
        post=options.post,
        rtl=tuple(options.rtl or ()),
        top=options.top,
        stream_width=options.stream_width,
        macs=options.macs,
        dma=options.dma,
        memory_port=value("memory_port"),
        board=value("board") or boards.DEFAULT,
    )


def _macs(text: str) -> int | str:
    if text == MOST:
        return MOST
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a number from 1 on nor {MOST}")
    return int(text)


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


def schedule(options: argparse.Namespace, pipeline: str | None = None) -> Schedule:
    """What the options of :func:`add_schedule` ask for; `pipeline` where none is asked for."""
    return Schedule(options.flow, options.order, options.tile, options.pipeline or pipeline)


def task(options: argparse.Namespace, mlir: str, data_type: str | Sequence[str], **others: Any) -> Task:
    """The problem of `options`, and what they ask for; `others`: fields of :class:`Task`."""
    calls = vars(options).get("calls", 1)
    return Task(options.problem, mlir, data_type, asked(options), schedule(options), calls, **others)


def system(options: argparse.Namespace, links: Sequence[Link], seed: int = 0) -> System:
    """What stands there by the options of :func:`add_simulation`; `links` by those of the accelerator."""
    watchdog = {} if options.watchdog is None else {"watchdog_cycles": options.watchdog}
    return System(
        links,
        options.board,
        options.sim,
        **asked(options).stands_in(*links),
        wait=options.wait,
        os=options.os,
        trace=options.trace,
        trace_window=options.trace_window,
        seed=seed,
        stall=asked(options).stall(options.stall, traced=options.trace is not None),
        **watchdog,
    )


def wants_timeline(options: argparse.Namespace) -> bool:
    """Whether an option of :func:`add_simulation` needs the timeline."""
    return options.report is not None or options.perfetto is not None


def write(text: str, path: Path | None) -> None:
    """To `path`, whole or not at all, or to standard output."""
    if path is None:
        print(text, end="" if text.endswith("\n") else "\n")
        return
    write_whole(path, text)
