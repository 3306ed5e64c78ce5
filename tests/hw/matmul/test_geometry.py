"""Block, banks and depths: as square as fills every tile, and no word more than the largest tile needs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.isa.strategies import specs, tiles

from axiloom import isa
from axiloom.base.errors import SpecError
from axiloom.hw.matmul.geometry import Geometry
from axiloom.isa.contract.types import TileRule


@pytest.mark.parametrize(
    ("name", "block"), [("v1_4", (4, 4)), ("v3_8", (8, 8)), ("v3_16", (8, 8)), ("v4_16", (8, 8))]
)
def test_blocks_of_the_built_in_accelerators(name: str, block: tuple[int, int]) -> None:
    geometry = Geometry.of(isa.builtin(name))
    assert (geometry.rows, geometry.cols) == block


def test_blocks_follow_the_tile() -> None:
    """A tile of 2 rows takes a flat array: a square one would be half empty."""
    spec = isa.builtin("v3_8").replace(tile=TileRule((2, 32, 8)), buffers={"A": 16, "B": 256, "C": 64})
    geometry = Geometry.of(spec)
    assert (geometry.rows, geometry.cols) == (2, 32)


def test_v4_buffers_hold_any_tile_of_4096_words() -> None:
    geometry = Geometry.of(isa.builtin("v4_16"))
    assert geometry.a.banks * geometry.a.depth == 4096
    assert geometry.b.banks * geometry.b.depth == 4096
    assert geometry.cols * geometry.c_depth == 4096
    assert geometry.largest == (256, 256, 256)


@given(st.data())
def test_every_legal_tile_fits(data: st.DataObject) -> None:
    spec = data.draw(specs())
    geometry = Geometry.of(spec)
    tile = data.draw(tiles(spec))
    for layout, operand in ((geometry.a, "A"), (geometry.b, "B")):
        there = layout.banks * layout.depth * layout.width // 32
        assert spec.operand_words(operand, tile) <= there <= spec.buffers[operand]
    assert spec.operand_words("C", tile) <= geometry.cols * geometry.c_depth <= spec.buffers["C"]
    assert all(size <= largest for size, largest in zip(tile, geometry.largest, strict=True))
    assert tile[0] % geometry.rows == tile[1] % geometry.cols == 0
    assert geometry.rows * geometry.cols == spec.macs


@pytest.mark.parametrize("name", [name for name in isa.builtins() if not name.endswith("_4")])
@pytest.mark.parametrize(
    ("width", "data_type"), [(64, "int8"), (64, "int32"), (128, "int16"), (128, "int32")]
)
def test_whole_beats_go_into_the_banks(name: str, width: int, data_type: str) -> None:
    spec = isa.revise(isa.builtin(name, data_type=data_type), stream_width=width)
    geometry = Geometry.of(spec)
    assert geometry.a.width == geometry.b.width == geometry.c_words * 32 == width


def test_lines_shorter_than_a_beat_are_loaded_in_parts() -> None:
    geometry = Geometry.of(isa.revise(isa.builtin("v3_8", data_type="int8"), stream_width=128))
    assert (geometry.a.width, geometry.b.width, geometry.c_words) == (64, 64, 4)


def test_faults_quote_the_bad_values() -> None:
    spec = isa.builtin("v3_4", data_type="int8").replace(
        tile=TileRule((4, 4, 6)), buffers={"A": 6, "B": 6, "C": 8}
    )
    with pytest.raises(SpecError) as caught:
        Geometry.of(spec)
    assert caught.value.faults == (
        "matmul tile size of k, the last dim of A, must be a multiple of 4 elements, not 6",
        "matmul buffer C must hold the tile of 16 words, not 8",
    )
