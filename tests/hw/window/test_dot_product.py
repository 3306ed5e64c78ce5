# amaranth: UnusedElaboratable=no
"""Sums of products of any number of lanes, saved one after the other, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.hw.component_bench import simulate

from axiloom.hw.array.operand_buffer import READ_LATENCY
from axiloom.hw.window.dot_product import DotProduct

DEPTH = 6


@pytest.mark.every(3)
@pytest.mark.parametrize(("bits", "macs"), [(8, 1), (8, 4), (16, 2), (32, 4)])
def test_what_is_saved(bits: int, macs: int) -> None:
    """Steps in any order, with gaps: the elements that count are those `READ_LATENCY` cycles behind."""
    rng = np.random.default_rng(bits + macs)
    device = DotProduct(bits, macs, DEPTH)
    low, high = -(1 << bits - 1), (1 << bits - 1) - 1
    sends = 0

    def pack(elements: list[int]) -> int:
        return sum(int(element) % (1 << bits) << bits * lane for lane, element in enumerate(elements))

    async def bench(ctx: Any) -> None:
        nonlocal sends
        total, saved = 0, []
        elements: list[tuple[list[int], list[int]]] = [([0] * macs, [0] * macs)] * READ_LATENCY

        async def cycle(**step: int) -> None:
            """The elements of this step come later; those of an earlier one are there now."""
            for name in ("add", "last_lane", "save", "clear"):
                ctx.set(device.step[name], step.get(name, 0))
            elements.append(tuple(rng.integers(low, high, macs, endpoint=True).tolist() for _ in "ab"))
            a, b = elements.pop(0)
            ctx.set(device.a, pack(a))
            ctx.set(device.b, pack(b))
            await ctx.tick()

        for _ in range(400):
            kind = rng.choice(["add", "save", "clear", "idle", "send"], p=[0.6, 0.15, 0.02, 0.2, 0.03])
            if kind == "add":
                lanes = int(rng.integers(1, macs, endpoint=True))
                await cycle(add=1, last_lane=lanes - 1)
                assert ctx.get(device.busy)
                a, b = elements[-1]
                total += sum(x * y for x, y in zip(a[:lanes], b[:lanes], strict=True))
            elif kind == "save" and len(saved) < DEPTH:
                await cycle(save=1)
                saved.append(total % (1 << 32))
                total = 0
            elif kind == "clear":
                await cycle(clear=1)
                saved, total = [], 0
            elif kind == "send":
                while ctx.get(device.busy):
                    await cycle()
                assert ctx.get(device.saved) == len(saved)
                for place, word in enumerate(saved):
                    ctx.set(device.send_enable, 1)
                    ctx.set(device.send_address, place)
                    await cycle()
                    ctx.set(device.send_enable, 0)
                    ctx.set(device.send_address, 0)
                    assert ctx.get(device.send_word) == word
                    await cycle()
                    assert ctx.get(device.send_word) == word, "until the next"
                    sends += 1
            else:
                await cycle()

    simulate(device, bench)
    assert sends > 5
