# amaranth: UnusedElaboratable=no
"""Several masters and slaves on one bus: each gets its own answers, each is served in turn."""

from __future__ import annotations

import random
from collections import deque
from typing import Any

import pytest
from tests.hw.component_bench import simulate
from tests.hw.dma.dma_bench import DECERR, Bench, Burst, Timing

from axiloom.hw.axi.interconnect import MAX_BURSTS, PAGE_BITS, LiteDecoder, ReadArbiter, WriteArbiter

STALLS = Timing(latency=7, stall=0.3)
PAGES = (0x4040, 0x4000, 0x0001)


@pytest.mark.parametrize("seed", range(3))
def test_an_access_reaches_the_slave_of_its_page_and_no_other(seed: int) -> None:
    """Each slave answers at its own pace, with what only it would say; nobody's pages answer DECERR."""
    rng = random.Random(seed)
    device = LiteDecoder(PAGES, 12)
    bus = device.bus
    seen: list[tuple[Any, ...]] = []
    results: list[tuple[Any, ...]] = []
    wanted: list[tuple[Any, ...]] = []
    wanted_seen: list[tuple[Any, ...]] = []

    def slave(number: int) -> list[Any]:
        port = getattr(device, f"slave{number}")

        async def writes(ctx: Any) -> None:
            while True:
                ready = rng.random() < 0.4
                ctx.set(port.awready, ready)
                ctx.set(port.wready, ready)
                _, _, aw, w, address, word = await ctx.tick().sample(
                    port.awvalid, port.wvalid, port.awaddr, port.wdata
                )
                assert aw == w
                if not (aw and ready):
                    continue
                seen.append(("write", number, address, word))
                ctx.set(port.awready, 0)
                ctx.set(port.wready, 0)
                for _ in range(rng.randrange(4)):
                    await ctx.tick()
                ctx.set(port.bvalid, 1)
                ctx.set(port.bresp, number & 2)
                while not (await ctx.tick().sample(port.bready))[2]:
                    pass
                ctx.set(port.bvalid, 0)

        async def reads(ctx: Any) -> None:
            while True:
                ready = rng.random() < 0.4
                ctx.set(port.arready, ready)
                _, _, valid, address = await ctx.tick().sample(port.arvalid, port.araddr)
                if not (valid and ready):
                    continue
                seen.append(("read", number, address))
                ctx.set(port.arready, 0)
                for _ in range(rng.randrange(4)):
                    await ctx.tick()
                ctx.set(port.rvalid, 1)
                ctx.set(port.rdata, number << 16 | address)
                while not (await ctx.tick().sample(port.rready))[2]:
                    pass
                ctx.set(port.rvalid, 0)

        return [writes, reads]

    async def main(ctx: Any) -> None:
        for _ in range(80):
            page = rng.choice((*PAGES, 0x4041, 0x0000, 0x8001))
            number = PAGES.index(page) if page in PAGES else None
            offset, word = rng.randrange(0, 1 << 12, 4), rng.getrandbits(32)
            address = page << PAGE_BITS | offset
            for _ in range(rng.randrange(3)):
                await ctx.tick()
            if rng.random() < 0.5:
                for name, value in (("awaddr", address), ("wdata", word), ("awvalid", 1), ("wvalid", 1)):
                    ctx.set(getattr(bus, name), value)
                while not (await ctx.tick().sample(bus.awready))[2]:
                    pass
                ctx.set(bus.awvalid, 0)
                ctx.set(bus.wvalid, 0)
                results.append(await answer(ctx, "b", bus.bresp))
                wanted.append((DECERR,) if number is None else (number & 2,))
                wanted_seen.extend([] if number is None else [("write", number, offset, word)])
            else:
                ctx.set(bus.araddr, address)
                ctx.set(bus.arvalid, 1)
                while not (await ctx.tick().sample(bus.arready))[2]:
                    pass
                ctx.set(bus.arvalid, 0)
                results.append(await answer(ctx, "r", bus.rresp, bus.rdata))
                wanted.append((DECERR, 0) if number is None else (0, number << 16 | offset))
                wanted_seen.extend([] if number is None else [("read", number, offset)])

    async def answer(ctx: Any, channel: str, *values: Any) -> tuple[Any, ...]:
        valid, ready = getattr(bus, f"{channel}valid"), getattr(bus, f"{channel}ready")
        while True:
            takes = rng.random() < 0.5
            ctx.set(ready, takes)
            _, _, there, *what = await ctx.tick().sample(valid, *values)
            if there and takes:
                ctx.set(ready, 0)
                return tuple(what)

    simulate(device, main, models=[model for number in range(len(PAGES)) for model in slave(number)])
    assert results == wanted
    assert seen == wanted_seen


@pytest.mark.parametrize("masters", [2, 3, 5])
def test_each_master_gets_the_words_that_it_asked_for(masters: int) -> None:
    device = ReadArbiter(masters, 32)
    bench = Bench(device, STALLS, seed=masters)
    bench.memory[:] = range(bench.memory.size)
    rng = bench.random
    got: list[list[int]] = [[] for _ in range(masters)]
    asked: list[list[int]] = [[] for _ in range(masters)]

    def master(number: int) -> Any:
        port = getattr(device, f"master{number}")

        async def main(ctx: Any) -> None:
            ctx.set(port.rready, 1)
            for name, value in (("arsize", 2), ("arburst", 1)):
                ctx.set(getattr(port, name), value)
            left = 12
            offering = False
            while left or len(got[number]) < len(asked[number]):
                if left and not offering and rng.random() < 0.5:
                    address, beats = rng.randrange(0x4000) * 64, rng.randrange(1, 17)
                    address %= bench.memory.size * 4
                    asked[number] += range(address // 4, address // 4 + beats)
                    ctx.set(port.araddr, address)
                    ctx.set(port.arlen, beats - 1)
                    ctx.set(port.arvalid, 1)
                    offering, left = True, left - 1
                _, _, ready, valid, word = await ctx.tick().sample(port.arready, port.rvalid, port.rdata)
                if offering and ready:
                    ctx.set(port.arvalid, 0)
                    offering = False
                if valid:
                    got[number].append(word)

        return main

    simulate(
        device,
        *(master(number) for number in range(masters)),
        models=[bench.count, bench._read_channel(device.bus, 4, bench.reads)],
    )
    assert got == asked


@pytest.mark.every(3)
@pytest.mark.parametrize("masters", [2, 3, 5])
def test_the_words_of_each_master_go_where_it_says(masters: int) -> None:
    device = WriteArbiter(masters, 32)
    bench = Bench(device, STALLS, seed=masters, errors={0x3F: 2})
    rng = bench.random
    wanted: dict[int, int] = {}
    responses: list[list[int]] = [[] for _ in range(masters)]
    expected: list[list[int]] = [[] for _ in range(masters)]

    def master(number: int) -> Any:
        port = getattr(device, f"master{number}")

        async def main(ctx: Any) -> None:
            for name, value in (("awsize", 2), ("awburst", 1), ("wstrb", 15)):
                ctx.set(getattr(port, name), value)
            address_due: deque[Burst] = deque()
            words: deque[tuple[int, bool]] = deque()
            for burst in range(12):
                beats = rng.randrange(1, 17)
                address = (number * 12 + burst) * 64 if rng.random() < 0.8 else 0x3F000
                address_due.append(Burst(address, beats, 0))
                expected[number].append(2 if address == 0x3F000 else 0)
                for beat in range(beats):
                    words.append((rng.getrandbits(32), beat == beats - 1))
                    if address != 0x3F000:
                        wanted[address // 4 + beat] = words[-1][0]
            while len(responses[number]) < 12:
                ctx.set(port.awvalid, bool(address_due))
                ctx.set(port.wvalid, bool(words))
                if address_due:
                    ctx.set(port.awaddr, address_due[0].address)
                    ctx.set(port.awlen, address_due[0].beats - 1)
                if words:
                    ctx.set(port.wdata, words[0][0])
                    ctx.set(port.wlast, words[0][1])
                takes = rng.random() < 0.6
                ctx.set(port.bready, takes)
                _, _, aw, w, b, response = await ctx.tick().sample(
                    port.awready, port.wready, port.bvalid, port.bresp
                )
                if aw:
                    address_due.popleft()
                if w:
                    words.popleft()
                if b and takes:
                    responses[number].append(response)

        return main

    simulate(
        device,
        *(master(number) for number in range(masters)),
        models=[bench.count, bench._write_channel(device.bus, 4, bench.writes)],
    )
    assert responses == expected
    assert {place: bench.memory[place] for place in wanted} == wanted


@pytest.mark.parametrize("arbiter", [ReadArbiter, WriteArbiter])
def test_who_asks_all_the_time_is_served_in_turn(arbiter: type) -> None:
    """And nobody is served out of turn while others wait; who does not ask is passed over."""
    dut = arbiter(3, 32)
    channel = "ar" if arbiter is ReadArbiter else "aw"
    masters = [dut.master0, dut.master1, dut.master2]
    grants: list[int] = []

    async def main(ctx: Any) -> None:
        for master in masters:
            ctx.set(getattr(master, f"{channel}valid"), 1)
        for cycle in range(40):
            if cycle == 8:
                ctx.set(getattr(dut.master1, f"{channel}valid"), 0)
            ctx.set(getattr(dut.bus, f"{channel}ready"), cycle % 3 != 0)
            sampled = await ctx.tick().sample(*(getattr(m, f"{channel}ready") for m in masters))
            granted = [i for i, ready in enumerate(sampled[2:]) if ready]
            assert len(granted) <= 1
            grants.extend(granted)

    simulate(dut, main)
    assert len(grants) == MAX_BURSTS  # nobody answers, so then it is full
    begin = grants.index(1)
    assert grants[begin : begin + 4] == [1, 2, 0, 1]
    assert grants[-6:] in ([0, 2] * 3, [2, 0] * 3)
