"""``axiloom nest``: loops of C, Python, PyTorch or linalg: read, checked, and told.

`load` and `describe` are for what is built on them: schedules, circuits, runs.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from axiloom.base.errors import UsageError
from axiloom.base.files import write_whole
from axiloom.cli import HELP
from axiloom.cli.given import Refusal, has, lacks, output_file, refuse
from axiloom.cli.nest import auto as nest_auto
from axiloom.cli.nest import resident as nest_resident
from axiloom.cli.nest.source import DEVICE, PARTS, add_source, defines, load, scheduled

if TYPE_CHECKING:
    from axiloom.nests.program.loaded import Loaded


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    nest = commands.add_parser(
        "nest",
        help=HELP["nest"],
        description="Reads loops, says what is wrong with them, and prints arrays, loops and operations. "
        "With --plan it says which circuit a schedule makes of them and how many cycles that takes; --run "
        "executes that in Verilator, with exit code 0 only if results and cycles are as foretold. "
        "`axiloom run FILE.c` does it on the SoC.",
    )
    add_source(nest)
    nest.add_argument("--json", type=output_file, metavar="FILE", help="write what is printed as JSON too")
    nest.add_argument(
        "--schedule", type=Path, metavar="FILE", help="primitives, a line each (default: as it is written)"
    )
    nest.add_argument("--device", choices=PARTS, help=f"whose resources count (default {DEVICE})")
    nest_resident.add_options(nest)
    text = nest.add_argument_group("text")
    text.add_argument(
        "--emit",
        choices=("affine", "hls", "verilog"),
        help="print the loops as IR (affine dialect), as HLS C++ with pragmas, or as Verilog, instead",
    )
    text.add_argument(
        "-o",
        "--output",
        type=output_file,
        metavar="FILE",
        help="write the text there; FILE.npz with --run: the results, by the names of arrays",
    )
    refuse(
        nest,
        Refusal(
            "schedule", lacks("emit", "run", "plan"), "nothing is built: give --plan, --run or --emit too"
        ),
        Refusal("device", lacks("run", "plan", "auto"), "of a circuit: give --plan, --run or --auto too"),
        Refusal(
            "output",
            lambda options: not (options.emit or options.auto or nest_resident.is_results(options)),
            "for text, with --emit, or FILE.npz for results, with --run",
        ),
        Refusal("json run plan", has("emit"), "with --emit there is only text"),
    )
    nest_auto.add_options(nest)
    nest.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    if options.emit:
        return emit(options)
    if options.run or options.plan:
        return nest_resident.execute(options)
    if options.auto:
        return nest_auto.execute(options)
    programs = []
    for source in options.source:
        loaded = load(source, defines(options.define), options.include)
        programs.append(describe(source, loaded))
        print("\n".join(lines(programs[-1])))
    if options.json:
        write_whole(options.json, json.dumps({"programs": programs}, indent=2) + "\n")
    return 0


def emit(options: argparse.Namespace) -> int:
    """``--emit``: one program as text."""
    if len(options.source) > 1:
        raise UsageError(f"--emit {options.emit}: one program, not {len(options.source)}")
    loaded = load(options.source[0], defines(options.define), options.include)
    schedule = scheduled(loaded.program, options.schedule)
    from axiloom.nest.emit import EMITTERS  # after `load`, which says what is not installed

    # Weights of models stay parameters.
    text = EMITTERS[options.emit](schedule, None, loaded.contents if loaded.function else None)
    if options.output:
        write_whole(options.output, text)
    else:
        print(text, end="")
    return 0


def describe(source: str, loaded: Loaded) -> dict[str, Any]:
    """A program as JSON: arrays, statements, instances, operations, warnings."""
    from axiloom.nests.poly.checks import warnings
    from axiloom.nests.poly.counting import count
    from axiloom.nests.program.text import assignment, loops, operators

    program = loaded.program
    statements, total = [], Counter[str]()
    for statement in program.statements:
        points = count(statement.iterators, statement.domain)
        for name in operators(statement.value):
            total[name] += points
        statements.append(
            {
                "name": statement.name,
                "where": statement.where,
                "loops": list(statement.iterators),
                "domain": [f"{form} >= 0" for form in statement.domain],
                "place": list(statement.place),
                "text": assignment(statement),
                "instances": points,
            }
        )
    arrays = [
        {
            "name": array.name,
            "shape": list(array.shape),
            "number": array.number,
            "role": str(array.role),
            "contents": array.name in loaded.contents,
        }
        for array in program.arrays
    ]
    return {
        "source": source,
        "name": program.name,
        "arrays": arrays,
        "statements": statements,
        "nests": len({statement.place[0] for statement in program.statements}),
        "instances": sum(statement["instances"] for statement in statements),
        "operations": dict(sorted(total.items())),
        "loops": loops(program),
        "warnings": warnings(program),
    }


def lines(program: Mapping[str, Any]) -> list[str]:
    """For people."""
    counts = (
        f"{len(program['statements'])} statements in {program['nests']} nests, "
        f"{program['instances']:,} instances"
    )
    result = [f"{program['source']}: {program['name']}: {counts}", "arrays"]
    width = max(len(array["name"]) for array in program["arrays"])
    for array in program["arrays"]:
        shape = "x".join(map(str, array["shape"])) or "scalar"
        known = "  with contents" if array["contents"] else ""
        result.append(f"  {array['name']:<{width}}  {array['role']:<5}  {array['number']:<8}  {shape}{known}")
    result += ["loops", *(f"  {line}" for line in program["loops"]), "operations"]
    result += [f"  {count:>14,}  {name}" for name, count in program["operations"].items()]
    return result + [f"warning: {warning}" for warning in program["warnings"]]
