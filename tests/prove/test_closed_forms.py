"""What instructions compute as a whole: proved where turns do not meet, and not claimed where they may."""

from __future__ import annotations

import pytest

from axiloom.isa.instructions.read import parse
from axiloom.prove.closed_forms import ClosedForm, closed_forms

HEAD = """
word = input(64)
x = memory(64, 4, type=int8)
y = memory(64, 4, type=int32)
n = register(uint8)

@instruction(word[0:2] == 1)
def go():
    rows = word[2:9]
    a = word[16:22]
    b = word[24:30]
    require(rows <= 64 and a + rows <= 64 and b + rows <= 64)
"""
SQUARE = """
    for r in range(rows):
        for lane in lanes(4):
            y[a + r, lane] = x[b + r, lane] * x[b + r, lane]
"""


def forms(body: str) -> list[ClosedForm]:
    return list(closed_forms(parse(HEAD + body, "go.isa", "go"), 20))


def test_a_product_by_rows() -> None:
    (one,) = forms(SQUARE)
    assert one.proved, one.why
    assert one.form is not None
    assert (one.form.sizes, one.form.addresses) == (("rows",), ("a", "b"))
    assert str(one.form) == (
        "y[a + r, lane] = x[b + r, lane] * x[b + r, lane] for r < rows, lane < 4 "
        "if rows <= 64 and a + rows <= 64 and (b + rows <= 64)"
    )


@pytest.mark.every(3)
@pytest.mark.parametrize(
    "body",
    [
        "    for r in range(rows):\n        for lane in lanes(4):\n"
        "            y[a + r, lane] = max(y[a + r, lane], 0)\n",  # in place
        "    y[a, b[0:2]] = 5\n",  # without a loop
        "    for r in range(rows):\n        for lane in lanes(4):\n"
        "            y[r, lane] = y[r, 3 - lane]\n",  # lanes read before they write
    ],
)
def test_forms_that_hold(body: str) -> None:
    assert [one.why for one in forms(body)] == [""]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        # The rows may overlap: a copy in order is not a copy at once.
        ("    for r in range(rows):\n        for lane in lanes(4):\n"
         "            y[a + r, lane] = y[b + r, lane]\n", "another turn may write"),
        # All turns write one element.
        ("    for r in range(rows):\n        y[a, 0] = x[b + r, 0]\n", "another turn may write"),
        # It adds up: no turn alone says what comes out.
        ("    for r in range(rows):\n        y[a, 0] = int32(y[a, 0] + x[b + r, 0])\n",
         "another turn may write"),
        ("    for r in range(rows):\n        n = uint8(r)\n", "a loop sets n"),
        (SQUARE + SQUARE, "loops one after the other"),
    ],
)  # fmt: skip
def test_forms_that_do_not(body: str, why: str) -> None:
    assert any(why in one.why and not one.proved for one in forms(body))
