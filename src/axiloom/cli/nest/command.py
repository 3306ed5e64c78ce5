"""``axiloom nest``: loops of C, Python, PyTorch or linalg: read, checked, and told; and as text.

``axiloom nest FILE --plan`` is short for ``axiloom nest plan FILE``, and so on (`SHORTER`).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from axiloom.base.files import write_whole
from axiloom.cli import options as shared
from axiloom.cli.applet import Applet, option, output_file
from axiloom.cli.kinds import Kind, Short
from axiloom.cli.nest import auto, resident, run
from axiloom.cli.nest.source import (
    DEFINE,
    INCLUDE,
    SCHEDULE,
    SOURCE,
    SOURCES,
    defines,
    load,
    scheduled,
)

if TYPE_CHECKING:
    from axiloom.nests.program.loaded import Loaded


def show(
    source: Sequence[str],
    define: Sequence[str] = (),
    include: Sequence[Path] = (),
    json_file: Path | None = None,
) -> None:
    programs = []
    for name in source:
        programs.append(describe(name, load(name, defines(define), include)))
        print("\n".join(lines(programs[-1])))
    if json_file:
        write_whole(json_file, json.dumps({"programs": programs}, indent=2) + "\n")


def emit(
    source: str,
    emit: str,
    define: Sequence[str] = (),
    include: Sequence[Path] = (),
    schedule: Path | None = None,
    output: Path | None = None,
) -> None:
    """One program as text."""
    loaded = load(source, defines(define), include)
    nest = scheduled(loaded.program, schedule)
    from axiloom.nest.emit import EMITTERS  # after `load`, which says what is not installed

    # Weights of models stay parameters.
    text = EMITTERS[emit](nest, None, loaded.contents if loaded.function else None)
    if output:
        write_whole(output, text)
    else:
        print(text, end="")


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


SHOW = Applet(
    "nest show",
    "read loops, say what is wrong with them, and print arrays, loops and operations",
    show,
    (
        SOURCES,
        DEFINE,
        INCLUDE,
        shared.JSON_TOO,
    ),
)
EMIT = Applet(
    "nest emit",
    "print loops as IR, as HLS C++ with pragmas, or as Verilog",
    emit,
    (
        SOURCE,
        option(
            "--emit",
            "--as",
            dest="emit",
            choices=("affine", "hls", "verilog"),
            required=True,
            first=True,
            help="IR of the affine dialect, HLS C++ with pragmas, or Verilog",
        ),
        DEFINE,
        INCLUDE,
        SCHEDULE,
        option(
            "-o", "--output", type=output_file, metavar="FILE", first=True, help="default: standard output"
        ),
    ),
)
APPLETS = (SHOW, resident.PLAN, resident.SIMULATE, auto.APPLET, EMIT, run.KIND.applet)


def short(words: Sequence[str]) -> int | None:
    """``axiloom nest FILE --plan``, by the option that says what is to be done. None: an action is named."""
    if len(words) < 2 or words[1] in ACTIONS or words[1] in ("-h", "--help"):
        return None
    return Short(SHOW, SHORTER).handed({word.partition("=")[0]: True for word in words[1:]}, words)


ACTIONS = [applet.name.partition(" ")[2] for applet in APPLETS]
SHORTER = (
    Kind(EMIT, lambda said: "--emit" if "--emit" in said else ""),
    Kind(resident.SIMULATE, lambda said: "--run" if "--run" in said else "", ("--run",)),
    Kind(resident.PLAN, lambda said: "--plan" if "--plan" in said else "", ("--plan",)),
    Kind(auto.APPLET, lambda said: "--auto" if "--auto" in said else "", ("--auto",)),
    Kind(SHOW, lambda said: "without --plan, --run, --emit or --auto loops are read"),
)
"""What options mean without an action; the first counts."""
SHORT = {"nest": short}
