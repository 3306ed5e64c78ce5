"""Whether an instruction does what a unit is described to do."""

from __future__ import annotations

import pytest

from axiloom.hw.command.meaning import meaning_of
from axiloom.isa.instructions.read import parse
from axiloom.isa.instructions.tree import Instruction

TEXT = """
word = input(32)
host = memory(4096, type=uint8, host=True)
x = memory(16, 4, type=uint8)

@instruction(word[0:2] == 1)
def move():
    row = word[2:10]
    out = word[10:18]
    for c in lanes(4):
        x[{place}, c] = x[row & 15, c]
"""


def instruction(place: str) -> Instruction:
    return parse(TEXT.format(place=place), "one.isa", "one").instructions["move"]


@pytest.mark.parametrize("place", ["uint4(out)", "out[0:4]", "out & 15", "bits(out, 0, 4)"])
def test_low_bits_are_said_in_several_ways(place: str) -> None:
    found = meaning_of(instruction(place), [instruction("uint4(out)")])
    assert found is not None
    assert [*found.in_fields] == ["out", "row"]


@pytest.mark.parametrize("place", ["uint3(out)", "out[1:5]", "out & 7", "out & 14", "out % 16"])
def test_other_bits_are_another_instruction(place: str) -> None:
    assert meaning_of(instruction(place), [instruction("uint4(out)")]) is None
