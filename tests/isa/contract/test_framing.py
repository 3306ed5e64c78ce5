"""What fills up the beats of wide streams, on instructions written out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.isa.strategies import matrices, specs, tiles
from tests.isa.streams import opcode_words

from axiloom import isa
from axiloom.isa.contract.framing import padded, sent_words
from axiloom.isa.files.grammar import parse_opcode_map


@pytest.mark.parametrize(
    ("beat_words", "text"),
    [
        (1, "send_literal(1), send(A), send_literal(2), recv(C), send_idx(m), send(B)"),
        (2, "send_literal(1), send_literal(0), send(A), send_literal(2), recv(C), send_idx(m), send(B)"),
        (
            4,
            "send_literal(1), send_literal(0), send_literal(0), send_literal(0), send(A), "
            "send_literal(2), recv(C), send_idx(m), send_literal(0), send_literal(0), send(B)",
        ),
    ],
)
def test_single_words_are_filled_up_to_a_beat(beat_words: int, text: str) -> None:
    actions = parse_opcode_map(
        "opcode_map<x = [send_literal(1), send(A), send_literal(2), recv(C), send_idx(m), send(B)]>"
    )["x"]
    assert ", ".join(map(str, padded(actions, beat_words))) == text


@pytest.mark.parametrize(
    ("name", "opcode", "words"),
    [("v1_4", "sAsBcCrC", (0, 0, 0)), ("v3_16", "sA", (1, 2, 4)), ("v4_16", "rC", (2, 2, 4))],
)
def test_heads_of_the_built_in_accelerators(name: str, opcode: str, words: tuple[int, ...]) -> None:
    for width, expected in zip((32, 64, 128), words, strict=True):
        spec = isa.revise(isa.builtin(name), stream_width=width)
        assert isa.head_words(spec, spec.opcodes[opcode]) == expected


def test_model_does_not_look_at_the_padding() -> None:
    spec = isa.revise(isa.builtin("v3_4"), stream_width=64)
    a = np.arange(16, dtype=np.uint32)
    one = np.eye(4, dtype=np.uint32).reshape(-1)
    model = isa.FunctionalModel(spec)
    assert not model.feed([1, 0xDEAD, *a, 2, 0xBEEF, *one, 4, 0x80, 8]).size
    assert model.feed([99]).tolist() == a.tolist()
    assert list(np.flatnonzero(model.tlast)) == [15]
    assert model.error is None


@given(st.data())
def test_instructions_are_whole_beats(data: st.DataObject) -> None:
    spec = data.draw(specs())
    tile = data.draw(tiles(spec))
    for name, opcode in spec.opcodes.items():
        operands = {o: data.draw(matrices(spec, spec.operand_shape(o, tile))) for o in opcode.sends}
        words = opcode_words(spec, name, tile, operands)
        assert len(words) == sent_words(spec, opcode, tile)
        assert len(words) % spec.link.beat_words == isa.head_words(spec, opcode) % spec.link.beat_words == 0
