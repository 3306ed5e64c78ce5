"""Anybody's Verilog or VHDL as a prover takes it: elaborated once, and refused in our words.

A proof has one clock, of which each cycle is a step. What would not be that, or would be something else in
hardware, is refused with its place: registers on another clock or edge, latches, loops of gates, modules that
are not there, more than one driver. Asynchronous resets and sets act in the cycle in which they are high.
The user's own `assert`, `assume` and `cover` are named and left out: an assumption in the design would take
runs away without a word.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from axiloom.base import processes
from axiloom.base.errors import BuildError
from axiloom.boards.synthesis import yosys
from axiloom.hw.rtl_files.ports import Port, not_there
from axiloom.hw.rtl_files.vhdl import as_verilog

_CLAIMS = ("$check", "$assert", "$assume", "$cover", "$live", "$fair")
_LATCHES = ("$dlatch", "$adlatch", "$dlatchsr", "$sr")
_CLOCKED = re.compile(r"\$(a|al|s)?dff(e|sr|sre)?$")
_MEMORIES = ("$memrd", "$memwr", "$memrd_v2", "$memwr_v2", "$mem", "$mem_v2")
_MODULE = "axiloom_design"
_CONSTANT = re.compile(r"^ *connect \\(\S+) \d+'([01]+)$", re.MULTILINE)
_TASK = re.compile(r"task name `\\?(assert|assume|cover|restrict)'")


@dataclass(frozen=True)
class VerilogOptions:
    """How a user's files are read: values of parameters, macros, and folders of headers."""

    parameters: Mapping[str, str] = field(default_factory=dict)
    defines: Mapping[str, str] = field(default_factory=dict)
    includes: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Register:
    """What is clocked: the net of its clock by its names, and where it stands."""

    clock: tuple[str, ...]
    rising: bool
    place: str


@dataclass(frozen=True)
class Design:
    """A module that was elaborated: `rtlil` is its text in Yosys' language, flat, of the name `name`."""

    name: str
    ports: tuple[Port, ...]
    rtlil: str
    registers: tuple[Register, ...]
    left_out: tuple[str, ...]
    """The user's own claims: ``file:line: assume``."""
    parameters: Mapping[str, str]
    """Those that were given."""
    memories: tuple[tuple[str, int, str], ...] = ()
    """Name, bits and place of each."""

    @property
    def constants(self) -> dict[str, int]:
        """Of nets that are always the same."""
        return {name: int(bits, 2) for name, bits in _CONSTANT.findall(self.rtlil)}


def verilog(files: Sequence[Path], top: str, options: VerilogOptions) -> tuple[Path, ...]:
    """`files`, or the Verilog that GHDL makes of them. Raises BuildError."""
    sources = as_verilog(files, top, options.parameters)
    if sources != tuple(files) and options.defines:
        raise BuildError(f"user RTL {files[0]}: VHDL has no macros: -D {next(iter(options.defines))}")
    return sources


def read(
    files: Sequence[Path], top: str, options: VerilogOptions | None = None, *, shown: Sequence[str] = ()
) -> Design:
    """Module `top` of `files`. Raises BuildError with file and line for what a proof cannot take.

    `shown` are names for the files in messages, if not their own.
    """
    options = options or VerilogOptions()
    if not re.fullmatch(r"[A-Za-z_][\w$]*", top):
        raise BuildError(f"user RTL: --top {top}: no name of a module")
    names: dict[str, Path] = {}
    for file in files:
        if not file.is_file():
            raise BuildError(f"user RTL {file}: no such file")
        if (other := names.setdefault(file.name, file)) != file:
            raise BuildError(f"user RTL {other} and {file}: two files of one name; rename one of them")
    sources = verilog(files, top, options)
    # Of VHDL the lines are those of GHDL's Verilog.
    same = sources == tuple(files)
    shown = shown or [str(f) for f in files] if same else [f"{f.name} (by GHDL)" for f in sources]
    with processes.scratch("axiloom-design-") as folder:
        reading = _Reading(Path(folder), sources, shown, top, options)
        reading.run()
        reading.check_modules()
        return reading.design()


def check_clocks(design: Design, clocks: Sequence[str]) -> None:
    """Raises BuildError unless each register runs on the rising edge of one of these ports."""
    inputs = {port.name for port in design.ports if port.is_input}
    for register in design.registers:
        if set(register.clock) & {*clocks}:
            if not register.rising:
                raise BuildError(
                    f"{register.place}: a register on the falling edge of {register.clock[0]}: a proof has "
                    "one edge, the rising one"
                )
            continue
        ports = [name for name in register.clock if name in inputs]
        named = ports[0] if ports else next(iter(register.clock), "a constant")
        known = ", ".join(clocks)
        if ports:
            tied = " ".join(f"--clock {name}" for name in (*clocks, ports[0]))
            raise BuildError(
                f"{register.place}: a register on {named}, a second clock beside {known}: a proof has one "
                f"clock; if one clock drives both ports, say so: {tied}"
            )
        raise BuildError(
            f"{register.place}: a register on {named}, a clock that is made inside (gated or divided), not "
            f"on {known}: a proof has one clock; give it {known} and a clock enable"
        )


class _Reading:
    """Files by numbers in a folder of its own: no character of a path gets into a script."""

    def __init__(
        self, folder: Path, sources: Sequence[Path], shown: Sequence[str], top: str, options: VerilogOptions
    ) -> None:
        self.folder, self.shown, self.top, self.given = folder, shown, top, options
        self.sources = [file.resolve() for file in sources]
        self.folders = list(
            dict.fromkeys(
                [*(include.resolve() for include in options.includes), *(f.parent for f in self.sources)]
            )
        )
        for i, path in enumerate(self.folders):
            if not path.is_dir():
                raise BuildError(f"-I {options.includes[i]}: no such folder")
            (folder / f"i{i}").symlink_to(path)

    @staticmethod
    def _suffix(file: Path) -> str:
        return ".sv" if file.suffix.lower() in (".sv", ".svh") else ".v"

    def run(self) -> None:
        try:
            self._read(claims=False)
        except BuildError as error:
            if not _TASK.search(str(error)):
                raise
            self._read(claims=True)

    def _read(self, *, claims: bool) -> None:
        """With `claims` `assert` and `assume` are words of Verilog too, as Yosys' own dialect has it."""
        macros = "".join(
            f" -D{name}={value}" if value else f" -D{name}" for name, value in self.given.defines.items()
        )
        folders = "".join(f" -Ii{i}" for i in range(len(self.folders)))
        lines = []
        for i, file in enumerate(self.sources):
            text, name, modes = file.read_bytes(), f"f{i}{self._suffix(file)}", ""
            if claims and name.endswith(".v"):  # as always, SYNTHESIS is defined and FORMAL is not
                text, modes = b"`undef FORMAL " + text, " -formal -DSYNTHESIS=1"
            (self.folder / name).write_bytes(text)
            modes += " -sv" if name.endswith(".sv") else ""
            lines.append(f"read_verilog -defer{modes}{macros}{folders} {name}")
        chosen = "".join(f" -chparam {name} {value}" for name, value in self.given.parameters.items())
        self._yosys([
            *lines,
            f"hierarchy -top {self.top}{chosen}",
            "proc -noopt",
            "write_json hierarchy.json",
            f"rename -top {_MODULE}",
            "opt_expr -keepdc",
            "opt_clean",
            "flatten",
            "opt_clean",
            "tee -q -o check.txt check",
            "write_json flat.json",
            "chformal -remove",
            "delete t:$print t:$scopeinfo",
            "opt_clean",
            f"rename {_MODULE} {self.top}",
            "write_rtlil design.il",
        ])  # fmt: skip

    def _yosys(self, lines: Sequence[str]) -> None:
        try:
            yosys.run("\n".join(lines) + "\n", self.folder, f"read {self.top}")
        except BuildError as error:
            text = str(error)
            if f"Module `{self.top}' not found" in text or "not found!" in text:
                raise BuildError(f"user RTL module {self.top}: {not_there(self.sources, self.top)}") from None
            if missing := re.search(r"find object for defparam `(\w+)`", text):
                raise BuildError(f"user RTL module {self.top}: no parameter {missing[1]}") from None
            said = text.partition(f"read {self.top}: ")[2]
            said = re.sub(r"^ERROR: |(?<=:) ?ERROR: ?", " ", said, count=1).strip()
            raise BuildError(f"user RTL module {self.top}: {self._places(said)}") from None

    def check_modules(self) -> None:
        modules = json.loads((self.folder / "hierarchy.json").read_text(encoding="utf-8"))["modules"]
        for module in modules.values():
            if "blackbox" in module["attributes"]:
                continue
            for name, cell in module["cells"].items():
                kind = cell["type"]
                if kind.startswith("$") and kind != "$tribuf" and not kind.startswith("$paramod"):
                    continue
                definition = modules.get(kind)
                if definition is None or "blackbox" in definition["attributes"]:
                    what = "has no body" if definition else "is in none of the files"
                    raise BuildError(
                        f"{self._place(cell)}: {name} is a {kind}, which {what}: give its Verilog "
                        "with --rtl, or take it out and let its outputs be inputs"
                    )

    def design(self) -> Design:
        (flat,) = (
            module
            for module in json.loads((self.folder / "flat.json").read_text(encoding="utf-8"))[
                "modules"
            ].values()
            if "blackbox" not in module["attributes"]
        )
        names: dict[object, list[str]] = {}
        for name, net in flat["netnames"].items():
            for i, bit in enumerate(net["bits"]):
                names.setdefault(bit, []).append(name if len(net["bits"]) == 1 else f"{name}[{i}]")
        ports = tuple(self._ports(flat["ports"]))
        inputs = {port.name for port in ports if port.is_input}
        registers: list[Register] = []
        left_out: list[str] = []
        for cell in flat["cells"].values():
            kind = cell["type"]
            if kind in _CLAIMS:
                what = cell.get("parameters", {}).get("FLAVOR", kind.removeprefix("$"))
                left_out.append(f"{self._place(cell)}: {what}")
            elif kind in _LATCHES:
                driven = self._named(names, cell["connections"]["Q"], inputs)
                raise BuildError(
                    f"{self._place(cell)}: {driven} is a latch: it keeps its value where no branch gives "
                    "it one: give it a value in every branch, or make it a register"
                )
            elif kind == "$tribuf":
                raise BuildError(f"{self._place(cell)}: a tri-state driver: a proof has 0 and 1 only")
            elif kind in _MEMORIES or _CLOCKED.match(kind):
                registers += self._clocked(cell, names, inputs)
        self._check_nets()
        registers.sort(key=lambda register: [int(word) for word in re.findall(r"\d+$", register.place)])
        rtlil = (self.folder / "design.il").read_text(encoding="utf-8")
        return Design(
            self.top,
            ports,
            rtlil,
            tuple(registers),
            tuple(sorted(left_out)),
            self.given.parameters,
            tuple(
                (name, memory["width"] * memory["size"], self._place(memory))
                for name, memory in flat.get("memories", {}).items()
            ),
        )

    def _ports(self, ports: Mapping[str, Any]) -> Iterator[Port]:
        for name, port in ports.items():
            if port["direction"] == "inout":
                raise BuildError(
                    f"user RTL module {self.top}: {name} is inout: a proof has inputs and outputs"
                )
            yield Port(name, port["direction"] == "input", len(port["bits"]))

    def _clocked(
        self, cell: Mapping[str, Any], names: Mapping[object, Sequence[str]], inputs: set[str]
    ) -> Iterator[Register]:
        parameters = cell["parameters"]
        for port, bits in cell["connections"].items():
            prefix = port.removesuffix("CLK")
            if not port.endswith("CLK"):
                continue
            enables = str(parameters.get(f"{prefix}CLK_ENABLE", "1"))[::-1]
            edges = str(parameters.get(f"{prefix}CLK_POLARITY", "1"))[::-1]
            for i, bit in enumerate(bits):
                if enables[i : i + 1] == "0":  # a port that reads without a clock
                    continue
                clock = sorted(names.get(bit, ()), key=lambda name: (name not in inputs, len(name)))
                yield Register(tuple(clock), edges[i : i + 1] != "0", self._place(cell))

    @staticmethod
    def _named(names: Mapping[object, Sequence[str]], bits: Sequence[object], inputs: set[str]) -> str:
        nets = [min(names[bit], key=len) for bit in bits if names.get(bit)]
        return nets[0] if nets else "a net"

    def _check_nets(self) -> None:
        """What Yosys' `check` finds: loops of gates, several drivers."""
        text = (self.folder / "check.txt").read_text(encoding="utf-8")
        for report in re.split(r"^Warning: ", text, flags=re.MULTILINE)[1:]:
            first = report.partition("\n")[0]
            if first.startswith("found logic loop"):
                place = self._places(next(iter(re.findall(r"source: (\S+)", report)), ""))
                wires = re.findall(r"wire (\S+)", report)
                names = ", ".join(dict.fromkeys(wire.lstrip("\\").partition(" ")[0] for wire in wires))
                raise BuildError(
                    f"{place}: a loop of gates{' through ' + names if names else ''}: its value hangs on "
                    "itself in the same cycle; put a register into it"
                )
            if first.startswith("multiple conflicting drivers"):
                net = first.partition(" for ")[2].rstrip(":").replace(f"{_MODULE}.", "").lstrip("\\")
                raise BuildError(f"user RTL module {self.top}: {net} has more than one driver")

    def _place(self, cell: Mapping[str, Any]) -> str:
        return self._places(str(cell.get("attributes", {}).get("src", self.top)).partition("|")[0])

    def _places(self, text: str) -> str:
        """Places as the user knows them: ``f0.v:12.3-12.9`` is a line of the first file."""

        def file(match: re.Match[str]) -> str:
            number, line = int(match[2]), match[3]
            if match[1] == "f":
                return f"{self.shown[number]}:{line}"
            return f"{self.folders[number]}/{match[4]}:{match[5]}"

        text = re.sub(r"\b(f)(\d+)\.s?v:(\d+)(?:\.[\d.-]+)?", file, text)
        return re.sub(
            r"\bi(\d+)/([^\s:]+):(\d+)(?:\.[\d.-]+)?",
            lambda match: f"{self.folders[int(match[1])]}/{match[2]}:{match[3]}",
            text,
        )
