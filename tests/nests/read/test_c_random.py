"""Random functions in C: the program that is read computes what a compiler's code computes."""

from __future__ import annotations

import ctypes
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.nests.execute import execute

from axiloom.base.errors import CompileError
from axiloom.isa.numerics.formats import format_of
from axiloom.nests.poly.checks import faults
from axiloom.nests.program import Expression, Op, Program
from axiloom.nests.read.c import parse

TYPES = {"a": "int8_t", "b": "uint8_t", "c": "int16_t", "d": "uint32_t", "e": "int64_t"}
TYPES |= {"f": "float", "g": "float"}
SIZE = 24


class Writer:
    """One function. Loops are nested up to 3 deep; bounds, conditions and subscripts are affine."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.loops = 0

    def function(self, name: str) -> str:
        parameters = ", ".join(f"{kind} {array}[{SIZE}]" for array, kind in TYPES.items())
        return f"void {name}({parameters}, int16_t s) {{\n{self.block([], 2)}}}\n"

    def block(self, around: list[str], statements: int) -> str:
        lines = [self.statement(around) for _ in range(self.random.randint(1, statements))]
        return "".join(lines)

    def statement(self, around: list[str]) -> str:
        kind = self.random.random()
        if len(around) < 3 and (not around or kind < 0.4):
            return self.loop(around)
        if 0.4 <= kind < 0.55:
            otherwise = f"else {{\n{self.block(around, 1)}}}\n" if self.random.random() < 0.5 else ""
            return f"if ({self.condition(around)}) {{\n{self.block(around, 2)}}}\n{otherwise}"
        target = f"{self.random.choice(list(TYPES))}[{self.subscript(around)}]"
        return f"{target} {self.random.choice(['=', '=', '+=', '-=', '*='])} {self.value(around, 3)};\n"

    def loop(self, around: list[str]) -> str:
        self.loops += 1
        name = f"i{self.loops}"
        low, high = str(self.random.randint(0, 3)), str(self.random.randint(3, 6))
        if around and self.random.random() < 0.5:
            low = self.form(around, 0, 2)
        if around and self.random.random() < 0.5:
            high = self.form(around, 3, 5)
        step = self.random.choice([1, 1, 1, 2, 3])
        body = self.block([*around, name], 2)
        if self.random.random() < 0.3:
            return f"for (int {name} = {high}; {name} >= {low}; {name} -= {step}) {{\n{body}}}\n"
        return f"for (int {name} = {low}; {name} <= {high}; {name} += {step}) {{\n{body}}}\n"

    def form(self, around: list[str], low: int, high: int) -> str:
        name, constant = self.random.choice(around), self.random.randint(low, high)
        return self.random.choice(
            [f"{name} + {constant}", f"{constant} + {name}", f"{name} - {constant} + 3"]
        )

    def subscript(self, around: list[str]) -> str:
        if not around:
            return str(self.random.randint(0, SIZE - 1))
        terms = [f"{self.random.choice([1, 1, 2])} * {each}" for each in around if self.random.random() < 0.6]
        return " + ".join([*terms, str(self.random.randint(0, 6))])

    def condition(self, around: list[str]) -> str:
        if not around:
            return "1"
        sign = self.random.choice(["<", "<=", ">", ">=", "==", "!="])
        one = f"{self.form(around, 0, 4)} {sign} {self.form(around, 0, 4)}"
        kind = self.random.random()
        if kind < 0.2:
            return f"!({one})"
        if kind < 0.5:
            return f"({one}) {self.random.choice(['&&', '||'])} ({self.condition(around)})"
        return one

    def value(self, around: list[str], depth: int) -> str:
        kind = self.random.random()
        if depth == 0 or kind < 0.3:
            leaves = ["s", str(self.random.randint(0, 300)), f"{self.random.randint(1, 9)}.5f", "7u"]
            leaves += [*around, *[f"{name}[{self.subscript(around)}]" for name in TYPES] * 2]
            return self.random.choice(leaves)
        a, b = self.value(around, depth - 1), self.value(around, depth - 1)
        if kind < 0.4:
            chosen = self.condition(around) if self.random.random() < 0.2 else f"{a} < {b}"
            return f"(({chosen}) ? {a} : {b})"
        if kind < 0.5:
            return f"({self.random.choice(['int8_t', 'uint16_t', 'int', 'float'])})({self.safe(around)})"
        if kind < 0.6:
            return f"(({a} {self.random.choice(['<', '<=', '==', '!=', '>'])} {b}) + {self.safe(around)})"
        return f"({a} {self.random.choice('+-*')} {b})"

    def safe(self, around: list[str]) -> str:
        """Small enough for any type: a float that is too large for an integer has no meaning in C."""
        return self.random.choice(["s", *around, f"a[{self.subscript(around)}]"])


def readable(count: int, seed: int) -> tuple[dict[str, Program], str]:
    """Functions without faults, that store no float in an integer, and their source."""
    programs, text, at = {}, "#include <stdint.h>\n", 0
    while len(programs) < count:
        name = f"f{at}"
        source = Writer(seed + at).function(name)
        at += 1
        try:
            program = parse(f"#include <stdint.h>\n{source}", "r.c").program
        except CompileError:  # no instances at all, or too many cases of conditions
            continue
        if not faults(program) and not any(_from_float(each.value) for each in program.statements):
            programs[name] = program
            text += source
    return programs, text


def _from_float(value: Expression) -> bool:
    """Whether a float becomes an integer in it: where it does not fit, C leaves open what comes out."""
    if not isinstance(value, Op):
        return False
    here = value.name == "convert" and value.number != "float32" and value.operands[0].number == "float32"
    return here or any(_from_float(each) for each in value.operands)


@pytest.mark.parametrize("count", [8, pytest.param(80, marks=pytest.mark.slow)])
def test_as_a_compiler_does(count: int, tmp_path: Path) -> None:
    programs, text = readable(count, 1000 * count)
    source, library = tmp_path / "r.c", tmp_path / "r.so"
    source.write_text(text)
    flags = ["-O1", "-w", "-ffp-contract=off", "-fwrapv", "-fno-sanitize=all", "-shared", "-o", str(library)]
    subprocess.run([sys.executable, "-m", "ziglang", "cc", *flags, str(source)], check=True, timeout=300)
    compiled = ctypes.CDLL(str(library))
    rng = np.random.default_rng(count)
    for name, program in programs.items():
        given = {}
        for each in program.arrays:
            kind = format_of(each.number).numpy
            floats, integers = rng.uniform(-4, 4, each.shape), rng.integers(0, 99, each.shape)
            given[each.name] = np.array(floats if kind.kind == "f" else integers).astype(kind)
        with np.errstate(all="ignore"):
            found = execute(program, given)
        after = {each: np.array(value) for each, value in given.items()}
        arguments = [after[each].ctypes.data_as(ctypes.c_void_p) for each in TYPES]
        getattr(compiled, name)(*arguments, ctypes.c_int16(int(given["s"])))
        for each in TYPES:
            where = f"{each} of {Writer(1000 * count + int(name[1:])).function(name)}"
            np.testing.assert_array_equal(found[each], after[each], where)
