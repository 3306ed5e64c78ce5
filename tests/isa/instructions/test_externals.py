"""Floats that texts know by name: one number at a time gives the bits that arrays give."""

from __future__ import annotations

import numpy as np
import pytest

from axiloom.isa.instructions.externals import FUNCTIONS

CORNERS = [0, 1, 2, 0x7F, 0x80, 0x3F80, 0x3F81, 0x7F7F, 0x7F80, 0x7F81, 0x7FC0, 0x7FFF, 0x00FF, 0x4B00]
"""Of bfloat16: zero, numbers below the smallest normal one, one, the largest, infinity, no numbers."""
LOW = [0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF]
"""The rest of a float32: near and at the middle between two bfloat16."""
RANDOM = 1_500


def patterns(is_narrow: bool, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if is_narrow:
        corners = [sign | one for sign in (0, 0x8000) for one in CORNERS]
        return np.array([*corners, *rng.integers(0, 1 << 16, RANDOM)], np.int64)
    corners = [sign | one << 16 | low for sign in (0, 1 << 31) for one in CORNERS for low in LOW]
    near = rng.standard_normal(RANDOM).astype(np.float32).view(np.uint32)
    return np.array([*corners, *rng.integers(0, 1 << 32, RANDOM), *near], np.int64)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_one_at_a_time(name: str) -> None:
    function = FUNCTIONS[name]
    left = patterns(name.startswith("bfloat16"), 1)
    corners = left[: 2 * len(CORNERS)]
    given = [left]
    if function.arguments == 2:  # each corner with each, and random pairs
        other = np.random.default_rng(2).permutation(left)
        given = [np.concatenate([left, np.repeat(corners, len(corners))])]
        given += [np.concatenate([other, np.tile(corners, len(corners))])]
    expected = function.python(*given)
    found = [function.scalar(*map(int, each)) for each in zip(*given, strict=True)]
    wrong = np.flatnonzero(np.array(found) != expected)
    assert not wrong.size, [hex(int(one[wrong[0]])) for one in (*given, np.array(found), expected)]
