"""Instruction sets with meaning as formal models: what is proved of them, and what is found where it is not
so."""

from __future__ import annotations

import pytest

from axiloom.isa.formal import bounds, sound
from axiloom.isa.formal.programs import ILLEGAL, UNKNOWN, model_of
from axiloom.isa.formal.simulate import Simulator
from axiloom.isa.instructions.read import parse
from axiloom.prove import solvers

TEXT = '''
"""Rows of four."""
word = input(32)
x = memory(8, 4, type=int8)
y = memory(8, 4, type=int16)
total = register(int20)

@instruction(word[0:2] == 0)
def put():
    """One element."""
    x[word[2:5], word[5:7]] = int8(word[8:16])

@instruction(word[0:2] == 1)
def square():
    """y = x * x, row by row, and the sum of it all."""
    first = word[2:5]
    rows = word[8:12]
    require(first + rows <= 8)
    total = 0
    for r in range(rows):
        row = first + r
        for lane in lanes(4):
            y[row, lane] = x[row, lane] * x[row, lane]
        for k in range(4):
            total = int20(total + y[row, k])
'''


def claims(text: str) -> list[sound.Claim]:
    source = parse(text, "rows.isa", "rows")
    return [*sound.claims(model_of(source).ila), *bounds.claims(source)]


def broken(text: str) -> list[str]:
    """The names of the claims that do not hold."""
    made = claims(text)
    said = solvers.decide([one.formula for one in made], 20)
    return [one.name for one, each in zip(made, said, strict=True) if each.holds is not True]


def test_all_claims_hold() -> None:
    assert len(claims(TEXT)) > 40
    assert broken(TEXT) == []


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("first + rows <= 8", "first + rows <= 9", "rows.square: "),  # an index outside
        ("y[row, k]", "y[row + 1, k]", "rows.square: y, line "),
        ("word[0:2] == 1", "word[0:2] <= 1", "rows: put, square"),  # two at once
    ],
)
def test_a_fault_in_the_text_is_found(old: str, new: str, found: str) -> None:
    assert any(one.startswith(found) for one in broken(TEXT.replace(old, new)))


def test_what_the_terms_do() -> None:
    device = Simulator(model_of(parse(TEXT, "rows.isa", "rows")).ila)
    values = [[3, -4, 5, -6], [7, 8, -128, 1]]
    for row, elements in enumerate(values, start=2):
        for lane, value in enumerate(elements):
            device.command(word=row << 2 | lane << 5 | (value & 255) << 8)
    device.command(word=1 | 2 << 2 | 2 << 8)
    squares = [value * value for elements in values for value in elements]
    assert [device.state["y"][2 * 4 + at] for at in range(8)] == squares
    assert device.state["total"] == sum(squares)
    assert device.state["step"] == device.state["error"] == 0


@pytest.mark.parametrize(("word", "error"), [(1 | 7 << 2 | 2 << 8, ILLEGAL), (2, UNKNOWN)])
def test_what_is_illegal_stops_it(word: int, error: int) -> None:
    device = Simulator(model_of(parse(TEXT, "rows.isa", "rows")).ila)
    device.command(word=word)
    assert device.state["error"] == error
    before = dict(device.state)
    assert device.command(word=0) == []
    assert device.state == before


def test_loops_may_share_a_name() -> None:
    twice = TEXT.replace(
        "    total = 0\n",
        "    for r in range(rows):\n        y[r, 0] = 1\n    total = 0\n",
    )
    assert broken(twice) == []
