"""FIFOs against a queue: of registers, LUT RAM, block RAM and tokens."""

from __future__ import annotations

import random
from collections import deque
from typing import Any

import pytest
from amaranth.hdl import Module, Signal
from tests.hw.component_bench import simulate

from axiloom.hw.nest.checks import Checks
from axiloom.hw.nest.circuit import Fifo, Storage
from axiloom.hw.nest.fifo import FifoLogic, storage

CASES = [
    (Fifo("registers", 8, 1), Storage.REGISTERS),
    (Fifo("lut", 8, 5), Storage.DISTRIBUTED),
    (Fifo("lut_started", 8, 4, 3), Storage.DISTRIBUTED),
    (Fifo("block", 8, 65), Storage.BLOCK),
    (Fifo("block_started", 8, 67, 66), Storage.BLOCK),
    (Fifo("tokens", 0, 6, 2), Storage.REGISTERS),
]


class Bench:
    """A FIFO whose places are taken `late` cycles before the push."""

    def __init__(self, fifo: Fifo) -> None:
        self.m, self.logic, self.checks = Module(), FifoLogic(fifo), Checks(True)
        self.start, self.take, self.push, self.pop = (
            Signal(name=name) for name in ("start", "take", "push", "pop")
        )
        self.value = Signal(fifo.bits)
        self.logic.take(self.take)
        self.logic.push(self.push, self.value if fifo.bits else None)
        self.logic.pop(self.pop)
        self.logic.build(self.m, self.start, self.checks)
        self.error = self.checks.build(self.m)


@pytest.mark.every(3)
@pytest.mark.parametrize(("fifo", "kind"), CASES, ids=lambda value: getattr(value, "name", ""))
def test_as_a_queue(fifo: Fifo, kind: Storage) -> None:
    assert storage(fifo) is kind
    rng = random.Random(2)
    bench = Bench(fifo)
    logic, late = bench.logic, 2
    seen: list[int] = []

    async def drive(ctx: Any) -> None:
        for _ in range(3):  # runs: each begins with the initial elements, whatever was there
            ctx.set(bench.start, 1)
            await ctx.tick()
            ctx.set(bench.start, 0)
            queue, places, peak = deque([0] * fifo.initial), fifo.depth - fifo.initial, fifo.initial
            under_way: deque[bool] = deque([False] * late)
            for cycle in range(600):
                eager = 0.9 if cycle // 150 % 2 else 0.3
                assert ctx.get(logic.filled) == bool(queue)
                assert ctx.get(logic.free) == (places > 0)
                assert ctx.get(logic.level) == len(queue)
                if queue and fifo.bits:
                    assert ctx.get(logic.head) == queue[0]
                take = places > 0 and rng.random() < eager
                pop = bool(queue) and rng.random() < 1.1 - eager
                push, value = under_way.popleft(), rng.getrandbits(8)
                under_way.append(take)
                for signal, bit in ((bench.take, take), (bench.push, push), (bench.pop, pop)):
                    ctx.set(signal, bit)
                if fifo.bits:
                    ctx.set(bench.value, value)
                peak = max(peak, fifo.depth - places + take)
                await ctx.delay(1e-10)
                assert ctx.get(logic.peak) == peak
                await ctx.tick()
                places += pop - take
                if pop:
                    queue.popleft()
                if push:
                    queue.append(value if fifo.bits else 0)
            assert ctx.get(bench.error) == 0
            seen.append(peak)
            for signal in (bench.take, bench.push, bench.pop):
                ctx.set(signal, 0)

    simulate(bench.m, drive)
    assert max(seen) == fifo.depth


@pytest.mark.parametrize(
    ("what", "text"),
    [("pop", "an element is popped that is not there"), ("take", "a place is taken that is not free")],
)
def test_faults_are_seen(what: str, text: str) -> None:
    bench = Bench(Fifo("f", 8, 2))

    async def drive(ctx: Any) -> None:
        ctx.set(getattr(bench, what), 1)
        for _ in range(4):
            await ctx.tick()
        assert bench.checks.texts[ctx.get(bench.error) - 1] == f"FIFO f: {text}"

    simulate(bench.m, drive)
