# amaranth: UnusedElaboratable=no
"""Registers in direct register mode: AXI4-Lite at any pace, and every bit against a model in Python."""

from __future__ import annotations

import random
from typing import Any

import pytest
from amaranth.hdl import Array, Const, Module, ResetInserter, Signal
from tests.hw.component_bench import simulate

from axiloom.hw.dma.registers import ChannelRegisters, LiteSlave

RUN, IOC, ERROR = 1, 1 << 12, 1 << 14


@pytest.mark.parametrize("seed", range(3))
def test_each_access_is_one_strobe_and_one_answer(seed: int) -> None:
    """Address and data of a write may come apart, and answers may wait."""
    rng = random.Random(seed)
    device = LiteSlave(6)
    bus = device.bus
    registers = [rng.getrandbits(32) for _ in range(16)]
    written: list[tuple[int, int]] = []
    wanted: list[tuple[int, int]] = []
    expected: list[int] = []
    answers: list[int] = []

    m = Module()
    m.submodules.device = device
    m.d.comb += device.read_data.eq(Array(Const(word, 32) for word in registers)[device.read_index])

    async def strobes(ctx: Any) -> None:
        while True:
            _, _, strobe, index, word = await ctx.tick().sample(
                device.write, device.write_index, device.write_data
            )
            if strobe:
                written.append((index, word))

    async def writes(ctx: Any) -> None:
        for _ in range(60):
            index, word = rng.randrange(16), rng.getrandbits(32)
            wanted.append((index, word))
            sides = {"aw": {"awaddr": 4 * index + rng.randrange(4)}, "w": {"wdata": word}}
            due = {side: rng.randrange(4) for side in sides}
            for cycle in range(5):
                for side, values in sides.items():
                    if due[side] == cycle:
                        for name, value in values.items():
                            ctx.set(getattr(bus, name), value)
                        ctx.set(getattr(bus, f"{side}valid"), 1)
                if cycle == max(due.values()):
                    break
                assert not ctx.get(bus.awready)
                assert not ctx.get(bus.wready)
                await ctx.tick()
            while not ctx.get(bus.awready):
                await ctx.tick()
            assert ctx.get(bus.wready)
            await ctx.tick()
            ctx.set(bus.awvalid, 0)
            ctx.set(bus.wvalid, 0)

    async def write_answers(ctx: Any) -> None:
        taken = 0
        while taken < 60:
            ready = rng.random() < 0.5
            ctx.set(bus.bready, ready)
            _, _, valid = await ctx.tick().sample(bus.bvalid)
            taken += valid and ready
            assert taken <= len(written)

    async def reads(ctx: Any) -> None:
        for _ in range(60):
            index = rng.randrange(16)
            ctx.set(bus.araddr, 4 * index)
            ctx.set(bus.arvalid, 1)
            expected.append(registers[index])
            _, _, ready = await ctx.tick().sample(bus.arready)
            while not ready:
                _, _, ready = await ctx.tick().sample(bus.arready)
            ctx.set(bus.arvalid, 0)
            await ctx.tick().repeat(rng.choice((1, 3)))

    async def read_answers(ctx: Any) -> None:
        held = None
        while len(answers) < 60:
            ready = rng.random() < 0.5
            ctx.set(bus.rready, ready)
            _, _, valid, word = await ctx.tick().sample(bus.rvalid, bus.rdata)
            assert held in (None, (1, word))
            held = (valid, word) if valid and not ready else None
            if valid and ready:
                answers.append(word)

    simulate(m, write_answers, read_answers, writes, reads, models=[strobes])
    assert answers == expected
    assert written == wanted


class Model:
    """A channel's registers, a cycle at a time, from the pages of PG021."""

    def __init__(self, width: int, alignment: int, min_length: int, reports: bool) -> None:
        self.mask, self.alignment, self.min, self.reports = (1 << width) - 1, alignment, min_length, reports
        self.run, self.enables, self.threshold, self.delay = 0, 0, 1, 0
        self.address = self.length = 0
        self.idle, self.start, self.refused = False, False, False
        self.errors = 0
        self.irqs = 0

    def status(self, active: bool) -> int:
        halted = not self.run and not (self.start or active)
        return halted | (self.idle and not halted) << 1 | self.errors << 4 | self.irqs

    def control(self) -> int:
        return self.run | 2 | self.enables | self.threshold << 16 | self.delay << 24

    def introut(self) -> bool:
        return bool(self.irqs & self.enables)

    def cycle(self, write: str, word: int, active: bool, events: dict[str, int]) -> None:
        busy = self.start or active
        halted = not self.run and not busy
        stopped = self.errors or self.refused
        new = word & self.mask
        start = refused = False
        if write == "length" and not busy:
            self.length = new
            if self.run and not stopped and new:
                refused = bool(self.address % self.alignment) or new < self.min
                start = not refused
        if write == "control":
            self.run, self.enables, self.delay = word & 1, word & 0x7000, word >> 24
            self.threshold = word >> 16 & 0xFF or self.threshold
        if write == "status":
            self.irqs &= ~word
        if write == "address":
            self.address = word
        if halted or self.start:
            self.idle = False
        if events["done"]:
            self.idle = True
            self.irqs |= IOC
            if self.reports:
                self.length = events["received"]
        if stopped:
            self.run = 0
        for bit, causes in enumerate(
            (events["overflow"] or self.refused, events["slave_error"], events["decode_error"])
        ):
            if causes:
                self.errors |= 1 << bit
                self.irqs |= ERROR
        self.start, self.refused = start, refused


@pytest.mark.every(3)
@pytest.mark.parametrize("reports", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_every_bit_is_as_the_model_says(seed: int, reports: bool) -> None:
    rng = random.Random(seed)
    device = ChannelRegisters(10, alignment=4, min_length=4, reports_length=reports)
    model = Model(10, 4, 4, reports)
    starts = 0

    async def bench(ctx: Any) -> None:
        nonlocal starts
        active = False
        for cycle in range(3000):
            if cycle % 100 == 0:  # an error stays: begin anew
                await reset(ctx)
                active = False
            write = rng.choice(("control", "status", "address", "length", "length", "", "", ""))
            word = rng.getrandbits(32)
            if write == "control" and rng.random() < 0.8:
                word |= RUN
            if write == "address" and rng.random() < 0.8:
                word &= ~3
            if write == "length" and rng.random() < 0.2:
                word &= ~0x3FF
            for name in ("control", "status", "address", "length"):
                ctx.set(getattr(device, f"write_{name}"), write == name)
            ctx.set(device.write_data, word)
            done = active and rng.random() < 0.2
            events = {
                "done": done,
                "received": rng.getrandbits(10),
                **{name: rng.random() < 0.002 for name in ("overflow", "slave_error", "decode_error")},
            }
            for name, value in events.items():
                of = device if name in ("received", "overflow") else device.mover
                ctx.set(getattr(of, name), value)
            ctx.set(device.mover.active, active)
            assert ctx.get(device.control) == model.control()
            assert ctx.get(device.status) == model.status(active)
            assert ctx.get(device.introut) == model.introut()
            assert ctx.get(device.command.start) == model.start
            assert (ctx.get(device.command.address), ctx.get(device.command.length)) == (
                model.address,
                model.length,
            )
            starts += model.start
            began = model.start
            model.cycle(write, word, active, events)
            active = (active and not done) or began
            await ctx.tick()

    async def reset(ctx: Any) -> None:
        """By its own means there is none: the DMA resets the whole of it."""
        nonlocal model
        if model.errors:
            ctx.set(rst, 1)
            await ctx.tick()
            ctx.set(rst, 0)
            model = Model(10, 4, 4, reports)

    rst = Signal()
    simulate(ResetInserter(rst)(device), bench)
    assert starts > 20
