"""Forms of 64 bits: what wraps there is beyond what numbers of a host hold."""

from __future__ import annotations

import numpy as np
import pytest

from axiloom.nests.affine.interpret import interpret
from axiloom.nests.read.c import parse

TEXT = """
void f(unsigned long long A[6])
{
    for (unsigned long long i = 1; i < 6; i++)
        if (CONDITION)
            A[i] = VALUE;
}
"""


@pytest.mark.parametrize(
    ("condition", "value", "right"),
    [
        ("~(i + i) >= i", "~i - i", lambda i: (~i - i) % 2**64),
        ("i - 3 < 2", "(i - 3) % 4u", lambda i: (i - 3) % 2**64 % 4),
        ("(i - 3) / 2 > 5", "i - 0x8000000000000000", lambda i: (i - 2**63) % 2**64),
        ("(i * 0x100000001) % 3 == 0", "i * 0xffffffffffffffff", lambda i: -i % 2**64),
    ],
)
def test_wraps_of_64_bits(condition: str, value: str, right: object) -> None:
    program = parse(TEXT.replace("CONDITION", condition).replace("VALUE", value), "f.c").program
    holds = {
        "~(i + i) >= i": lambda i: ~(i + i) % 2**64 >= i,
        "i - 3 < 2": lambda i: (i - 3) % 2**64 < 2,
        "(i - 3) / 2 > 5": lambda i: (i - 3) % 2**64 // 2 > 5,
        "(i * 0x100000001) % 3 == 0": lambda i: i * 0x100000001 % 2**64 % 3 == 0,
    }[condition]
    assert callable(right)
    for by in ("python", "c"):
        found = interpret(program, {"A": np.zeros(6, np.uint64)}, by=by)["A"]
        assert found.tolist() == [right(i) if i and holds(i) else 0 for i in range(6)]
