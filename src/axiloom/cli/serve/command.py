"""``axiloom serve``: the simulated SoC answers as a board does to programs of other tools."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from axiloom.base.errors import UsageError
from axiloom.cli import HELP
from axiloom.cli import options as shared
from axiloom.cli.applet import Applet, option, output_folder
from axiloom.cosim.blocks import Block, is_neighbour
from axiloom.cosim.soc import Soc
from axiloom.cosim.system import System
from axiloom.explore.asked import Asked
from axiloom.hw.rtl_files.user_rtl import UserRtl
from axiloom.isa import AcceleratorSpec, Link
from axiloom.library import draft
from axiloom.library.plans import Simulated
from axiloom.library.progress import told
from axiloom.virtual_board import handoff, service
from axiloom.virtual_board.address_map import own_design
from axiloom.virtual_board.board import BoardState

_FOLDER = "pynq"


def execute(
    asked: Asked,
    around: Simulated,
    pynq: bool = False,
    address: str = service.LOOPBACK,
    hwh: Path | None = None,
    keep: Path | None = None,
    ip: Sequence[str] = (),
    name: str | None = None,
    rename: Sequence[str] = (),
) -> int:
    """Serve until it is interrupted."""
    if not pynq:
        raise UsageError("axiloom serve: say whose protocol: --pynq")
    service.check()
    system = _system(asked, replace(around, ip=tuple(ip)))
    design = name or (hwh.stem if hwh else "_".join(device.name for device in system.devices))
    if len(design) > handoff.LONGEST_NAME or not design.replace("_", "").replace("-", "").isalnum():
        raise UsageError(f"--name {design!r}: letters, digits, _ and -, at most {handoff.LONGEST_NAME}")
    if hwh is None:
        blocks = _renamed(own_design(system), rename)
        folder = keep or Path(_FOLDER)
        paths = handoff.write(folder, design, blocks, system.profile, system.profile.part)
        print(f"wrote {', '.join(map(str, paths))}: load one of the last two as an Overlay")
    else:
        if ip or rename:
            raise UsageError("--ip, --rename: the design of --hwh has blocks and names of its own")
        blocks = handoff.read(hwh)
        system = replace(system, ip=[block for block in blocks if is_neighbour(block)])
        if keep is not None:
            keep.mkdir(parents=True, exist_ok=True)
            print(f"wrote {handoff.repair(hwh, keep / hwh.name, system.profile)}")
    state = BoardState(Soc(system), blocks, design, lambda line: print(line, flush=True))
    for block in state.unsimulated():
        print(f"note: {block.name} ({block.vlnv}) at {block.base:#x} is not simulated", file=sys.stderr)
    progress = told()
    state.soc.build(progress=progress)
    progress("")
    place = address if ":" in address else f"{address}:{service.PORT}"
    server = service.serve(state, place)
    print(
        f"{design} on {system.board_name} listens at {place}: run your notebook with "
        f"PYNQ_REMOTE_DEVICES={place.rpartition(':')[0]}",
        flush=True,
    )
    try:
        while True:
            time.sleep(3600)
    finally:
        server.stop(0).wait()
        state.close()


def _system(asked: Asked, around: Simulated) -> System:
    """Verilog without a specification is known by its streams and registers alone."""
    asked = replace(asked, board=around.board)
    if asked.is_verilog and asked.accel is None and asked.file is None:
        assert asked.top is not None
        drafted, _ = draft.draft(asked.rtl, asked.top, None, None, None)
        user = UserRtl(asked.rtl, asked.top, drafted.link.rtl)
        ports = drafted.link.rtl
        if user.control is not None and not ports.registers:
            ports = replace(ports, registers={draft.CONTROL: 0})  # nobody says what they are called
        dma = replace(drafted.link.dma, scatter_gather=asked.dma == "sg")
        devices: Sequence[AcceleratorSpec] = [
            drafted  # reads and writes memory itself: its registers of pointers are in the draft
            if drafted.has_pointers
            else AcceleratorSpec(
                Link(name=asked.top, dma=dma, stream_width=drafted.link.stream_width, rtl=ports)
            )
        ]
        stands: dict[str, Any] = {"user_rtl": UserRtl(asked.rtl, asked.top, ports)}
    else:
        devices = asked.specs()
        stands = asked.stands_in(*devices)
    fields = {name: value for name, value in vars(around).items() if value is not None}
    return System(tuple(devices), **stands, **fields)


def _renamed(blocks: Sequence[Block], names: Sequence[str]) -> list[Block]:
    """UsageError for a block that is not there."""
    new = dict(item.partition("=")[::2] for item in names)
    if unknown := [name for name in new if name not in {block.name for block in blocks}]:
        there = ", ".join(block.name for block in blocks)
        raise UsageError(f"--rename {unknown[0]}: the blocks are {there}")
    if wrong := [name for name in new.values() if not name.replace("/", "_").replace("_", "a").isalnum()]:
        raise UsageError(f"--rename: {wrong[0]!r} is no name such as hier_0/axi_dma_0")
    return [replace(block, name=new.get(block.name, block.name)) for block in blocks]


def _address(text: str) -> str:
    host, colon, port = text.partition(":")
    if not host or (colon and not (port.isdecimal() and 0 < int(port) < 1 << 16)):
        raise argparse.ArgumentTypeError(f"{text!r} is no address such as 127.0.0.1 or 127.0.0.2:7967")
    return text


APPLET = Applet(
    "serve",
    HELP["serve"],
    execute,
    (
        option("--pynq", action="store_true", first=True, help="PYNQ's remote mode, as of 4.0"),
        option(
            "--hwh",
            type=Path,
            metavar="FILE.hwh",
            first=True,
            help="the design as your Vivado wrote it; its DMAs, by address, are those of the accelerators",
        ),
        option(
            "--keep",
            type=output_folder,
            metavar="DIR",
            first=True,
            help=f"write .hwh, .bit and .xsa there (default {_FOLDER}); with --hwh a copy that PYNQ can read",
        ),
        option("--name", metavar="NAME", help="of the design and its files (default: the accelerator's)"),
        replace(shared.IP, first=True),
        option(
            "--rename",
            action="append",
            metavar="BLOCK=NAME",
            help="what a block is called in the files that are written, such as axi_dma_0=hier_0/axi_dma_0",
        ),
        option(
            "--address",
            type=_address,
            metavar="HOST[:PORT]",
            help=f"default {service.LOOPBACK}:{service.PORT}: this machine alone; there is no login. PYNQ "
            "knows this port alone: more boards are 127.0.0.2 and so on",
        ),
        shared.accelerator(),
        shared.without(shared.SIMULATION, "seed", "wait", "os", "stall"),
    ),
    "Notebooks and scripts with PYNQ 4.0 run unchanged on this machine, in an environment of their own with "
    "PYNQ_REMOTE_DEVICES=127.0.0.1. Verilog by --rtl and --top needs no specification. Ends with Ctrl-C.",
)
APPLETS = (APPLET,)
