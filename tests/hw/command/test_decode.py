# amaranth: UnusedElaboratable=no
"""Conditions and fields of texts as logic, against the simulator's own reading of random commands."""

from __future__ import annotations

import random
from typing import Any

import pytest
from amaranth.hdl import Module, Signal
from tests.hw.component_bench import simulate

from axiloom.base.errors import SpecError
from axiloom.hw.command.decode import command_bits, decoded, fault_of, words
from axiloom.hw.command.fault import Fault
from axiloom.isa.instructions.library import target
from axiloom.isa.instructions.read import parse
from axiloom.isa.instructions.simulator.reference import Reference
from axiloom.isa.instructions.simulator.state import IllegalCommandError, State
from axiloom.isa.instructions.tree import InstructionSet

TEXT = '''"""All that a field may be."""
word = input(40)
more = input(8)
T = table(3, -7, 11, 2)
y = register(uint8)

@instruction(word[0:2] == 1 and not more[7])
def one():
    a = word[2:8]
    b = int5(word[4:12])
    c = cat(word[12:16], b[0:3]) if a > 17 else more[0:7]
    d = T[word[20:22]] * b - a
    e = bits(word, word[24:28], 6) ^ (a << 2)
    f = min(abs(d), 40) + max(a, -b)
    require(d + e < 150)
    require(f != 33 and (a >> 1 <= 30 or c >= 12))
    require(~b + 20 > 0)
    y = 0

@instruction(word[0:2] == 2 or more == 200)
def two():
    a = word[2:34][3:9] | 5
    require(a & 24 != 24)
    y = 1
'''


def _expected(isa: InstructionSet, inputs: dict[str, int]) -> tuple[int, dict[str, int]]:
    reference = Reference(isa, State(isa))
    enabled = [one for one in isa.instructions.values() if reference.enabled(one, inputs)]
    if not enabled:
        return Fault.UNKNOWN, {}
    (one,) = enabled
    try:
        reference.execute(one, inputs)
    except IllegalCommandError:
        return Fault.ILLEGAL, {}
    return Fault.NONE, {}


def _compare(isa: InstructionSet, commands: list[int]) -> set[int]:
    m, command = Module(), Signal(command_bits(isa))
    inputs = words(isa, command)
    fault = Signal(4)
    m.d.comb += fault.eq(fault_of(decoded(m, isa, inputs)))
    m.d.sync += Signal(name="ticks").eq(1)
    seen = set()

    async def bench(ctx: Any) -> None:
        for each in commands:
            ctx.set(command, each)
            given, at = {}, 0
            for name, one in isa.inputs.items():
                given[name] = each >> at & (1 << one.bits) - 1
                at += one.bits
            expected, _ = _expected(isa, given)
            assert ctx.get(fault) == expected, given
            seen.add(int(expected))
            await ctx.tick()

    simulate(m, bench)
    return seen


def test_all_that_a_condition_may_be() -> None:
    isa = parse(TEXT, "all.isa", "all")
    rng = random.Random(1)
    commands = [rng.getrandbits(48) & ~(rng.getrandbits(1) << 47) for _ in range(1500)]
    # Both at once is a fault of the text, which no decoder decides.
    commands = [each for each in commands if each & 3 != 1 or each >> 40 != 200]
    assert _compare(isa, commands) == {0, Fault.UNKNOWN, Fault.ILLEGAL}


@pytest.mark.slow
def test_a_target() -> None:
    isa, rng = target("qkv"), random.Random(2)
    commands = [
        rng.randrange(12) | rng.choice([1, 32, 64]) << 4 | rng.choice([0, 1, 64, 65]) << 12
        | rng.choice([0, 64, 100]) << 20 | rng.choice([0, 65536 - 8192, 65535]) << 32
        for _ in range(200)
    ]  # fmt: skip
    assert _compare(isa, commands) == {0, Fault.UNKNOWN, Fault.ILLEGAL}


def test_what_is_no_logic_is_refused() -> None:
    text = TEXT.replace("word[2:34][3:9] | 5", "max(word[8] * k for k in range(9))")
    isa = parse(text, "sum.isa", "sum")
    with pytest.raises(SpecError, match=r"has a Fold, which is no logic of one cycle"):
        decoded(Module(), isa, words(isa, Signal(48)))
