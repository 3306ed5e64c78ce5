"""``axiloom spec`` (check, show, schema) and ``axiloom list``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from axiloom import boards, isa
from axiloom.base.errors import UsageError
from axiloom.cli import HELP
from axiloom.cli import options as shared
from axiloom.cli.given import is_given, output_file
from axiloom.cli.prove import shared as proofs
from axiloom.cli.spec import from_rtl as spec_from_rtl
from axiloom.explore.asked import check_encodings
from axiloom.isa.check.check import remarks
from axiloom.isa.files.library import ENCODINGS
from axiloom.isa.files.other_forms import read_other
from axiloom.isa.formal import possible
from axiloom.isa.instructions import library
from axiloom.isa.instructions.page import counts, page
from axiloom.isa.instructions.read import read
from axiloom.isa.kernels.language.body import renamed
from axiloom.isa.kernels.named import KERNELS as NAMED
from axiloom.report import build as report

if TYPE_CHECKING:
    from axiloom.isa.instructions.tree import InstructionSet
    from axiloom.prove.verdict import Say, Verdict


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    spec = commands.add_parser("spec", help=HELP["spec"])
    actions = spec.add_subparsers(dest="action", metavar="ACTION", required=True)

    check = actions.add_parser("check", help="every fault of a file, each with its place")
    check.add_argument(
        "file", type=Path, help="a specification, or an instruction set (NAME.isa, or a built-in one's name)"
    )
    check.add_argument(
        "--prove",
        action="store_true",
        help="prove its formal models too, as `axiloom prove spec` does; refused where there is none",
    )
    check.set_defaults(execute=execute_check)

    doc = actions.add_parser("doc", help="a page of documentation of an instruction set, in Markdown")
    doc.add_argument(
        "file", type=Path, metavar="FILE", help="NAME.isa, or the name of an accelerator's instruction set"
    )
    doc.add_argument("-o", "--output", type=output_file, metavar="FILE", help="default: standard output")
    doc.set_defaults(execute=execute_doc)

    show = actions.add_parser("show", help="print a built-in specification as a file")
    show.add_argument("name", help="such as v3_16; see `axiloom list`")
    show.add_argument("--encoding", choices=ENCODINGS, default="bitmask")
    show.add_argument(
        "--post", action="store_true", help="with post-processing: bias, scale and clamp to int8"
    )
    show.add_argument("-o", "--output", type=output_file, metavar="FILE", help="default: standard output")
    show.set_defaults(execute=execute_show)

    import_ = actions.add_parser(
        "import", help="a configuration file of AXI4MLIR, the paper's or an older one, as a specification"
    )
    import_.add_argument("file", type=Path, metavar="FILE.json")
    import_.add_argument("-o", "--output", type=output_file, metavar="FILE", help="default: standard output")
    import_.set_defaults(execute=execute_import)

    spec_from_rtl.add_command(actions)

    schema = actions.add_parser("schema", help="print the JSON Schema of specifications or of reports")
    schema.add_argument("what", nargs="?", choices=("accelerator", "report"), default="accelerator")
    schema.set_defaults(execute=execute_schema)

    kernels = actions.add_parser("kernels", help="the kernels that a specification can name")
    kernels.set_defaults(execute=execute_kernels)

    list_ = commands.add_parser("list", help=HELP["list"])
    list_.set_defaults(execute=execute_list)


def execute_check(options: argparse.Namespace) -> int:
    if path := _instructions(options.file):
        instructions = read(path)
        possible.check(instructions)
        print(f"{options.file}: {instructions.name}: no faults; {counts(instructions)}")
        return int(not _instructions_proved(options.file, instructions)) if options.prove else 0
    loaded = isa.load_all(options.file)
    for spec in loaded.values():
        flows = ", ".join(spec.flows)
        print(f"{options.file}: {spec.name}: no faults; {len(spec.opcodes)} opcodes, flows {flows}")
        for remark in remarks(spec):
            print(f"{options.file}: {spec.name}: warning: {remark}")
    return int(not all(_proved(options.file, spec) for spec in loaded.values())) if options.prove else 0


def _proved(file: Path, spec: isa.AcceleratorSpec) -> bool:
    """Prints what is proved of a specification, and what is not so."""
    from axiloom.prove import solvers

    solvers.check()
    from axiloom.prove import spec as specs  # needs z3

    return _told(file, spec.name, lambda say: specs.prove(spec, proofs.LIMIT_S, say))


def _instructions_proved(file: Path, source: InstructionSet) -> bool:
    """The same of an instruction set with meaning."""
    from axiloom.prove import solvers

    solvers.check()
    from axiloom.prove import instructions  # needs z3

    return _told(file, source.name, lambda say: instructions.prove(source, proofs.LIMIT_S, say))


def _told(file: Path, name: str, ask: Callable[[Say], list[Verdict]]) -> bool:
    from axiloom.prove.verdict import summary

    with proofs.Told() as told:
        verdicts = told.of(ask)
    print(f"{file}: {name}: {summary(verdicts)}")
    return all(verdict.good for verdict in verdicts)


def _instructions(file: Path) -> Path | None:
    """The file of an instruction set that is meant; None for what is none."""
    if file.suffix == library.INSTRUCTIONS:
        return file
    return None if file.exists() else library.targets().get(str(file))


def execute_import(options: argparse.Namespace) -> int:
    specs, remarks = read_other(options.file)
    for remark in remarks:
        print(f"note: {options.file}: {remark}", file=sys.stderr)
    shared.write(isa.dumps(*specs), options.output)
    return 0


def execute_doc(options: argparse.Namespace) -> int:
    path = _instructions(options.file)
    if path is None:
        there = ", ".join(library.targets())
        raise UsageError(
            f"{options.file} is no instruction set; there are {there}, "
            f"and files that end in {library.INSTRUCTIONS}"
        )
    shared.write(page(read(path), path.read_text(encoding="utf-8")), options.output)
    return 0


def execute_show(options: argparse.Namespace) -> int:
    spec = isa.builtin(options.name, encoding=options.encoding, post=options.post)
    if is_given(options, "encoding"):
        check_encodings(options.name)
    shared.write(isa.dumps(spec), options.output)
    return 0


def execute_schema(options: argparse.Namespace) -> int:
    print(json.dumps(isa.schema() if options.what == "accelerator" else report.schema(), indent=2))
    return 0


def execute_kernels(_options: argparse.Namespace) -> int:
    for name, kernel in NAMED.items():
        places = {
            operand: "".join(f"[{index}]" for index in dims.values()) for operand, dims in kernel.maps.items()
        }
        body = str(renamed(kernel.body, {operand: operand + at for operand, at in places.items()}))
        loops = ", ".join(f"{loop} {kind}" for loop, kind in kernel.iterators.items())
        print(f"{name}\n    {kernel.output}{places[kernel.output]} = {body}\n    {loops}")
    return 0


def execute_list(_options: argparse.Namespace) -> int:
    print("accelerators (--accel NAME, or --accel VERSION --size S)")
    for name in [name for kernel in isa.KERNELS for name in isa.builtins(kernel)]:
        spec = isa.builtin(name)
        tile = "x".join(map(str, spec.tile.size)) + (" flexible" if spec.tile.flexible else "")
        flows = " ".join(spec.flows)
        print(
            f"  {name:<7} tile {tile:<22} {spec.macs:>3} multiply-adds  flows {flows:<12} {spec.description}"
        )
    print("boards (--board NAME, or a profile.toml of your own)")
    for name in boards.names():
        board = boards.load(name)
        clocks = f"CPU {board.cpu_hz / 1e6:g} MHz, fabric {board.fabric_hz / 1e6:g} MHz"
        print(f"  {name:<13}  {clocks}  {board.description}")
        print(f"  {'':<13}  error band: {board.fidelity or 'not calibrated'}")
    return 0
