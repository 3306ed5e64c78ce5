# amaranth: UnusedElaboratable=no
"""Memory in place of the DMA's windows: bursts at every pace, and DECERR beside the window."""

from __future__ import annotations

import random
from typing import Any

import pytest
from tests.hw.component_bench import simulate

from axiloom.hw.serial.memory import InputWindow, OutputWindow

BASE, SIZE = 0x16000000, 256


async def lite_write(ctx: Any, lite: Any, address: int, value: int) -> None:
    for name, signal in (("awaddr", address), ("wdata", value), ("awvalid", 1), ("wvalid", 1), ("bready", 1)):
        ctx.set(getattr(lite, name), signal)
    await ctx.tick().until(lite.awready & lite.wready)
    ctx.set(lite.awvalid, 0)
    ctx.set(lite.wvalid, 0)
    await ctx.tick().until(lite.bvalid)


async def lite_read(ctx: Any, lite: Any, address: int) -> int:
    for name, signal in (("araddr", address), ("arvalid", 1), ("rready", 1)):
        ctx.set(getattr(lite, name), signal)
    await ctx.tick().until(lite.arready)
    ctx.set(lite.arvalid, 0)
    *_, value = await ctx.tick().sample(lite.rdata).until(lite.rvalid)
    assert isinstance(value, int)
    return value


@pytest.mark.parametrize("pace", [1.0, 0.5, 0.2])
def test_the_dma_reads_what_the_host_wrote(pace: float) -> None:
    window, rng = InputWindow(BASE, SIZE), random.Random(pace)
    values = [rng.getrandbits(32) for _ in range(SIZE // 4)]
    got: list[tuple[int, int, int]] = []
    bursts = [(0, 16), (16, 1), (17, 2), (40, 24), (63, 1)]

    async def bench(ctx: Any) -> None:
        for i, value in enumerate(values):
            await lite_write(ctx, window.lite, 4 * i, value)
        axi = window.axi
        for first, beats in bursts:
            ctx.set(axi.araddr, BASE + 4 * first)
            ctx.set(axi.arlen, beats - 1)
            ctx.set(axi.arvalid, 1)
            await ctx.tick().until(axi.arready)
            ctx.set(axi.arvalid, 0)
            last = 0
            while not last:
                ready = rng.random() < pace
                ctx.set(axi.rready, ready)
                _, _, valid, data, last, response = await ctx.tick().sample(
                    axi.rvalid, axi.rdata, axi.rlast, axi.rresp
                )
                last = last and valid and ready
                if valid and ready:
                    got.append((data, int(last), response))
            ctx.set(axi.rready, 0)

    simulate(window, bench)
    want = [(values[first + i], int(i == beats - 1), 0) for first, beats in bursts for i in range(beats)]
    assert got == want


@pytest.mark.parametrize("pace", [1.0, 0.4])
def test_the_host_reads_what_the_dma_wrote(pace: float) -> None:
    window, rng = OutputWindow(BASE, SIZE), random.Random(pace)
    got: list[int] = []

    async def bench(ctx: Any) -> None:
        axi = window.axi
        ctx.set(axi.bready, 1)
        for first, data, strobes in [(0, [1, 2, 3, 4], 0xF), (2, [0xAABBCCDD], 0x5), (63, [9], 0xF)]:
            ctx.set(axi.awaddr, BASE + 4 * first)
            ctx.set(axi.awlen, len(data) - 1)
            ctx.set(axi.awvalid, 1)
            await ctx.tick().until(axi.awready)
            ctx.set(axi.awvalid, 0)
            for i, value in enumerate(data):
                while rng.random() >= pace:
                    await ctx.tick()
                for name, signal in (("wdata", value), ("wstrb", strobes), ("wlast", i == len(data) - 1)):
                    ctx.set(getattr(axi, name), signal)
                ctx.set(axi.wvalid, 1)
                await ctx.tick().until(axi.wready)
                ctx.set(axi.wvalid, 0)
            *_, response = await ctx.tick().sample(axi.bresp).until(axi.bvalid)
            assert response == 0
        for word in (0, 1, 2, 3, 63):
            got.append(await lite_read(ctx, window.lite, 4 * word))

    simulate(window, bench)
    assert got == [1, 2, 0x00BB00DD, 4, 9]


@pytest.mark.parametrize("address", [BASE - 4, BASE + SIZE, 0])
def test_beside_the_window_is_nothing(address: int) -> None:
    source, sink = InputWindow(BASE, SIZE), OutputWindow(BASE, SIZE)
    responses: list[int] = []

    async def read(ctx: Any) -> None:
        axi = source.axi
        for name, signal in (("araddr", address), ("arlen", 0), ("arvalid", 1), ("rready", 1)):
            ctx.set(getattr(axi, name), signal)
        *_, response = await ctx.tick().sample(axi.rresp).until(axi.rvalid)
        responses.append(response)

    async def write(ctx: Any) -> None:
        axi = sink.axi
        for name, signal in (("awaddr", address), ("awvalid", 1), ("bready", 1), ("wvalid", 1), ("wlast", 1)):
            ctx.set(getattr(axi, name), signal)
        ctx.set(axi.wstrb, 0xF)
        ctx.set(axi.wdata, 5)
        await ctx.tick().until(axi.awready)
        ctx.set(axi.awvalid, 0)
        *_, response = await ctx.tick().sample(axi.bresp).until(axi.bvalid)
        responses.append(response)
        ctx.set(axi.wvalid, 0)
        responses.append(await lite_read(ctx, sink.lite, address % SIZE))

    simulate(source, read)
    simulate(sink, write)
    assert responses == [3, 3, 0]


def test_a_burst_that_runs_over_the_end() -> None:
    """What lies behind the end is not what lies at the beginning: it is neither read nor written."""
    source, sink = InputWindow(BASE, SIZE), OutputWindow(BASE, SIZE)
    found: list[tuple[int, int]] = []

    async def read(ctx: Any) -> None:
        axi = source.axi
        ctx.set(axi.rready, 1)
        for address, beats in ((BASE + SIZE - 8, 4), (BASE + SIZE - 4, 1), (BASE + SIZE - 4, 140)):
            ctx.set(axi.araddr, address)
            ctx.set(axi.arlen, beats - 1)
            ctx.set(axi.arvalid, 1)
            await ctx.tick().until(axi.arready)
            ctx.set(axi.arvalid, 0)
            for _ in range(beats):
                *_, last, response = await ctx.tick().sample(axi.rlast, axi.rresp).until(axi.rvalid)
                found.append((last, response))

    async def write(ctx: Any) -> None:
        axi = sink.axi
        for name in ("bready", "wvalid"):
            ctx.set(getattr(axi, name), 1)
        ctx.set(axi.wstrb, 0xF)
        for address, beats in ((BASE, 1), (BASE + SIZE - 4, 2), (BASE + SIZE - 4, 1)):
            ctx.set(axi.awaddr, address)
            ctx.set(axi.awvalid, 1)
            await ctx.tick().until(axi.awready)
            ctx.set(axi.awvalid, 0)
            for beat in range(beats):
                ctx.set(axi.wdata, 10 * beats + beat)
                ctx.set(axi.wlast, beat == beats - 1)
                await ctx.tick().until(axi.wready)
            *_, response = await ctx.tick().sample(axi.bresp).until(axi.bvalid)
            found.append((beats, response))
        ctx.set(axi.wvalid, 0)
        for address in (0, SIZE - 4):
            found.append((address, await lite_read(ctx, sink.lite, address)))

    simulate(source, read)
    behind = [(0, 3)] * 138  # as often as the window has words, and more
    assert found == [(0, 0), (0, 0), (0, 3), (1, 3), (1, 0), (0, 0), *behind, (1, 3)]
    found.clear()
    simulate(sink, write)
    assert found == [(1, 0), (2, 3), (1, 0), (0, 10), (SIZE - 4, 10)]


@pytest.mark.parametrize(("address", "size"), [(0, 100), (0, 131072), (16, 64), (0, 32)])
def test_a_window_that_cannot_be(address: int, size: int) -> None:
    with pytest.raises(ValueError, match=r"window (size|address) must be"):
        InputWindow(address, size)
