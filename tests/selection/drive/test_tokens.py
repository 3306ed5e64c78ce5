"""Tokens of programs: each is needed, ranges hold what loops use, and an order that is open is refused."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from axiloom.accelerators.vta.blocks import conv, matmul
from axiloom.accelerators.vta.blocks.conv import Convolution
from axiloom.base.errors import CompileError
from axiloom.isa.instructions.engines import POP_PREV, TOKENS
from axiloom.isa.instructions.library import target
from axiloom.selection.drive.tokens import check, of_command, tokened, uses
from axiloom.selection.program.program import Command, Program

VTA = target("vta")
LAYERS = {
    "matmul": matmul.lowered(64, 64, 512, VTA),
    "convolution": conv.lowered(Convolution(16, 16, 64, 64, pads=0), VTA),
    "convolution with pads": conv.lowered(Convolution(12, 40, 64, 32, pads=2), VTA),
}


PLACES = {"dst": ("acc", 0, 11), "src": ("inp", 11, 11), "wgt": ("wgt", 22, 10)}
"""Of a micro-op: the memory, the first bit, and bits of an index."""


def without(program: Program, at: int, bit: int) -> Program:
    """One token less."""
    commands = list(program.commands)
    fields = dict(commands[at].fields)
    fields[TOKENS] &= ~(1 << bit)
    commands[at] = Command(commands[at].instruction, fields)
    return replace(program, commands=tuple(commands))


def test_an_instruction_whose_places_are_not_known_is_refused() -> None:
    other = replace(VTA, instructions={**VTA.instructions, "scatter": VTA.instructions["alu"]})
    with pytest.raises(CompileError, match="vta: scatter has tokens, and its places in the memories are not"):
        tokened(LAYERS["matmul"], other)


def test_other_instruction_sets_have_none() -> None:
    program = LAYERS["matmul"]
    assert tokened(program, target("qkv")) is program


@pytest.mark.parametrize("name", LAYERS)
def test_layers(name: str) -> None:
    """Loads wait for sums of two tiles before, not for those that are under way."""
    program = tokened(LAYERS[name], VTA)
    assert tokened(program, VTA) is program
    names = [one.instruction for one in program.commands]
    given = [one.fields.get(TOKENS, 0) for one in program.commands]
    behind = [i for i, pair in enumerate(itertools.pairwise(names)) if pair == ("gemm", "load_inp")]
    assert behind
    used = list(uses(program, VTA))
    for i in behind:  # the load that follows sums does not meet them
        assert not any(a.meets(b) for a in used[i] for b in used[i + 1])
    pops = [name for name, bits in zip(names, given, strict=True) if bits >> POP_PREV & 1]
    assert pops.count("store") == names.count("store")


@pytest.mark.parametrize("name", LAYERS)
def test_each_token_is_needed(name: str) -> None:
    """Without any one that is waited for, the order of two commands is open, or one waits for ever."""
    program = tokened(LAYERS[name], VTA)
    used = list(uses(program, VTA))
    places = [(i, one.fields.get(TOKENS, 0)) for i, one in enumerate(program.commands)]
    every = [(i, bit) for i, bits in places for bit in range(4) if bits >> bit & 1]
    for i, bit in every[:: max(1, len(every) // 12)]:
        with pytest.raises(CompileError, match=r"does not wait for command|would wait for ever"):
            check(without(program, i, bit).commands, used)


def test_places_of_loops() -> None:
    """Those that the text's loops use are within the range; what goes round is the whole memory."""
    rng = np.random.default_rng(0)
    factors = [f"{one}_{loop}" for one in PLACES for loop in ("outer", "inner")]
    for _ in range(200):
        words = [int(one) for one in rng.integers(0, 1 << 32, 6) & 0x3F9FF1FF]
        fields = {"first": 1, "last": 5, "outer": int(rng.integers(4)), "inner": int(rng.integers(4))}
        fields |= {name: int(rng.integers(600)) for name in factors}
        uses_ = of_command(Command("gemm", fields), VTA, np.array(words))
        found = {(use.memory, use.writes): use for use in uses_}
        for i, j, word in itertools.product(range(fields["outer"]), range(fields["inner"]), words[1:5]):
            for one, (memory, low, bits) in PLACES.items():
                moves = i * fields[f"{one}_outer"] + j * fields[f"{one}_inner"]
                at = ((word >> low) + moves) % (1 << bits)
                use = found[memory, one == "dst"]
                assert use.low <= at < use.high


def test_micro_ops_that_are_not_known() -> None:
    """They come with the data: every place may be used."""
    program = LAYERS["matmul"]
    arrays = tuple(replace(one, role="in") if one.role == "constant" else one for one in program.arrays)
    used = list(uses(replace(program, arrays=arrays), VTA))
    at = next(i for i, one in enumerate(program.commands) if one.instruction == "gemm")
    assert {(use.low, use.high) for use in used[at] if use.memory == "inp"} == {(0, 2048)}
