"""``axiloom explore``: which flow, loop order and tile to take for a problem, and how sure that is."""

from __future__ import annotations

import argparse
import csv
import io
import json
from collections.abc import Collection, Sequence
from dataclasses import astuple
from pathlib import Path
from typing import Any

from axiloom import boards, drivergen, isa
from axiloom.cli import options as shared
from axiloom.drivergen.cost import FORMS
from axiloom.errors import UsageError
from axiloom.explore import Exploration, Row, confirm, explore
from axiloom.files import write_whole
from axiloom.hardware_choice import DEVICES, HardwareChoice, choose_hardware
from axiloom.sweep import exit_code


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = commands.add_parser(
        "explore",
        help="choose flow, loop order and tile by a cost model; simulate the best to be sure",
        description="Ranks all that the accelerator allows by the time that the cost model predicts. With "
        "--confirm N the best N are simulated as well, and so are the paper's Best and its square tiles.",
    )
    command.add_argument("problems", nargs="+", metavar="PROBLEM", help="matmul:MxNxK[:int8|int16|int32]")
    shared.add_accelerator(command)
    command.add_argument(
        "--pipeline",
        choices=tuple(FORMS),
        help="only this one (default: choose among those that the DMA is able to use)",
    )
    command.add_argument("--board", default=boards.DEFAULT, help="default %(default)s")
    command.add_argument(
        "--show", type=shared.positive, default=10, metavar="K", help="rows to show (default 10)"
    )
    command.add_argument(
        "--confirm", type=shared.positive, default=0, metavar="N", help="simulate the best N too"
    )
    command.add_argument(
        "--device",
        choices=tuple(DEVICES),
        help="choose array, buffers, stream and DMA too, the fastest that fit this device by Yosys",
    )
    command.add_argument(
        "--save-spec", type=Path, metavar="FILE.json", help="write the specification chosen by --device"
    )
    command.add_argument("--json", type=Path, metavar="FILE", help="write what was found as JSON too")
    command.add_argument(
        "--output", type=Path, metavar="FILE.csv", help="write the rows of the tables as CSV too"
    )
    add_sweep(command)
    command.set_defaults(execute=execute)


def add_sweep(command: argparse.ArgumentParser) -> None:
    """Where simulations run and what is kept of them."""
    group = command.add_argument_group("simulations")
    group.add_argument(
        "--jobs", type=shared.positive, metavar="N", help="local processes (default: one a core)"
    )
    group.add_argument("--dask", metavar="ADDRESS", help="run on the Dask scheduler there instead")
    group.add_argument(
        "--store",
        type=Path,
        metavar="FILE",
        help="JSON-lines file of finished runs, which are not run again (default: in the user's cache)",
    )


def execute(options: argparse.Namespace) -> int:
    found: list[Exploration] = []
    if options.save_spec and not options.device:
        raise UsageError("--save-spec writes what --device chooses: give --device")
    if options.device and len(options.problems) > 1:
        raise UsageError("--device chooses hardware for one problem: give one")
    for text in options.problems:
        if text.endswith(".mlir"):
            raise UsageError(f"{text}: explore takes problems such as matmul:64x64x64, not files")
        problem = drivergen.parse_problem(text)
        spec = shared.accelerator(options, problem.dtype)
        specs = [spec]
        if options.device:
            hardware = choose_hardware(
                problem, spec, options.device, board=options.board, progress=shared.progress()
            )
            shared.progress()("")
            print(hardware_table(hardware), end="\n\n")
            specs = [hardware.chosen.spec, spec]
            if options.save_spec:
                write_whole(options.save_spec, isa.dumps(hardware.chosen.spec))
        pipelines = (options.pipeline,) if options.pipeline else None
        top = max(options.show, options.confirm)
        found += [explore(problem, one, pipelines=pipelines, board=options.board, top=top) for one in specs]
    if options.confirm:
        found = confirm(found, options.confirm, store=options.store, jobs=options.jobs, dask=options.dask)
    print("\n\n".join(table(one) for one in found))
    if options.json:
        write_whole(options.json, json.dumps([_as_json(one) for one in found], indent=2) + "\n")
    if options.output:
        write_whole(options.output, _as_csv(found))
    return exit_code(outcome for one in found for outcome in one.outcomes)


def _cells(row: Row) -> dict[str, Any]:
    choice, candidate = row.choice, row.choice.candidate
    return {
        "flow": candidate.flow,
        "loops": ",".join(candidate.order),
        "tile": "x".join(map(str, candidate.tile)),
        "pipeline": choice.pipeline,
        "predicted_ms": round(choice.seconds * 1e3, 4),
        "words": choice.words,
        "limit_ratio": round(choice.limit_ratio, 3),
        "simulated_ms": None if row.simulated is None else round(row.simulated * 1e3, 4),
        "error_percent": (
            None if row.simulated is None else round(100 * (choice.seconds / row.simulated - 1), 2)
        ),
        "simulated_limit_ratio": row.simulated_ratio,
        "names": list(row.names),
        "error": row.error,
    }


def _as_json(one: Exploration) -> dict[str, Any]:
    return {
        "problem": one.problem,
        "accelerator": one.spec.name,
        "board": one.board,
        "candidates": one.candidates,
        "model_seconds": round(one.seconds, 3),
        "chosen": _cells(one.chosen),
        "rows": [_cells(row) for row in one.rows],
    }


def _as_csv(found: Sequence[Exploration]) -> str:
    text = io.StringIO()
    writer: csv.DictWriter[str] | None = None
    for one in found:
        for row in one.rows:
            cells = {"problem": one.problem, "chosen": int(row is one.chosen), **_cells(row)}
            cells["names"] = "; ".join(row.names)
            if writer is None:
                writer = csv.DictWriter(text, list(cells), lineterminator="\n")
                writer.writeheader()
            writer.writerow(cells)
    return text.getvalue()


def hardware_table(found: HardwareChoice) -> str:
    """The variants that were tried, up to the chosen one (a star), and the specification as it was."""
    lines = [
        [
            "",
            "hardware",
            "multiply-adds",
            "buffers",
            "stream",
            "DMA",
            "predicted",
            "DSP",
            "LUT",
            "FF",
            "BRAM36",
        ]
    ]
    for variant, mark in (
        *((row, "*" if row is found.chosen else "too large") for row in found.rows),
        (found.base, ""),
    ):
        spec, used = variant.spec, variant.estimate
        lines.append(
            [
                mark,
                spec.name,
                str(spec.macs),
                "/".join(str(words) for words in spec.buffers.values()),
                str(spec.stream_width),
                "sg" if spec.dma.scatter_gather else "simple",
                f"{variant.seconds * 1e3:.3f} ms",
                *([f"{value:,g}" for value in astuple(used.used)] if used else [""] * 4),
            ]
        )
    title = (
        f"{found.problem.M}x{found.problem.N}x{found.problem.K}:{found.problem.dtype} under {found.device}: "
        f"{found.variants} variants, {found.excluded} of them too large by multipliers or memory alone"
    )
    return "\n".join([title, *_aligned(lines, left={0, 1, 5})])


def table(one: Exploration) -> str:
    """The rows as people read them; the chosen one has a star."""
    head = ["", "flow", "loops", "tile", "pipeline", "predicted", "words", "limit"]
    simulated = any(row.simulated is not None or row.error for row in one.rows)
    if simulated:
        head += ["simulated", "model", "limit"]
    lines = [[*head, ""]]
    for row in one.rows:
        cells = _cells(row)
        line = [
            "*" if row is one.chosen else "",
            cells["flow"],
            cells["loops"],
            cells["tile"],
            cells["pipeline"],
            f"{cells['predicted_ms']:.3f} ms",
            f"{cells['words']:,}",
            f"{cells['limit_ratio']:.2f}x",
        ]
        if simulated and row.simulated is not None:
            line += [
                f"{cells['simulated_ms']:.3f} ms",
                f"{cells['error_percent']:+.1f} %",
                f"{row.simulated_ratio or 0:.2f}x",
            ]
        elif simulated:
            line += ["failed" if row.error else "", "", ""]
        lines.append([*line, row.error or ", ".join(row.names)])
    text = _aligned(lines, left={0, 1, 2, 3, 4, len(lines[0]) - 1})
    title = (
        f"{one.problem} on {one.spec.name}, {one.board}: {one.candidates:,} candidates in {one.seconds:.2f} s"
    )
    return "\n".join([title, *text])


def _aligned(lines: Sequence[Sequence[str]], left: Collection[int]) -> list[str]:
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return [
        "  ".join(
            cell.ljust(width) if i in left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
