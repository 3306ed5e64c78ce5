# amaranth: UnusedElaboratable=no
"""A memory with two readers and two writers against a list: parts of words, addresses that wrap."""

from __future__ import annotations

import random
from typing import Any

import pytest
from amaranth.hdl import Module, Signal
from tests.hw.component_bench import simulate

from axiloom.hw.command.memory import Memory

DEPTH, PARTS = 8, 3


def differs(shift: int = 0) -> bool:
    """With `shift` the second writer's mask is another one."""
    m, rng = Module(), random.Random(3)
    memory = Memory("words", DEPTH, 4 * PARTS, 4)
    reads = [(Signal(name=f"reads_{n}"), Signal(5, name=f"from_{n}")) for n in range(2)]
    writes = [
        (Signal(name=f"writes_{n}"), Signal(5, name=f"to_{n}"), Signal(12, name=f"word_{n}"), Signal(PARTS))
        for n in range(2)
    ]
    data = [memory.read(active, address) for active, address in reads]
    memory.write(*writes[0])
    memory.write(*writes[1][:3], (writes[1][3] << shift)[:PARTS])
    memory.build(m)
    words, wrong = [0] * DEPTH, []

    async def drive(ctx: Any) -> None:
        expected = None
        for _ in range(500):
            if expected is not None and ctx.get(data[0]) != expected:
                wrong.append(expected)
            reader, writer = rng.randrange(3), rng.randrange(3)
            at, to = rng.randrange(32), rng.randrange(32)
            word, mask = rng.getrandbits(12), rng.getrandbits(PARTS)
            if at % DEPTH == to % DEPTH and writer < 2:
                reader = 2  # a word that is written is not read
            for n, (active, address) in enumerate(reads):
                ctx.set(active, n == reader)
                ctx.set(address, at if n == reader else rng.randrange(32))
            for n, signals in enumerate(writes):
                for signal, value in zip(signals, (n == writer, to, word, mask), strict=True):
                    ctx.set(signal, value)
            expected = words[at % DEPTH] if reader < 2 else None
            if writer < 2:
                for part in range(PARTS):
                    if mask >> part & 1:
                        bits = 15 << 4 * part
                        words[to % DEPTH] = words[to % DEPTH] & ~bits | word & bits
            await ctx.tick()

    simulate(m, drive)
    return bool(wrong)


def test_reads_and_writes() -> None:
    assert not differs()


def test_another_mask_is_found() -> None:
    assert differs(shift=1)


@pytest.mark.parametrize(("depth", "bits"), [(1, 1), (5, 3), (8, 3), (1024, 10)])
def test_addresses(depth: int, bits: int) -> None:
    assert Memory("words", depth, 8).address_bits == bits
