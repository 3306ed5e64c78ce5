# amaranth: UnusedElaboratable=no
"""The loops against Python's: every place and index in order, at each pace, and none where there is none."""

from __future__ import annotations

import random
from typing import Any

from amaranth.hdl import Const, Module, Signal
from tests.hw.component_bench import simulate

from axiloom.accelerators.vta.rtl.loops import FIELDS, Loops
from axiloom.hw.command.memory import Memory

BITS = {"dst": 6, "src": 5, "wgt": 4}
SIZES = {"first": 13, "last": 14, "outer": 14, "inner": 14}


def _differs(turned: bool = False) -> bool:
    """With `turned` the factors of the two loops change places."""
    rng, m = random.Random(2), Module()
    uop = Memory("uop", 16, 32)
    values = {name: Signal(bits, name=name) for name, bits in SIZES.items()}
    for name in FIELDS:
        values |= {f"{name}_{loop}": Signal(11, name=f"{name}_{loop}") for loop in ("outer", "inner")}
    start, pace = Signal(), Signal(3)
    writes, at, word = Signal(), Signal(4), Signal(32)
    uop.write(writes, at, word, Const(1))
    other = {"outer": "inner", "inner": "outer"}

    def value(name: str) -> Signal:
        field, _, loop = name.partition("_")
        return values[f"{field}_{other[loop]}" if turned and loop else name]

    loops = Loops(uop, BITS, start, value, pace)
    place = loops.build(m)
    uop.build(m)
    words = [rng.getrandbits(32) for _ in range(16)]
    wrong = []

    async def drive(ctx: Any) -> None:
        ctx.set(writes, 1)
        for n, one in enumerate(words):
            ctx.set(at, n)
            ctx.set(word, one)
            await ctx.tick()
        ctx.set(writes, 0)
        for _ in range(60):
            given = {name: rng.randrange(1 << 11) for name in values}
            given |= {"first": rng.randrange(8), "outer": rng.randrange(4), "inner": rng.randrange(4)}
            given["last"] = given["first"] + rng.randrange(5) - (rng.random() < 0.1 and given["first"] > 0)
            every = rng.choice([1, 2, 4])
            for name, signal in values.items():
                ctx.set(signal, given[name])
            ctx.set(pace, every)
            ctx.set(start, 1)
            await ctx.tick()
            ctx.set(start, 0)
            expected = [
                tuple(
                    (words[u] >> part.start & (1 << part.stop - part.start) - 1)
                    + i * given[f"{name}_outer"]
                    + j * given[f"{name}_inner"]
                    & (1 << BITS[name]) - 1
                    for name, part in FIELDS.items()
                )
                for i in range(given["outer"])
                for j in range(given["inner"])
                for u in range(given["first"], given["last"])
            ]
            found, cycles, ends = [], [], []
            is_empty = ctx.get(loops.is_empty)
            for cycle in range(every * len(expected) + 6):
                if ctx.get(place.valid):
                    found.append(tuple(ctx.get(place.index[name]) for name in FIELDS))
                    cycles.append(cycle)
                    ends.append(ctx.get(place.last))
                await ctx.tick()
            in_time = cycles == [2 + every * n for n in range(len(expected))]
            last = [n == len(expected) - 1 for n in range(len(expected))]
            if (found, [bool(end) for end in ends]) != (expected, last) or not in_time:
                wrong.append(given)
            if bool(is_empty) != (not expected):
                wrong.append(given)

    simulate(m, drive)
    return bool(wrong)


def test_loops() -> None:
    assert not _differs()


def test_turned_factors_are_found() -> None:
    assert _differs(turned=True)
