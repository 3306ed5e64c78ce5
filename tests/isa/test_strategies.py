"""The strategies that other tests build on draw what they promise."""

from __future__ import annotations

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st
from tests.isa.conv_strategies import conv_ill_formed, conv_specs, conv_well_formed
from tests.isa.strategies import Words, ill_formed, specs, tiles, well_formed

from axiloom.isa import AcceleratorSpec
from axiloom.isa.check.check import check_tile
from axiloom.isa.contract.errors import DeviceError
from axiloom.isa.kernels.forms import IMAGE, WINDOW, Form
from axiloom.isa.numerics import SIGNED, Numerics
from axiloom.isa.opcode_map.model import FunctionalModel

_SEARCH = settings(max_examples=3000, phases=[Phase.generate])  # to find is enough, not to shrink


@given(st.data())
@settings(max_examples=60)
def test_well_formed_words_are_no_error(data: st.DataObject) -> None:
    spec = data.draw(specs())
    words, _ = data.draw(well_formed(spec))
    model = FunctionalModel(spec)
    model.feed(words)
    assert model.error is None
    assert model.accepted == words.size


@given(st.data())
@settings(max_examples=60)
def test_tiles_are_accepted(data: st.DataObject) -> None:
    spec = data.draw(specs())
    assert check_tile(spec, data.draw(tiles(spec))) == []


@pytest.mark.every(3)
@pytest.mark.parametrize("code", list(DeviceError))
def test_ill_formed_words_reach_every_error(code: DeviceError) -> None:
    def stops(drawn: tuple[AcceleratorSpec, Words]) -> bool:
        model = FunctionalModel(drawn[0])
        model.feed(drawn[1])
        return model.code is code

    programs = specs(largest=4).flatmap(lambda spec: ill_formed(spec).map(lambda drawn: (spec, drawn[0])))
    find(programs, stops, settings=_SEARCH)


@pytest.mark.parametrize("width", [32, 64, 128])
def test_streams_of_every_width(width: int) -> None:
    find(specs(), lambda spec: spec.link.stream_width == width, settings=_SEARCH)


@pytest.mark.parametrize("kind", SIGNED)
@pytest.mark.parametrize("flexible", [False, True])
def test_specifications_vary(kind: Numerics, flexible: bool) -> None:
    find(specs(), lambda spec: spec.data_type is kind and spec.tile.flexible is flexible, settings=_SEARCH)


@given(st.data(), st.booleans())
@settings(max_examples=60)
def test_convolutions_well_formed_words_are_no_error(data: st.DataObject, post: bool) -> None:
    spec = data.draw(conv_specs(post=post))
    words, _ = data.draw(conv_well_formed(spec))
    model = FunctionalModel(spec)
    model.feed(words)
    assert model.error is None
    assert model.accepted == words.size


@given(st.data())
@settings(max_examples=40)
def test_post_well_formed_words_are_no_error(data: st.DataObject) -> None:
    spec = data.draw(specs(post=True))
    words, _ = data.draw(well_formed(spec))
    model = FunctionalModel(spec)
    model.feed(words)
    assert model.error is None


@pytest.mark.every(6)
@pytest.mark.parametrize("code", list(DeviceError))
@pytest.mark.parametrize("form", [IMAGE, WINDOW], ids=lambda form: form.name)
def test_convolutions_ill_formed_words_reach_every_error(form: Form, code: DeviceError) -> None:
    def stops(drawn: tuple[AcceleratorSpec, Words]) -> bool:
        model = FunctionalModel(drawn[0])
        model.feed(drawn[1])
        return model.code is code

    drawn = conv_specs(form).flatmap(lambda spec: conv_ill_formed(spec).map(lambda pair: (spec, pair[0])))
    find(drawn, stops, settings=_SEARCH)
