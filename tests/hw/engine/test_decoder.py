"""Opcode words to programs, for both encodings that ship and for words nobody uses."""

from __future__ import annotations

import pytest
from amaranth.sim import Simulator

from axiloom import isa
from axiloom.hw.engine.decoder import CLEAR, COMPUTE, STORE, Decoder, Programs


def decode(programs: Programs, words: list[int]) -> list[tuple[int, int]]:
    decoder = Decoder(programs)
    results = []

    async def bench(ctx: object) -> None:
        for word in words:
            ctx.set(decoder.word, word)  # type: ignore[attr-defined]
            results.append((ctx.get(decoder.known), ctx.get(decoder.program)))  # type: ignore[attr-defined]

    simulator = Simulator(decoder)
    simulator.add_testbench(bench)
    simulator.run()
    return results


@pytest.mark.parametrize(
    ("encoding", "words"), [("bitmask", [1, 2, 4, 8]), ("literals", [0x22, 0x23, 0xF0, 0x24])]
)
def test_opcode_words_are_matched_exactly(encoding: str, words: list[int]) -> None:
    programs = Programs(isa.builtin("v3_4", encoding=encoding))
    expected = [programs.load("A"), programs.load("B"), COMPUTE, STORE | CLEAR << programs.action_width]
    assert decode(programs, words) == [(1, program) for program in expected]
    near = [word ^ flip for word in words for flip in (1 << 31, 1 << 12)]
    assert decode(programs, [0, *near]) == [(0, 0)] * (1 + len(near))


def test_dims_come_first() -> None:
    programs = Programs(isa.builtin("v4_16"))
    ((known, program),) = decode(programs, [1])
    assert known
    assert program == programs.set_dims(0) | programs.load("A") << programs.action_width
    assert len(programs.dims_words) == 1


def test_an_accelerator_without_opcode_words_has_one_endless_program() -> None:
    programs = Programs(isa.builtin("v1_4"))
    assert programs.words() == {}
    assert programs.endless is not None
    assert programs.endless & (1 << programs.action_width) - 1 == programs.load("A")
    assert Programs(isa.builtin("v2_4")).endless is None
