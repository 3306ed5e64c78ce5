"""The strategies that other tests build on draw what they promise."""

from __future__ import annotations

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st
from tests.isa.conv_strategies import ANY, any_well_formed, conv_ill_formed, conv_specs
from tests.isa.strategies import Words, ill_formed, specs, tiles

from axiloom.isa import AcceleratorSpec
from axiloom.isa.check.check import check_tile
from axiloom.isa.contract.errors import DeviceError
from axiloom.isa.kernels.forms import IMAGE, WINDOW
from axiloom.isa.numerics import SIGNED, Numerics
from axiloom.isa.opcode_map.model import FunctionalModel

_SEARCH = settings(max_examples=3000, phases=[Phase.generate])  # to find is enough, not to shrink


@given(st.data())
@settings(max_examples=120)
def test_well_formed_words_are_no_error(data: st.DataObject) -> None:
    spec = data.draw(ANY)
    words, _ = data.draw(any_well_formed(spec))
    model = FunctionalModel(spec)
    model.feed(words)
    assert model.error is None
    assert model.accepted == words.size


@given(st.data())
@settings(max_examples=60)
def test_tiles_are_accepted(data: st.DataObject) -> None:
    spec = data.draw(specs())
    assert check_tile(spec, data.draw(tiles(spec))) == []


DRAWN = {
    "matmul": specs(largest=4).flatmap(lambda spec: st.tuples(st.just(spec), ill_formed(spec))),
    **{
        form.name: conv_specs(form).flatmap(lambda spec: st.tuples(st.just(spec), conv_ill_formed(spec)))
        for form in (IMAGE, WINDOW)
    },
}


@pytest.mark.every(6)
@pytest.mark.parametrize("code", list(DeviceError))
@pytest.mark.parametrize("form", DRAWN)
def test_ill_formed_words_reach_every_error(form: str, code: DeviceError) -> None:
    def stops(drawn: tuple[AcceleratorSpec, tuple[Words, str]]) -> bool:
        model = FunctionalModel(drawn[0])
        model.feed(drawn[1][0])
        return model.code is code

    find(DRAWN[form], stops, settings=_SEARCH)


@pytest.mark.parametrize("width", [32, 64, 128])
def test_streams_of_every_width(width: int) -> None:
    find(specs(), lambda spec: spec.link.stream_width == width, settings=_SEARCH)


@pytest.mark.parametrize("kind", SIGNED)
@pytest.mark.parametrize("flexible", [False, True])
def test_specifications_vary(kind: Numerics, flexible: bool) -> None:
    find(specs(), lambda spec: spec.data_type is kind and spec.tile.flexible is flexible, settings=_SEARCH)
