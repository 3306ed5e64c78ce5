"""``axiloom prove mapping`` refutes what is wrong: a fault in a mapping or in its target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pytest

pytest.importorskip("z3")

from axiloom.isa.instructions import library
from axiloom.isa.instructions.mappings import parse
from axiloom.isa.instructions.read import parse as parse_target
from axiloom.isa.instructions.tree import InstructionSet
from axiloom.prove.mapping import prove
from axiloom.prove.verdict import Answer, Verdict


@dataclass(frozen=True)
class Mutant:
    """`old` becomes `new`, in the mapping or in its target's text; what is said of it has `said` in it."""

    what: str
    mapping: str
    sizes: Mapping[str, int]
    old: str
    new: str
    said: str
    target: bool = False

    def verdicts(self) -> list[Verdict]:
        path = library.mappings()[self.mapping]
        text = path.read_text()
        if not self.target:
            text = replaced(text, self.old, self.new)
        return list(prove(parse(text, path.name, path.stem, self.instructions, self.sizes), 60))

    def instructions(self, name: str) -> InstructionSet:
        path = library.targets()[name]
        text = path.read_text()
        return parse_target(replaced(text, self.old, self.new) if self.target else text, path.name, name)


def replaced(text: str, old: str, new: str) -> str:
    assert old in text, old
    return text.replace(old, new, 1)


SMALL = {"T": 2, "V": 1}
MUTANTS = (
    Mutant("carry of an address", "flexasr_maxpool", {"T": 32, "V": 1},
           "+ ((t >> 4) * V + v) * 16\n", "+ v * 16\n", "y["),
    Mutant("the next step but one", "flexasr_maxpool", {"T": 4, "V": 1},
           "second = uint16(first + 1)", "second = uint16(first + 2)", "the kernel's is", target=True),
    Mutant("stride of vectors", "flexasr_maxpool", {"T": 2, "V": 2},
           "(step >> 4) * vectors + vector) * 16)", "(step >> 4) * vectors + vector) * 8)",
           "y[0, ", target=True),
    Mutant("lanes", "flexasr_maxpool", SMALL,
           "for lane in lanes(16):\n                    large[target, lane] = larger",
           "for lane in lanes(15):\n                    large[target, lane] = larger",
           "y[0, 15] is ", target=True),
    Mutant("mode", "flexasr_maxpool", SMALL, "data=1 | V << 48 | T",
           "data=1 | 2 << 8 | V << 48 | T", "y[0, 0] is "),
    Mutant("no mode", "flexasr_maxpool", SMALL, "data=1 | V << 48 | T", "data=1 | 3 << 8 | V << 48 | T",
           "reduce_config.illegal: the device stops"),
    Mutant("in-place order", "flexasr_meanpool", {"T": 8, "V": 1},
           "target = large_at(base, vectors, v, t)", "target = large_at(base, vectors, v, 2 * t + 2)",
           "y[", target=True),
    Mutant("bias", "flexasr_linear", {}, "pe + 0x600000 + 16 * (I + o)", "pe + 0x600000 + 16 * (I + o + 1)",
           "y[0, "),
    Mutant("shift", "flexasr_linear", {}, "shift = 14 - manager", "shift = 15 - manager", "y[0, ",
           target=True),
    Mutant("signs", "vta_matmul", {"M": 1, "N": 1, "K": 1},
           "inp[sram + y * width + x, lane] = int8(dram[at + lane])",
           "inp[sram + y * width + x, lane] = int8(dram[at + lane][0:7])", "c[0, 0] is ", target=True),
    Mutant("no store", "vta_matmul", {"M": 1, "N": 1, "K": 1},
           "    move(STORE, OUT, C_AT // 16, M * N)\n", "", "no command stored dram["),
    Mutant("no clear", "vta_matmul", {"M": 1, "N": 1, "K": 1},
           "command(word=GEMM | 1 << 7 | 1 << 21", "command(word=GEMM | 1 << 7", "acc@0 = "),
    Mutant("stride of weights", "vta_matmul", {"M": 1, "N": 2, "K": 1}, "K << 86 | K << 118)", "K << 86)",
           "c[0, 16] is "),
    Mutant("a pad too few", "vta_conv", {"H": 1, "W": 1}, "| (R // 2) << 112 |", "| 0 << 112 |", "y["),
    Mutant("min for max", "vta_maxpool", {"H": 1, "W": 1}, "MAX = 1", "MAX = 0", "y[0, 0, 0] is "),
    Mutant("no sign", "vta_maxpool", {"H": 1, "W": 1},
           "cat(dram[first], dram[first + 1], dram[first + 2], dram[first + 3])",
           "cat(dram[first], uint24(0))", "y[0, 0, 0] is ", target=True),
    Mutant("another row", "qkv_softmax", {"N": 1}, "word=5 | N << 4 |", "word=5 | N << 4 | 1 << 12 |",
           "y[0, 0]"),
    Mutant("weights", "hlscnn_conv", {"OC": 1, "R": 1, "S": 1}, "data=W_AT)", "data=W_AT + 16)", "soc@"),
)  # fmt: skip


QUICK = {"lanes", "no mode", "no store", "no clear", "min for max", "no sign", "weights"}
"""The others take 2 to 10 s each."""


@pytest.mark.every(9)
@pytest.mark.parametrize(
    "mutant",
    [
        pytest.param(one, id=one.what, marks=[] if one.what in QUICK else [pytest.mark.slow])
        for one in MUTANTS
    ],
)
def test_a_fault_is_found(mutant: Mutant) -> None:
    wrong = [one for one in mutant.verdicts() if one.answer is Answer.VIOLATED]
    assert wrong
    assert mutant.said in wrong[0].text
