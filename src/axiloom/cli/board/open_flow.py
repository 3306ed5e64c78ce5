"""``axiloom board build`` and ``axiloom estimate``: bitstreams and estimates without a vendor's tools."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from axiloom.base.files import write_whole
from axiloom.board_folder import open_flow
from axiloom.cli import HELP
from axiloom.cli import options as shared
from axiloom.cli.given import Refusal, lacks, output_file, refuse
from axiloom.explore import estimate as estimates
from axiloom.library.progress import told


def add_build(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """``build`` among the actions of ``axiloom board``."""
    build = actions.add_parser(
        "build",
        help="make the bitstream of a ulx3s folder with Yosys and nextpnr",
        description="Writes design.bit, report.json and nextpnr.log to DIR/openflow/build. Exit code 5 if "
        "the clock of --clock is not met.",
    )
    build.add_argument("folder", type=Path, metavar="DIR")
    build.add_argument(
        "--clock",
        type=shared.megahertz,
        metavar="MHZ",
        help="the fabric's (default: what the folder says, or the next slower one that is met)",
    )
    build.add_argument(
        "--seeds",
        type=shared.positive,
        default=4,
        metavar="N",
        help="attempts at placement for the clock of --clock (default %(default)s)",
    )
    refuse(
        build,
        Refusal("seeds", lacks("clock"), "attempts at the clock of --clock: without, each clock has one"),
    )
    build.set_defaults(execute=execute_build)


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    estimate = commands.add_parser(
        "estimate",
        help=HELP["estimate"],
        description="Minutes for a new design; what was estimated once is in the user's cache.",
    )
    shared.add_accelerator(estimate)
    estimate.add_argument("--data-type", choices=("int8", "int16", "int32"), help="of a built-in one")
    estimate.add_argument(
        "--device",
        action="append",
        choices=tuple(estimates.DEVICES),
        help="once for each (default: all): xc7z020 gives resources, ecp5-85k the clock too",
    )
    estimate.add_argument("--json", type=output_file, metavar="FILE", help="write what was found as JSON too")
    estimate.set_defaults(execute=execute_estimate)


def execute_build(options: argparse.Namespace) -> int:
    clock_hz = round(options.clock * 1e6) if options.clock else 0
    built = open_flow.build(options.folder, clock_hz=clock_hz, seeds=options.seeds, progress=told())
    report = built.report
    print(f"{built.folder / open_flow.BITSTREAM}: {report['accelerator']} on {report['board']}")
    print(f"  clock    {report['clock_hz'] / 1e6:g} MHz, met; it could be {report['fmax_hz'] / 1e6:.1f} MHz")
    if report["clock_hz"] != report["asked_hz"]:
        print(f"           not {report['asked_hz'] / 1e6:g}, which was asked for")
    if report["clock_hz"] != report["usual_hz"]:
        print(f"           axiloom run ... --board ulx3s --clock {report['clock_hz'] / 1e6:g}")
    print(f"  slowest  {_path(report['critical_path'])}")
    print("\n".join(_utilisation(report["utilisation"])))
    return 0


def execute_estimate(options: argparse.Namespace) -> int:
    asked = shared.asked(options)
    spec = asked.spec(options.data_type)
    rtl, progress = asked.user_rtl(spec, command=options.command), told()
    estimated = [
        estimates.estimate(spec, device, user_rtl=rtl, progress=progress)
        for device in options.device or tuple(estimates.DEVICES)
    ]
    progress("")
    if options.json:
        write_whole(options.json, json.dumps([estimate.as_json() for estimate in estimated], indent=2) + "\n")
    for estimate in estimated:
        figures = estimate.as_json()
        name = f"{figures['accelerator']}, RTL {rtl.top}," if rtl else figures["accelerator"]
        print(f"{name} with its DMA on {figures['device']}{'' if estimate.fits else ': DOES NOT FIT'}")
        print("\n".join(_utilisation(figures["resources"])))
        if estimate.routed is not None:
            print(f"  clock    {estimate.routed.fmax_hz / 1e6:.1f} MHz")
            print(f"  slowest  {estimate.routed.critical}")
    return 0


def _path(path: dict[str, Any]) -> str:
    total = path["logic_ns"] + path["routing_ns"]
    return f"{path['begin']} to {path['end']}: {total:.2f} ns, {path['levels']} levels"


def _utilisation(used: dict[str, dict[str, float]]) -> list[str]:
    return [
        f"  {name:<12} {resource['used']:>8,g} of {resource['available']:>7,g}  "
        f"{resource['used'] / resource['available']:>4.0%}"
        for name, resource in used.items()
    ]
