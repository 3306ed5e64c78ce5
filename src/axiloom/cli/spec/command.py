"""``axiloom spec`` (check, show, schema) and ``axiloom list``."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from axiloom import boards, isa
from axiloom.base.errors import UsageError
from axiloom.cli import HELP
from axiloom.cli import options as shared
from axiloom.cli.applet import Applet, option
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


def check(file: Path, prove: bool = False) -> int:
    if path := _instructions(file):
        instructions = read(path)
        possible.check(instructions)
        print(f"{file}: {instructions.name}: no faults; {counts(instructions)}")
        return int(not _instructions_proved(file, instructions)) if prove else 0
    loaded = isa.load_all(file)
    for spec in loaded.values():
        flows = ", ".join(spec.flows)
        print(f"{file}: {spec.name}: no faults; {len(spec.opcodes)} opcodes, flows {flows}")
        for remark in remarks(spec):
            print(f"{file}: {spec.name}: warning: {remark}")
    return int(not all(_proved(file, spec) for spec in loaded.values())) if prove else 0


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


def import_(file: Path, output: Path | None = None) -> None:
    specs, remarks = read_other(file)
    for remark in remarks:
        print(f"note: {file}: {remark}", file=sys.stderr)
    shared.write(isa.dumps(*specs), output)


def doc(file: Path, output: Path | None = None) -> None:
    path = _instructions(file)
    if path is None:
        there = ", ".join(library.targets())
        raise UsageError(
            f"{file} is no instruction set; there are {there}, and files that end in {library.INSTRUCTIONS}"
        )
    shared.write(page(read(path), path.read_text(encoding="utf-8")), output)


def show(name: str, encoding: str | None = None, post: bool = False, output: Path | None = None) -> None:
    spec = isa.builtin(name, encoding=encoding or ENCODINGS[0], post=post)
    if encoding:
        check_encodings(name)
    shared.write(isa.dumps(spec), output)


def schema(what: str = "accelerator") -> None:
    print(json.dumps(isa.schema() if what == "accelerator" else report.schema(), indent=2))


def kernels() -> None:
    for name, kernel in NAMED.items():
        places = {
            operand: "".join(f"[{index}]" for index in dims.values()) for operand, dims in kernel.maps.items()
        }
        body = str(renamed(kernel.body, {operand: operand + at for operand, at in places.items()}))
        loops = ", ".join(f"{loop} {kind}" for loop, kind in kernel.iterators.items())
        print(f"{name}\n    {kernel.output}{places[kernel.output]} = {body}\n    {loops}")


def list_() -> None:
    print("accelerators (--accel NAME, or --accel VERSION --size S)")
    for name in [name for kernel in isa.KERNELS for name in isa.builtins(kernel)]:
        spec = isa.builtin(name)
        tile = "x".join(map(str, spec.tile.size)) + (" flexible" if spec.tile.flexible else "")
        flows = " ".join(spec.flows)
        what = f"{spec.macs:>3} multiply-adds  flows {flows:<12} {spec.link.description}"
        print(f"  {name:<7} tile {tile:<22} {what}")
    print("boards (--board NAME, or a profile.toml of your own)")
    for name in boards.names():
        board = boards.load(name)
        clocks = f"CPU {board.cpu_hz / 1e6:g} MHz, fabric {board.fabric_hz / 1e6:g} MHz"
        print(f"  {name:<13}  {clocks}  {board.description}")
        print(f"  {'':<13}  error band: {board.fidelity or 'not calibrated'}")


APPLETS = (
    Applet(
        "spec check",
        "every fault of a file, each with its place",
        check,
        (
            option(
                "file",
                type=Path,
                help="a specification, or an instruction set (NAME.isa, or a built-in one's name)",
            ),
            option(
                "--prove",
                action="store_true",
                help="prove its formal models too, as `axiloom prove spec` does; refused where there is none",
            ),
        ),
    ),
    Applet(
        "spec doc",
        "a page of documentation of an instruction set, in Markdown",
        doc,
        (
            option(
                "file",
                type=Path,
                metavar="FILE",
                help="NAME.isa, or the name of an accelerator's instruction set",
            ),
            shared.TO,
        ),
    ),
    Applet(
        "spec show",
        "print a built-in specification as a file",
        show,
        (
            option("name", help="such as v3_16; see `axiloom list`"),
            option("--encoding", choices=ENCODINGS),
            option("--post", action="store_true", help="with post-processing: bias, scale and clamp to int8"),
            shared.TO,
        ),
    ),
    Applet(
        "spec import",
        "a configuration file of AXI4MLIR, the paper's or an older one, as a specification",
        import_,
        (
            option("file", type=Path, metavar="FILE.json"),
            shared.TO,
        ),
    ),
    spec_from_rtl.APPLET,
    Applet(
        "spec schema",
        "print the JSON Schema of specifications or of reports",
        schema,
        (option("what", nargs="?", choices=("accelerator", "report")),),
    ),
    Applet("spec kernels", "the kernels that a specification can name", kernels),
    Applet("list", HELP["list"], list_),
)
