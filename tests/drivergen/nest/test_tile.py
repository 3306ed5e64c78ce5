"""Tiles without gaps that are matrices: what a descriptor can express of them."""

from __future__ import annotations

import pytest

from axiloom.drivergen.dialects import accel
from axiloom.drivergen.nest.tile import Tile


@pytest.mark.parametrize(
    ("shape", "strides", "rows", "matrix"),
    [
        pytest.param((4, 5, 8), (128, 8, 1), 0, (4, 40), id="whole rows of an image"),
        pytest.param((4, 2, 4), (128, 8, 1), 0, None, id="a window of it"),
        pytest.param((6, 4, 2, 2), (16, 4, 2, 1), 1, (6, 16), id="filters with all their taps"),
        pytest.param((6, 3, 3, 3), (27, 9, 3, 1), 1, None, id="filters of odd bytes"),
        pytest.param((8, 7, 7), (49, 7, 1), 0, (1, 392), id="planes of 7 x 7 that follow each other"),
    ],
)
def test_what_is_a_matrix(
    shape: tuple[int, ...], strides: tuple[int, ...], rows: int, matrix: tuple[int, int] | None
) -> None:
    dense = accel.DenseAttr((rows, 32))
    tile = Tile(shape, tuple(range(len(shape))), dense, shape, strides, 8, 0)
    flat = tile.flat()
    assert (flat.shape if flat.dense is None else None) == matrix
    assert flat.words == tile.words
    assert (flat.way(4) == "in place") == (matrix is not None)
