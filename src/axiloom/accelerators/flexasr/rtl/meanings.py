"""What an instruction of a text does, in the hardware's words: it is compared with what units do.

Functions on numbers are opaque in the description: those of the text become logic, whatever they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from axiloom.base.errors import SpecError
from axiloom.hw.command.meaning import Meaning, meanings
from axiloom.isa.instructions.read import parse
from axiloom.isa.instructions.tree import Function, InstructionSet

LANES, SUM, STATE = 16, 32, 20
"""Elements of a vector; bits of a sum of products, and of an activation register."""
LIMIT = (1 << STATE - 1) - 1
LOAD, KEEP, TAKE, OUT, COPY, ADD, MULTIPLY, SIGMOID, TANH, RELU, REST = 1, 2, 3, 4, 7, 8, 9, 10, 11, 12, 13
"""Operations of an activation program."""

_UNITS = f"""
word = input(64)
host = memory(1 << 31, type=uint8, host=True)
x = memory(1 << 10, 16, type=uint8)
w = memory(1 << 12, 16, type=uint8)
mac = memory(64, 16, type=int20)
unit = memory(4, 16, type=int20)
acc = memory(16, type=int32)

@opaque
def value(x: uint8) -> int13:
    return 0

@opaque
def fixed(x: uint8, bias: uint3) -> int20:
    return 0

@opaque
def packed(x: int20, unit_log: uint4) -> uint8:
    return 0

@opaque
def larger(a: uint8, b: uint8) -> uint8:
    return 0

@opaque
def sigmoid(x: int20) -> int20:
    return 0

@opaque
def tanh(x: int20) -> int20:
    return 0

@instruction(word[0:4] == 1)
def load():
    n = word[4:17]
    out = word[17:29]
    base = word[32:64]
    for r in range(n):
        for c in lanes(16):
            x[out + r, c] = host[base + 16 * r + c]

@instruction(word[0:4] == 3)
def store():
    n = word[4:15]
    row = word[16:26]
    base = word[32:64]
    for r in range(n):
        for c in lanes(16):
            host[base + 16 * r + c] = x[row + r, c]

@instruction(word[0:4] == 4)
def pool():
    n = word[4:14]
    row = word[16:26]
    out = word[32:42]
    for r in range(n):
        for c in lanes(16):
            x[out + r, c] = larger(x[row + 2 * r, c], x[row + 2 * r + 1, c])

@instruction(word[0:4] == 5)
def product():
    n = word[4:12]
    row = word[12:22]
    weights = word[22:34]
    added = word[34:44]
    out = word[44:50]
    weight_bias = word[50:53]
    input_bias = word[53:56]
    added_bias = word[56:59]
    for k in lanes(16):
        acc[k] = 0
    for i in range(n):
        for k in lanes(16):
            acc[k] = int32(acc[k] + sum(
                value(w[weights + 16 * i + k, c]) * value(x[row + i, c]) for c in range(16)))
    for k in lanes(16):
        mac[out, k] = clamp(
            (acc[k] >> 14 - weight_bias - input_bias) + fixed(x[added, k], added_bias), {-LIMIT}, {LIMIT})

@instruction(word[0:4] == 6)
def activate():
    operation = word[4:8]
    a = word[8:10]
    b = word[10:12]
    row = word[16:26]
    sums = word[26:32]
    bias = word[32:35]
    for c in lanes(16):
        left = unit[a, c]
        right = unit[b, c]
        unit[b, c] = (
            fixed(x[row, c], bias) if operation == {LOAD}
            else mac[sums, c] if operation == {TAKE}
            else left if operation == {COPY}
            else int20(left + right) if operation == {ADD}
            else int20(left * right >> 14) if operation == {MULTIPLY}
            else sigmoid(right) if operation == {SIGMOID}
            else tanh(right) if operation == {TANH}
            else max(right, 0) if operation == {RELU}
            else int20((1 << 14) - right) if operation == {REST}
            else right
        )
    if operation == {KEEP} or operation == {OUT}:
        for c in lanes(16):
            x[row, c] = packed(unit[b, c], bias + 4)
"""


@dataclass(frozen=True)
class Machine:
    """A text as hardware: its meanings, and its functions by the description's names."""

    isa: InstructionSet
    meanings: tuple[Meaning, ...]
    functions: Mapping[str, Function]

    def of(self, unit: str) -> list[Meaning]:
        return [meaning for meaning in self.meanings if meaning.unit == unit]


def machine(isa: InstructionSet) -> Machine:
    """Raises SpecError with each instruction that no unit can be."""
    units = parse(_UNITS, "units", "units").instructions
    built: list[Meaning] = []
    functions: dict[str, Function] = {}
    faults: list[str] = []
    for where, meaning in meanings(isa, units, faults):
        unit = meaning.unit
        if unit != "load" and any(other.unit == unit for other in built):
            faults.append(f"{where}: a second {unit}; one is built")
        for name, function in meaning.functions.items():
            if functions.setdefault(name, function) != function:
                faults.append(f"{where}: its {name} is {function.name}, another one's {functions[name].name}")
        built.append(meaning)
    missing = set(units) - {meaning.unit for meaning in built}
    if missing and not faults:
        faults.append(f"{isa.place}: no instruction does what the units {', '.join(sorted(missing))} do")
    if not faults:
        faults = _clashes(isa, built)
    if faults:
        raise SpecError(faults)
    return Machine(isa, tuple(built), functions)


def _clashes(isa: InstructionSet, meanings: list[Meaning]) -> list[str]:
    """Memories that stand for two things, or have other elements."""
    bits = {"x": 8, "w": 8, "mac": STATE, "unit": STATE, "acc": SUM}
    faults = []
    for meaning in meanings:
        there = {memory.name for memory in meaning.memories.values()}
        if len(there) != len(meaning.memories):
            faults.append(f"{isa.place}: {meaning.instruction} has one memory for two things")
        for role, memory in meaning.memories.items():
            if memory.shape[-1] != LANES or memory.type.bits != bits[role]:
                faults.append(
                    f"{isa.place}: {memory.name} has no vectors of {LANES} elements of {bits[role]} bits"
                )
    return faults
