"""Procedures: what a call becomes, and what is refused."""

from __future__ import annotations

import pytest

from axiloom.base.errors import SpecError
from axiloom.isa.instructions.read import parse
from axiloom.isa.instructions.simulator.simulate import Simulator

TEXT = """
word = input(8)
x = memory(4, 8, type=uint8)
total = register(uint16)

@procedure
def fill(row: uint2, first: uint8):
    for lane in lanes(8):
        x[row, lane] = uint8(first + lane)

@procedure
def count(row: uint2):
    sums = sum(x[row, k] for k in range(8))
    total = uint16(total + sums)

@procedure
def both(row: uint2):
    first = 10 * row
    fill(row, first)
    count(row)

@instruction(word == 1)
def twice():
    first = 3
    both(1)
    both(2)
    for row in range(1, 4):
        if row == 3:
            fill(uint2(row), uint8(first + row))
            count(uint2(row))

@instruction(word == 2)
def other():
    sums = 7
    count(2)
    total = uint16(total + sums)
"""


def test_calls_are_what_the_procedures_do() -> None:
    device = Simulator(parse(TEXT, "text.isa", "text"))
    device.command(word=1)
    rows = [[0] * 8, [*range(10, 18)], [*range(20, 28)], [*range(6, 14)]]
    assert device.state["x"].tolist() == rows
    assert device.state["total"] == sum(map(sum, rows))
    device.command(word=2)
    assert device.state["total"] == sum(map(sum, rows)) + sum(rows[2]) + 7


def test_a_constant_argument_is_one_inside() -> None:
    """So its index is checked when the text is read."""
    text = TEXT.replace("def fill(row: uint2", "def fill(row: uint8").replace(
        "x[row, lane]", "x[min(row, 9), lane]"
    )
    with pytest.raises(SpecError, match="`min\\(fill_row_2, 9\\)` is 9: x has 0 to 3 there"):
        parse(text.replace("both(2)", "fill(9, 0)"), "text.isa", "text")


@pytest.mark.parametrize(
    ("right", "wrong", "why"),
    [
        ("both(2)", "both(2, 3)", "text.isa:26: both takes 1 arguments, not 2"),
        ("both(2)", "both(4)", "text.isa:26: `4` is 4, which both's row does not hold"),
        ("    both(2)", "    y = both(2)", "`both\\(2\\)`: no function of that name"),
        ("    count(row)\n\n", "    both(row)\n\n", "`both\\(row\\)`: an instruction has"),
        ("def count(row: uint2):", "def count(row):", "count: a procedure has typed parameters"),
        ("def count(row: uint2):", "def count(row: uint2) -> int8:", "count: a procedure has .* no result"),
        (
            "uint16(total + sums)\n\n@procedure",
            "total + sums\n\n@procedure",
            "which register total does not hold",
        ),
        ("def count(row: uint2):", "def count(total: uint2):", "two things are called total"),
        ("def both(row", "def fill(row", "two things are called fill"),
    ],
)
def test_refused(right: str, wrong: str, why: str) -> None:
    assert right in TEXT
    with pytest.raises(SpecError, match=why):
        parse(TEXT.replace(right, wrong), "text.isa", "text")


def test_procedures_that_double() -> None:
    more = "".join(f"@procedure\ndef d{n + 1}(a: uint2):\n    d{n}(a)\n    d{n}(a)\n\n" for n in range(40))
    text = TEXT + "@procedure\ndef d0(a: uint2):\n    count(a)\n\n" + more
    with pytest.raises(SpecError, match="calls of procedures make more than 2048 statements"):
        parse(text, "text.isa", "text")


def test_constants_given() -> None:
    text = "N = 4\n" + TEXT.replace("memory(4", "memory(N")
    assert parse(text, "text.isa", "text", {"N": 8}).memories["x"].shape == (8, 8)
    with pytest.raises(SpecError, match="no constant `M` to give a value to"):
        parse(text, "text.isa", "text", {"M": 8})
