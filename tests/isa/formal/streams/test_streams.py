"""Models of random specifications do what the functional model does, and what they say holds."""

from __future__ import annotations

import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.isa.conv_strategies import conv_specs
from tests.isa.strategies import specs

from axiloom import isa
from axiloom.isa import AcceleratorSpec
from axiloom.isa.contract.errors import DeviceError
from axiloom.isa.formal.simulate import Simulator
from axiloom.isa.formal.streams import model_of
from axiloom.isa.formal.streams.places import Places
from axiloom.isa.formal.streams.state import beats
from axiloom.isa.opcode_map.model import FunctionalModel
from axiloom.prove.spec import compared, decided
from axiloom.prove.verdict import Answer

ANY = st.one_of(specs(), specs(post=True), conv_specs(), conv_specs(post=True))


@settings(max_examples=6)
@given(ANY, st.integers(0, 1000))
def test_any_specification(spec: AcceleratorSpec, seed: int) -> None:
    verdict = compared(spec, model_of(spec), words=150, seed=seed, streams=2)
    assert verdict.answer is Answer.HOLDS, verdict.text


@pytest.mark.slow
@settings(max_examples=25)
@given(ANY, st.integers(0, 1000))
def test_any_specification_for_longer(spec: AcceleratorSpec, seed: int) -> None:
    verdict = compared(spec, model_of(spec), words=1500, seed=seed)
    assert verdict.answer is Answer.HOLDS, verdict.text


@pytest.mark.slow
@settings(max_examples=8)
@given(ANY)
def test_any_specification_is_sound(spec: AcceleratorSpec) -> None:
    from axiloom.isa.formal import sound

    model = model_of(spec)
    assert [one.name for one in decided(spec.name, sound.claims(model), 60) if not one.good] == []


def test_the_first_reason_stops_it() -> None:
    """A loaded under other sizes, and B not at all: what is said is of A, as in the functional model."""
    spec = isa.builtin("v4_16", data_type="int8")
    words = [1, 16 | 16 << 10 | 16 << 20, *[0] * 64, 4, 32 | 16 << 10 | 16 << 20]
    terms, functional = Simulator(model_of(spec)), FunctionalModel(spec)
    for word in words:
        terms.command(word=word)
    functional.feed(words)
    assert terms.state["error"] == functional.code == DeviceError.DIMS_MISMATCH


def test_padding_of_p_is_that_of_its_channels_alone() -> None:
    """Its buffer holds one channel: rows of the array do not count."""
    spec = isa.builtin("conv_v4", post=True)
    spec = isa.revise(spec, buffers={**spec.buffers, "P": 2 * spec.tile.size[0]})
    simulator = Simulator(model_of(spec))
    for word in (32, 16, *range(32)):
        simulator.command(word=word)
    assert simulator.state["error"] == 0
    assert [simulator.state["P"][i] for i in range(32)] == [*range(32)]


def test_bits_that_a_word_combines_come_one_after_the_other() -> None:
    spec = isa.builtin("conv_v3")
    simulator = Simulator(model_of(spec))
    assert simulator.command(word=16 | 32) == ["conv_v3.combined"]  # sC and sH
    assert simulator.command(word=5) == ["conv_v3.sC.0"]
    assert simulator.command(word=3) == ["conv_v3.sH.0"]
    assert (simulator.state["ic"], simulator.state["fh"], simulator.state["fw"]) == (5, 3, 3)
    assert simulator.state["place"] == simulator.state["todo"] == 0
    # What needs no words runs at once: store and clear.
    assert simulator.command(word=8) == ["conv_v3.rO", "conv_v3.store.nothing", "conv_v3.clear.all"]


def test_words_that_share_a_beat() -> None:
    spec = isa.revise(isa.builtin("conv_v4"), stream_width=128)
    simulator = Simulator(model_of(spec))
    beat = 1 | (2 | 3 << 11 | 4 << 21) << 32 | (1 | 2 << 8) << 64 | 0xDEAD << 96
    done = simulator.command(word=beat)
    assert done == ["conv_v4.sI", "conv_v4.rest.sI.0", "conv_v4.rest.sI.1", "conv_v4.fit.sI.2"]
    assert [simulator.state[name] for name in ("ic", "ih", "iw", "pt", "pl")] == [2, 3, 4, 1, 2]
    assert [simulator.command(word=0)[-1] for _ in range(6)][-1] == "conv_v4.sI.2.last"  # 24 words


def test_places() -> None:
    places = Places(isa.builtin("conv_v4"))
    assert [place.name for place in places.every[:3]] == ["cfg.0", "sI.0", "sI.1"]
    assert [place.following for place in places.every[:4]] == [0, 3, 4, 0]
    assert places.starts[4][1] == 7
    endless = Places(isa.builtin("v1_4"))
    assert (endless.reset, endless.every[-1].following, endless.starts) == (1, 1, {})


@pytest.mark.parametrize("each", [2, 4, 16])
def test_beats_of_few_bits(each: int) -> None:
    """A count that has fewer bits than a beat has elements: three saved results are one beat of 16."""
    for count in range(8):
        made = z3.simplify(beats(z3.BitVecVal(count, 3), each))
        assert made.as_long() == -(-count // each)
