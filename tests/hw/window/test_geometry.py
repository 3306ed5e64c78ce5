"""Banks, depths and widths of the engine that takes one window at a time; and what there is no engine for."""

from __future__ import annotations

import pytest

from axiloom import isa
from axiloom.base.errors import SpecError
from axiloom.hw.window.geometry import WindowGeometry

BUFFERS = {"I": 70, "F": 130, "O": 20}


@pytest.mark.parametrize("data_type", ["int8", "int16", "int32"])
@pytest.mark.parametrize("stream_width", [32, 64, 128])
@pytest.mark.parametrize("macs", [1, 4, 32])
def test_buffers_hold_what_the_specification_says(data_type: str, stream_width: int, macs: int) -> None:
    spec = isa.builtin("conv_v3", data_type=data_type)
    geometry = WindowGeometry.of(spec.replace(buffers=BUFFERS, stream_width=stream_width, macs=macs))
    bits, beat = int(data_type[3:]), stream_width // 32
    held = {}
    for name, layout in (("I", geometry.image), ("F", geometry.filters)):
        assert not layout.along_k
        assert layout.lanes == macs
        assert layout.banks == max(1, macs * bits // stream_width)
        beats = BUFFERS[name] // beat
        assert beats <= layout.depth * layout.banks < beats + layout.banks
        held[name] = layout.depth * layout.banks * stream_width // bits
    assert geometry.longest == min(held.values())
    groups = -(-geometry.longest // macs)
    assert 1 << geometry.command_dims["last_group"].width >= groups
    assert 1 << geometry.command_dims["last_lane"].width == macs
    assert geometry.results == BUFFERS["O"]


def test_the_receiver_is_told_what_a_compute_needs() -> None:
    geometry = WindowGeometry.of(isa.builtin("conv_v3"))
    protocol = geometry.protocol
    assert protocol.saves
    assert list(protocol.operands) == ["I", "F"]
    assert {operand.dims for operand in protocol.operands.values()} == {("ic", "fh", "fw")}
    assert all(geometry.dims[name] == (1, 1) for name in geometry.unit)


def test_all_reasons_are_listed() -> None:
    spec = isa.builtin("conv_v3").replace(buffers={"I": 0, "F": 8, "O": 0}, stream_width=48, macs=3)
    with pytest.raises(SpecError) as caught:
        WindowGeometry.of(spec)
    assert caught.value.faults == (
        "window conv stream width must be one of 32, 64, 128, not 48",
        "window conv macs must be a power of two, not 3",
        "window conv buffer I must hold at least 1 words, not 0",
        "window conv buffer O must hold at least 1 words, not 0",
    )


def test_another_kernel_is_refused() -> None:
    with pytest.raises(SpecError, match=r"window conv must execute .* on windows, not .* with I "):
        WindowGeometry.of(isa.builtin("conv_v4"))
