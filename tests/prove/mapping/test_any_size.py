"""Mappings for all sizes at once: what holds, what is refuted, and what has no such proof."""

from __future__ import annotations

from pathlib import Path

import pytest

from axiloom.base.errors import SpecError
from axiloom.isa.instructions import library
from axiloom.prove import any_size
from axiloom.prove.verdict import Answer, Verdict

EXAMPLE = Path(__file__).parents[3] / "examples/instructions"

POOL = '''
word = input(64)
data = input(32)
x = memory(64, 4, type=int8)

@instruction(word[0:2] == 1)
def put():
    for lane in lanes(4):
        x[word[2:8], lane] = int8(bits(data, 8 * lane, 8))

@instruction(word[0:2] == 2)
def pool():
    """The larger of each two rows, in place."""
    pairs = word[8:14]
    require(2 * pairs <= 64)
    for r in range(pairs):
        for lane in lanes(4):
            x[r, lane] = max(x[2 * r, lane], x[2 * r + 1, lane])
'''
POOLED = """
target("pool.isa")
P = size(4, least=1, most=31)
a = tensor(64, 4, type=int8)
c = tensor(32, 4, type=int8)

def kernel():
    for i in range(P):
        for j in range(4):
            c[i, j] = max(a[2 * i, j], a[2 * i + 1, j])

def program():
    for i in range(2 * P):
        command(word=1 | i << 2, data=cat(uint8(a[i, lane]) for lane in range(4)))
    command(word=2 | P << 8)

def result():
    for i in range(P):
        for j in range(4):
            c[i, j] = x[i, j]

def where():
    place(a[i, j], x[i, j], i=i)
    place(c[i, j], x[i, j], r=i)
"""


def verdicts(folder: Path, isa: str = POOL, mapping: str = POOLED) -> list[Verdict]:
    (folder / "pool.isa").write_text(isa, encoding="utf-8")
    (folder / "pool.mapping").write_text(mapping, encoding="utf-8")
    return list(any_size.prove(library.mapping(folder / "pool.mapping", any_size=True), 30))


def test_pooling_in_place(tmp_path: Path) -> None:
    found = verdicts(tmp_path)
    assert [one for one in found if not one.good] == []
    assert sum(one.answer is Answer.SEEN for one in found) == 4
    assert any_size.sizes_of(library.mapping(tmp_path / "pool.mapping", any_size=True)) == "P=1..31"


@pytest.mark.every(7)
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("x[2 * r + 1, lane])", "x[2 * r, lane])"),
        ("x[r, lane] = max", "x[2 * r, lane] = max"),
        ("x[r, lane] = max", "x[63 - r, lane] = max"),  # what a later turn needs is lost
        ("8 * lane, 8))\n\n@i", "24 - 8 * lane, 8))\n\n@i"),  # lanes stored the other way around
        ("max(x[2", "min(x[2"),
    ],
)
def test_wrong_instructions_are_refuted(tmp_path: Path, old: str, new: str) -> None:
    assert POOL.replace(old, new) != POOL
    assert any(one.answer is Answer.VIOLATED for one in verdicts(tmp_path, POOL.replace(old, new)))


@pytest.mark.every(7)
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("word=1 | i << 2", "word=1 | (i >> 1) << 2"),  # rows on top of each other
        ("i << 2, data", "P << 2, data"),
        ("range(2 * P)", "range(2 * P - 1)"),  # the last row is never stored
        ("2 | P << 8", "2 | (P >> 1) << 8"),  # half of them
        ("c[i, j] = x[i, j]", "c[i, j] = x[i + 1, j]"),
        ("place(c[i, j], x[i, j], r=i)", "place(c[i, j], x[i, j], r=i + 1)"),
        ("c[i, j] = x[i, j]", "c[i, j] = max(x[i, j], 0)"),  # the host makes something of it
        (
            "P):\n        for j in range(4):\n            c[i, j] = x",
            "P - 1):\n        for j in range(4):\n            c[i, j] = x",
        ),
    ],
)
def test_wrong_mappings_are_refuted(tmp_path: Path, old: str, new: str) -> None:
    assert POOLED.replace(old, new) != POOLED
    found = verdicts(tmp_path, mapping=POOLED.replace(old, new))
    assert any(one.answer is Answer.VIOLATED for one in found)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("    place(c[i, j], x[i, j], r=i)\n", "", "where() says place(c[...], MEMORY[...], ...)"),
        ("r=i)", "q=i)", "the turn of c names no loop of pool: there are r"),
        ("    command(word=2 | P << 8)\n", "", "no command starts a program"),
    ],
)
def test_what_has_no_such_proof(tmp_path: Path, old: str, new: str, why: str) -> None:
    assert POOLED.replace(old, new) != POOLED
    with pytest.raises(SpecError) as refused:
        verdicts(tmp_path, mapping=POOLED.replace(old, new))
    assert why in str(refused.value)
