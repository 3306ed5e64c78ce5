"""Indices in whole numbers: what holds is proved, and what a requirement less lets in is found."""

from __future__ import annotations

import pytest

z3 = pytest.importorskip("z3")

from axiloom.isa.formal import bounds  # noqa: E402
from axiloom.isa.instructions.library import target  # noqa: E402
from axiloom.isa.instructions.read import parse  # noqa: E402

TEXT = '''
word = input(128)
count = register(uint16)
x = memory(1000, type=int8)
y = memory(300, 3, type=uint8)

@instruction(word[0:2] == 1)
def a():
    """Rows of words."""
    base = word[2:18]
    width = word[18:34]
    rows = word[34:50]
    require(base + rows * width <= 1000)
    for r in range(rows):
        for c in range(width):
            if c > 0:
                x[base + r * width + c] = x[base + r * width + c - 1]

@instruction(word[0:2] == 2)
def b():
    """A register that changes, and a place that a memory says."""
    require(count < 300)
    y[count, word[4:6] % 3] = y[y[count, 0], 1]
    count = word[8:24]
    if count < 300:
        y[count, 0] = 1
'''


def answers(text: str) -> dict[str, str]:
    found = {}
    for claim in bounds.claims(parse(text, "t.isa", "t")):
        solver = z3.Solver()
        solver.set("timeout", 20000)
        solver.add(z3.Not(claim.formula))
        found[claim.name] = str(solver.check())
    return found


def test_what_holds_is_proved() -> None:
    found = answers(TEXT)
    assert found == {"t.a: x, line 17": "unsat", "t.b: y, line 23": "unsat", "t.b: y, line 26": "unsat"}


@pytest.mark.parametrize(
    ("right", "wrong", "where"),
    [
        ("<= 1000", "<= 1001", "t.a: x, line 17"),
        ("if c > 0", "if c >= 0", "t.a: x, line 17"),
        ("range(rows)", "range(rows + 1)", "t.a: x, line 17"),
        ("r * width + c]", "r * rows + c]", "t.a: x, line 17"),
        ("count < 300)", "count <= 300)", "t.b: y, line 23"),
        ("% 3]", "% 4]", "t.b: y, line 23"),
        ("y[y[count, 0], 1]", "y[y[count, 0] + 45, 1]", "t.b: y, line 23"),
    ],
)
def test_what_does_not_hold_is_found(right: str, wrong: str, where: str) -> None:
    assert right in TEXT
    assert answers(TEXT.replace(right, wrong))[where] == "sat"


def test_a_register_is_what_was_written_last() -> None:
    assert answers(TEXT)["t.b: y, line 26"] == "unsat"
    looped = TEXT.replace("    count = word[8:24]\n", "    for k in range(2):\n        count = word[8:24]\n")
    assert answers(looped)["t.b: y, line 27"] == "unsat"
    late = TEXT.replace("    if count < 300:\n        y", "    for k in range(2):\n        y")
    late = late.replace("y[count, 0] = 1", "y[count, 0] = 1\n        count = 2")
    assert answers(late)["t.b: y, line 26"] == "sat"


@pytest.mark.parametrize(
    "name",
    [
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("vta", "hlscnn", "qkv")),
        "qkv_double",
        "rows64",
    ],
)
def test_targets(name: str) -> None:
    found = bounds.claims(target(name))
    assert len(found) > 10
    for claim in found:
        solver = z3.Solver()
        solver.set("timeout", 60000)
        solver.add(z3.Not(claim.formula))
        assert solver.check() == z3.unsat, claim.name
