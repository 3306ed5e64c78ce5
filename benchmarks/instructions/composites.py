"""Nine composites on rows64: one program of the whole expression against one call an operator.

Tiles of 64 x 64 bfloat16. Both are programs of the same compiler, executed on the same RTL; both are
validated, and their results compared with each other bit for bit, and with the expression, evaluated in
another order of sums. Words are all bytes over the streams, commands too, by 8. Cycles are the RTL's, and on
the simulated SoC those from the driver's call to its return.

``AXILOOM_COMPOSITES=64x4,16x1``: lanes of the device by rows of a product at once.
``AXILOOM_COMPOSITES_SOC=0,1,4``: composites that also run on the SoC, by number, with the last one of these.
"""

from __future__ import annotations

import math
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from axiloom.device.known import derive, known
from axiloom.device.programs import execute
from axiloom.device.rtl import DeviceRtl, device
from axiloom.graph.evaluate import evaluate
from axiloom.graph.graph import Graph, Node, Type
from axiloom.graph.numbers import number
from axiloom.graph.ops import Builder
from axiloom.isa.instructions.library import target
from axiloom.selection.compile.graphs import compile_graph
from axiloom.selection.compile.target import Target
from axiloom.selection.program.program import Program
from axiloom.selection.validate import validate

if TYPE_CHECKING:
    from axiloom.cosim.soc import Soc

Values = dict[str, Any]
TILE = Type((64, 64), "bfloat16")
DEVICES, SOC = "64x4,16x1", "0,1,4"
WORD = 8
GOAL, SAVED_MEAN, SAVED_CHAIN = 1.48, 40.0, 33.0
"""ACT's: geometric mean of times, and words saved: in the mean, and by A.B.C."""


@dataclass(frozen=True)
class Term:
    """An expression; `+` and `@` are the two operators. `name` of an inner one is where its result goes."""

    name: str
    op: str = ""
    operands: tuple[Term, ...] = ()

    def __add__(self, other: Term) -> Term:
        return Term(f"({self.name}+{other.name})", "add", (self, other))

    def __matmul__(self, other: Term) -> Term:
        return Term(f"({self.name}.{other.name})", "dot_general", (self, other))

    def operators(self) -> Iterator[Term]:
        """Operands first."""
        for operand in self.operands:
            yield from operand.operators()
        if self.op:
            yield self


A, B, C, D = (Term(name) for name in "abcd")
COMPOSITES: Mapping[str, Term] = {
    "A+B+C": A + B + C,
    "A.B.C": A @ B @ C,
    "A.B+C": A @ B + C,
    "(A+B).C": (A + B) @ C,
    "A.B+A.C": A @ B + A @ C,
    "A+B+C+D": A + B + C + D,
    "A.B.C.D": A @ B @ C @ D,
    "A.B+C.D": A @ B + C @ D,
    "(A+B).(C+D)": (A + B) @ (C + D),
}
_PRODUCT = {"lhs_batch": (), "rhs_batch": (), "lhs_contracting": (1,), "rhs_contracting": (0,)}


def graph(term: Term, whole: bool) -> Graph:
    """Of the whole expression; or of its last operator, whose operands are parameters."""
    builder = Builder()
    leaves: dict[str, Node] = {}

    def node(term: Term, inside: bool) -> Node:
        if not term.op or not inside:
            name = plain(term.name)
            if name not in leaves:
                leaves[name] = builder.leaf("parameter", name, TILE)
            return leaves[name]
        attributes = {**_PRODUCT, "number": TILE.number} if term.op == "dot_general" else {}
        return builder.op(term.op, *(node(operand, whole) for operand in term.operands), **attributes)

    result = node(term, True)
    return Graph(plain(term.name), tuple(leaves.values()), (result,))


def plain(name: str) -> str:
    """A name for C."""
    return name.translate(str.maketrans({"+": "_plus_", ".": "_by_", "(": "", ")": ""}))


@dataclass
class Cost:
    """Of one or several programs."""

    commands: int = 0
    words: int = 0
    cycles: int = 0

    def add(self, program: Program, rtl: DeviceRtl, values: Values) -> Values:
        ran = execute(rtl, program, values)
        if ran.cycles != ran.foretold:
            sys.exit(f"{program.name}: {ran.cycles} cycles, not {ran.foretold}")
        self.commands += len(program.commands)
        self.words += (ran.bytes_in + ran.bytes_out) // WORD
        self.cycles += ran.cycles
        return dict(ran.results)


class Compiler:
    def __init__(self, rtl: DeviceRtl) -> None:
        meanings = known(rtl.isa)
        derive(meanings, [64])
        assert rtl.cycles is not None
        cycles, nothing = rtl.cycles, rtl.cycles([])
        self.meanings = meanings
        self.target = Target(rtl.isa, meanings, lambda name, fields: cycles([(name, fields)]) - nothing)

    def program(self, of: Graph) -> Program:
        """Validated: equal for all inputs, not only in real numbers. Raises ProgramFaultError."""
        compiled = compile_graph(of, self.target)
        verdict = validate(compiled.program, of, self.target.isa)
        if not verdict.exact:
            sys.exit(f"{of.name}: {verdict}")
        return compiled.program


def inputs(of: Graph, seed: int) -> Values:
    dice, kind = np.random.default_rng(seed), number(TILE.number)
    return {
        str(parameter.attributes["name"]): kind.encode(dice.standard_normal(TILE.shape))
        for parameter in of.parameters
    }


def calls(term: Term, compiler: Compiler) -> list[tuple[Program, str]]:
    """One program an operator, and the name of its result."""
    return [(compiler.program(graph(operator, False)), plain(operator.name)) for operator in term.operators()]


def measured(name: str, term: Term, rtl: DeviceRtl, compiler: Compiler) -> tuple[Cost, Cost]:
    whole = graph(term, True)
    values = inputs(whole, len(name))
    fused, single = Cost(), Cost()
    y = fused.add(compiler.program(whole), rtl, values)["y"]
    there = dict(values)
    for program, result in calls(term, compiler):
        operands = {array.name: there[array.name] for array in program.arrays if array.role == "in"}
        there[result] = single.add(program, rtl, operands)["y"]
    if not np.array_equal(y, there[plain(term.name)]):
        sys.exit(f"{name}: the program and the calls give other bits")
    (expected,) = evaluate(whole, values)
    decode = number(TILE.number).decode
    decoded, true = decode(y).astype(np.float64), decode(expected).astype(np.float64)
    # validate() has compared each element with what its roundings allow; here in the mean.
    if not np.linalg.norm(decoded - true) < 2**-7 * np.linalg.norm(true):
        sys.exit(f"{name}: not what the expression is")
    return fused, single


def on_soc(names: list[str], rtl: DeviceRtl, compiler: Compiler, folder: Path) -> None:
    """Each program in one go of the SoC; drivers wait by interrupt, as ``axiloom run``."""
    from axiloom.cosim.soc import Soc
    from axiloom.cosim.system import System

    system = System([rtl.spec], user_rtl=rtl.rtl(folder))
    soc = Soc(system)
    soc.build()
    for name in names:
        term = COMPOSITES[name]
        whole = graph(term, True)
        values = inputs(whole, len(name))
        y, whole_cycles = section(soc, compiler.program(whole), rtl, values, folder / "whole")
        there, several = dict(values), 0
        for place, (program, result) in enumerate(calls(term, compiler)):
            operands = {array.name: there[array.name] for array in program.arrays if array.role == "in"}
            there[result], cycles = section(soc, program, rtl, operands, folder / f"call{place}")
            several += cycles
        if not np.array_equal(y, there[plain(term.name)]):
            sys.exit(f"{name}: the program and the calls give other bits on the SoC")
        print(f"{name:<12} {whole_cycles:>8,} {several:>8,} {several / whole_cycles:5.2f}", flush=True)


def section(soc: Soc, program: Program, rtl: DeviceRtl, values: Values, folder: Path) -> tuple[Any, int]:
    """The result, and cycles of the fabric from the driver's call to its return."""
    from axiloom.run.program import ProgramRun
    from axiloom.selection.drive.execute import execute as by_text

    run = ProgramRun(program, rtl, soc.system, values, by_text(program, rtl.isa, values))
    (result,) = soc.run_many([run.job(run.build(folder))])
    if run.checked(result)["result"]["matches"] is not True:
        sys.exit(f"{program.name}: other results on the SoC")
    return run.results["y"], result.section_cycles


def table(rtl: DeviceRtl, compiler: Compiler) -> bool:
    """Whether ACT's figures are reached."""
    head = ("commands", "calls'", "words", "calls'", "saved", "cycles", "calls'", "ratio")
    print(f"{'':<12}" + "".join(f"{title:>9}" for title in head))
    ratios, saved = [], {}
    for name, term in COMPOSITES.items():
        fused, single = measured(name, term, rtl, compiler)
        ratios.append(single.cycles / fused.cycles)
        saved[name] = 100 * (1 - fused.words / single.words)
        cells: list[str] = [
            *(f"{fused.commands}", f"{single.commands}", f"{fused.words:,}", f"{single.words:,}"),
            *(f"{saved[name]:.1f} %", f"{fused.cycles:,}", f"{single.cycles:,}", f"{ratios[-1]:.2f}"),
        ]
        print(f"{name:<12}" + "".join(f"{cell:>9}" for cell in cells), flush=True)
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    less = sum(saved.values()) / len(saved)
    print(
        f"words saved: {less:.1f} % in the mean (ACT: {SAVED_MEAN:g} %); geometric mean of ratios: {mean:.3f}"
    )
    return mean >= GOAL and less >= SAVED_MEAN and saved["A.B.C"] >= SAVED_CHAIN


def main() -> None:
    sizes = [
        tuple(map(int, text.split("x"))) for text in os.environ.get("AXILOOM_COMPOSITES", DEVICES).split(",")
    ]
    chosen = [int(number) for number in os.environ.get("AXILOOM_COMPOSITES_SOC", SOC).split(",") if number]
    names = list(COMPOSITES)
    reached = False
    for place, (lanes, rows) in enumerate(sizes):
        rtl = device(target("rows64"), lanes, rows=rows)
        compiler = Compiler(rtl)
        print(
            f"{lanes} lanes, {rows} rows of a product at once, streams of {rtl.stream_width} bits", flush=True
        )
        reached |= table(rtl, compiler)
        if place == len(sizes) - 1 and chosen:
            print("on the SoC: cycles, the calls', ratio", flush=True)
            with tempfile.TemporaryDirectory(prefix="axiloom-") as folder:
                on_soc([names[number] for number in chosen], rtl, compiler, Path(folder))
    if not reached:
        sys.exit(f"no device reaches {GOAL} in the geometric mean")
