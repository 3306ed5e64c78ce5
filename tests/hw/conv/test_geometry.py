"""Array, banks, depths and widths of a convolution engine; and what there is no engine for."""

from __future__ import annotations

import pytest

from axiloom import isa
from axiloom.base.errors import SpecError
from axiloom.hw.conv.geometry import ConvGeometry

BUFFERS = {"I": 130, "F": 100, "O": 200}


@pytest.mark.parametrize("data_type", ["int8", "int16", "int32"])
@pytest.mark.parametrize("stream_width", [32, 64, 128])
@pytest.mark.parametrize("macs", [1, 8, 16])
def test_buffers_hold_what_the_specification_says_and_no_more(
    data_type: str, stream_width: int, macs: int
) -> None:
    spec = isa.builtin("conv_v4", data_type=data_type)
    spec = spec.replace(buffers=BUFFERS, stream_width=stream_width, macs=macs)
    geometry = ConvGeometry.of(spec)
    beat, bits = stream_width // 32, int(data_type[3:])
    assert geometry.rows * geometry.cols == macs
    assert geometry.elements == BUFFERS["I"] // beat * beat * 32 // bits
    assert geometry.elements <= geometry.image.slots < geometry.elements + geometry.cols
    filters = geometry.filters
    assert filters.banks == filters.lanes == geometry.rows
    assert filters.depth * filters.banks * beat <= BUFFERS["F"] < (filters.depth + 1) * filters.banks * beat
    assert geometry.o_depth % geometry.rows == 0
    assert geometry.o_depth * geometry.cols <= BUFFERS["O"] < geometry.o_depth * geometry.cols + macs
    assert geometry.lanes == min(beat, geometry.cols)
    assert not geometry.post
    assert geometry.p_lanes == geometry.lanes


def test_numbers_of_a_command_reach_to_the_largest_tile() -> None:
    geometry = ConvGeometry.of(isa.builtin("conv_v4"))
    blocks_m, blocks_n, k = geometry.most
    layout = geometry.command_dims
    for name, most in (("last_m", blocks_m), ("last_n", blocks_n), ("last_k", k)):
        assert (1 << layout[name].width) >= most, name
    assert 1 << layout["last_lane"].width == geometry.cols


def test_post_processing_adds_parameters_and_settings() -> None:
    spec = isa.builtin("conv_v4", data_type="int8", post=True)
    geometry = ConvGeometry.of(spec.replace(stream_width=64))
    assert geometry.post
    assert geometry.channels == spec.buffers["P"] // 2
    assert geometry.p_width == 64
    assert (geometry.lanes, geometry.p_lanes) == (2, min(8, geometry.cols))
    assert set(geometry.bounds) < set(geometry.dims)
    assert geometry.command_dims["half_p"].width == 1
    assert geometry.protocol.parameters is not None


@pytest.mark.parametrize("macs", [0, 12])
def test_multiply_adds_are_a_power_of_two(macs: int) -> None:
    with pytest.raises(SpecError, match=f"conv macs must be a power of two, not {macs}$"):
        ConvGeometry.of(isa.builtin("conv_v4").replace(macs=macs))


def test_another_kernel_is_refused() -> None:
    with pytest.raises(
        SpecError, match=r'^\S* ?.*conv must execute "linalg.conv_2d_nchw_fchw" on image tiles'
    ):
        ConvGeometry.of(isa.builtin("v3_4"))
    with pytest.raises(SpecError, match=r"on image tiles, not .* with I \["):
        ConvGeometry.of(isa.builtin("conv_v3"))


@pytest.mark.parametrize(("macs", "array"), [(16, (4, 4)), (64, (8, 8)), (128, (16, 8)), (256, (32, 8))])
def test_an_array_has_eight_pixels_at_most(macs: int, array: tuple[int, int]) -> None:
    spec = isa.revise(isa.builtin("conv_v4", data_type="int8"), macs=macs)
    assert spec.array == array == (ConvGeometry.of(spec).rows, ConvGeometry.of(spec).cols)
