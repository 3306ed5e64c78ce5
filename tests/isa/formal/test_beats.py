"""Models of random opcode maps do what the functional model does, and what they say holds."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.isa.conv_strategies import ANY

from axiloom import isa
from axiloom.isa import AcceleratorSpec
from axiloom.isa.contract.errors import DeviceError
from axiloom.isa.formal.beats import model_of
from axiloom.isa.formal.simulate import Simulator
from axiloom.isa.opcode_map.model import FunctionalModel
from axiloom.prove.spec import claims, compared, decided
from axiloom.prove.verdict import Answer


@settings(max_examples=12)
@given(ANY, st.integers(0, 1000))
def test_any_specification(spec: AcceleratorSpec, seed: int) -> None:
    verdict = compared(model_of(spec), words=150, seed=seed, streams=2)
    assert verdict.answer is Answer.HOLDS, verdict.text


@pytest.mark.slow
@settings(max_examples=8)
@given(ANY)
def test_any_specification_is_sound(spec: AcceleratorSpec) -> None:
    of = [claim for claim in claims(model_of(spec)) if not claim.cover]
    assert [verdict.name for verdict in decided(spec.name, of, 60) if not verdict.good] == []


@pytest.mark.parametrize(
    ("name", "kind", "width"),
    [
        *((name, "int32", 32) for name in ("v1_4", "v2_4", "v3_4", "v4_16", "conv_v3", "conv_v4")),
        ("v2_4", "int16", 64),
        ("v3_4", "int8", 128),
        ("conv_v3", "int8", 128),
    ],
)
def test_built_ins(name: str, kind: str, width: int) -> None:
    """Also of two words that set sizes for a combined opcode, the first of which is bad."""
    spec = isa.revise(isa.builtin(name, data_type=kind), stream_width=width)
    verdict = compared(model_of(spec), words=300, streams=8)
    assert verdict.answer is Answer.HOLDS, verdict.text


@pytest.mark.parametrize(("name", "width"), [("v4_16", 64), ("v3_4", 32), ("conv_v4", 128)])
def test_built_ins_that_requantise(name: str, width: int) -> None:
    spec = isa.revise(isa.builtin(name, data_type="int8", post=True), stream_width=width)
    verdict = compared(model_of(spec), words=300, streams=6)
    assert verdict.answer is Answer.HOLDS, verdict.text


def test_the_first_reason_stops_it() -> None:
    """A loaded under other sizes, and B not at all: what is said is of A, as in the functional model."""
    spec = isa.builtin("v4_16", data_type="int8")
    words = [1, 16 | 16 << 10 | 16 << 20, *[0] * 64, 4, 32 | 16 << 10 | 16 << 20]
    terms, functional = Simulator(model_of(spec).ila), FunctionalModel(spec)
    for word in words:
        terms.command(word=word)
    functional.feed(words)
    assert terms.state["error"] == functional.code == DeviceError.DIMS_MISMATCH


def test_padding_of_p_is_that_of_its_channels_alone() -> None:
    """Its buffer holds one channel: rows of the array do not count."""
    spec = isa.builtin("conv_v4", post=True)
    spec = isa.revise(spec, buffers={**spec.buffers, "P": 2 * spec.tile.size[0]})
    simulator = Simulator(model_of(spec).ila)
    for word in (32, 16, *range(32)):
        simulator.command(word=word)
    assert simulator.state["error"] == 0
    assert [simulator.state["P"][i] for i in range(32)] == [*range(32)]


def test_bits_that_a_word_combines_come_one_after_the_other() -> None:
    spec = isa.builtin("conv_v3")
    simulator = Simulator(model_of(spec).ila)
    assert simulator.command(word=16 | 32) == ["conv_v3.combined", "conv_v3.sC.start.begin"]
    assert simulator.command(word=5) == ["conv_v3.sC.0", "conv_v3.sH.start.begin"]
    assert simulator.command(word=3) == ["conv_v3.sH.0"]
    assert (simulator.state["ic"], simulator.state["fh"], simulator.state["fw"]) == (5, 3, 3)
    assert simulator.state["step"] == simulator.state["todo"] == 0
    # What needs no words runs at once: a store of what is saved, and a clear.
    simulator.state["saved"] = 1
    assert simulator.command(word=8)[-1].startswith("conv_v3.rO.send")
    assert (simulator.state["saved"], simulator.state["n_sent"], simulator.state["last"][0]) == (0, 1, 1)


def test_words_that_share_a_beat() -> None:
    spec = isa.revise(isa.builtin("conv_v4"), stream_width=128)
    beats = model_of(spec)
    simulator = Simulator(beats.ila)
    beat = 1 | (2 | 3 << 11 | 4 << 21) << 32 | (1 | 2 << 8) << 64 | 0xDEAD << 96
    assert simulator.command(word=beat) == ["conv_v4.sI", "conv_v4.sI.0.word", "conv_v4.sI.1.word"]
    assert [simulator.state[name] for name in ("ic", "ih", "iw", "pt", "pl")] == [2, 3, 4, 1, 2]
    assert beats.waits[simulator.state["step"]].memory == "I_in"
    done = [simulator.command(word=0)[0] for _ in range(6)]  # 24 words
    assert done == ["conv_v4.sI.2.more"] * 5 + ["conv_v4.sI.2.last"]


def test_waits() -> None:
    beats = model_of(isa.builtin("conv_v4"))
    own = [wait for wait in beats.waits.values() if wait.opcode == "sI"]
    assert [(wait.action, wait.memory) for wait in own] == [(0, ""), (1, ""), (2, "I_in")]
    assert beats.from_word(1) == own
    endless = model_of(isa.builtin("v1_4"))
    assert [wait.memory for wait in endless.from_wait(endless.ila.init["step"])] == ["A_in", "B_in"]
    assert endless.from_word(1) == []
