"""What the user assumes of a module's ports: a file of conditions, or a module in Verilog that looks on.

A file of conditions has an expression of Verilog a line, over the names of the module's ports; ``//`` begins
a comment. A module (the first of its file) has inputs that are named as ports of the design, its clock and
reset among them, and outputs of one bit. Each condition, and each output, is taken to hold in every cycle, in
reset too; of a file of ``--fair`` again and again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from axiloom.base import processes
from axiloom.base.errors import BuildError
from axiloom.base.files import read_text
from axiloom.hw.rtl_files.ports import Port
from axiloom.prove import design
from axiloom.prove.axi.ports import Module

_COMMENT = re.compile(r"//.*")
_BEGINS = re.compile(r"^\s*module\s+([A-Za-z_][\w$]*)", re.MULTILINE)
_NUMBER = re.compile(r"\d*'[sS]?[bodhBODH][0-9a-fA-FxXzZ_?]+")
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
CONDITIONS = {"--assume": "axiloom_assumed", "--fair": "axiloom_fair"}
"""The module that is made of a file of conditions; that of a further file has its number."""


@dataclass(frozen=True)
class Assumed:
    """A module that looks on: `inputs` by the names of the design's ports, outputs with what each says."""

    design: design.Design
    source: tuple[str, str]
    """Name and text of its Verilog, for a simulator."""
    inputs: tuple[str, ...]
    outputs: Mapping[str, str]


def read_all(files: Mapping[str, Sequence[Path]], module: Module) -> Iterator[tuple[Assumed, ...]]:
    """Those of each flag. Raises BuildError for what :func:`read` refuses, and for two of one name."""
    known: dict[str, Path] = {}
    for flag, named in files.items():
        looking = tuple(read(file, module, flag, number) for number, file in enumerate(named))
        for file, assumed in zip(named, looking, strict=True):
            name = assumed.design.name
            if name in known:
                raise BuildError(
                    f"{flag} {file}: module {name} is in {known[name]} too: give it another name"
                )
            known[name] = file
        yield looking


def read(file: Path, module: Module, flag: str, number: int) -> Assumed:
    """The file of this `number`. Raises BuildError if there is none, or a line or a name is nothing here."""
    if not file.is_file():
        raise BuildError(f"{flag} {file}: no such file")
    text = read_text(file, BuildError)
    named = _BEGINS.search(_COMMENT.sub("", text))
    if named is None:
        return _conditions(file, text, module, flag, f"{CONDITIONS[flag]}{number or ''}")
    if named[1] == module.name:
        raise BuildError(f"{flag} {file}: module {named[1]} has the name of what is proved: give it another")
    looks = design.read([file], named[1])
    outputs = {port.name: f"{file}: {port.name}" for port in looks.ports if not port.is_input}
    for port in looks.ports:
        if not port.is_input and port.width != 1:
            raise BuildError(
                f"{flag} {file}: output {port.name} has {port.width} bits: one holds or does not"
            )
    if not outputs:
        raise BuildError(f"{flag} {file}: module {named[1]} has no output of one bit, so it assumes nothing")
    return _checked(file, Assumed(looks, (file.name, text), _inputs(looks), outputs), module, flag)


def _inputs(looks: design.Design) -> tuple[str, ...]:
    return tuple(port.name for port in looks.ports if port.is_input)


def _checked(file: Path, assumed: Assumed, module: Module, flag: str) -> Assumed:
    by_name = {port.name: port for port in module.ports}
    for port in assumed.design.ports:
        if not port.is_input:
            continue
        if port.name not in by_name:
            there = ", ".join(map(str, module.ports))
            raise BuildError(f"{flag} {file}: {module.name} has no port {port.name}; its ports are {there}")
        if by_name[port.name].width != port.width:
            raise BuildError(f"{flag} {file}: {port} is {by_name[port.name]} of {module.name}")
    design.check_clocks(assumed.design, module.clocks)
    return assumed


def _conditions(file: Path, text: str, module: Module, flag: str, name: str) -> Assumed:
    # A condition stands on its own line in the Verilog too, so that Yosys names the line.
    by_name = {port.name: port for port in module.ports}
    lines, outputs, used = [], {}, dict[str, Port]()
    for number, line in enumerate(text.splitlines(), start=1):
        condition = _COMMENT.sub("", line).strip().rstrip(";").strip()
        if not condition:
            lines.append("")
            continue
        if re.search(r"[;`\"]|\bend|\$\w", condition):
            raise BuildError(f"{file}:{number}: {condition}: no expression of Verilog over ports")
        words = _NAME.findall(_NUMBER.sub("", condition))
        if unknown := [word for word in words if word not in by_name]:
            there = ", ".join(map(str, module.ports))
            raise BuildError(
                f"{file}:{number}: {module.name} has no port {unknown[0]}; its ports are {there}"
            )
        outputs[f"line{number}"] = f"{file}:{number}: {condition}"
        used |= {word: by_name[word] for word in words}
        lines.append(f"assign line{number} = |({condition});")
    if not outputs:
        raise BuildError(f"{flag} {file}: no condition in it: a line is an expression of Verilog")
    declared = [_declared(port) for port in used.values()] + [
        f"output line{number[4:]}" for number in outputs
    ]
    verilog = f"module {name} ({', '.join(declared)}); " + "\n".join(lines) + "\nendmodule\n"
    with processes.scratch("axiloom-assume-") as folder:
        place = Path(folder) / "conditions.v"
        place.write_text(verilog, encoding="utf-8")
        looks = design.read([place], name, shown=(str(file),))
    return _checked(file, Assumed(looks, (f"{name}.v", verilog), _inputs(looks), outputs), module, flag)


def _declared(port: Port) -> str:
    return f"input [{port.width - 1}:0] {port.name}" if port.width > 1 else f"input {port.name}"
