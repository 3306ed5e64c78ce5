# amaranth: UnusedElaboratable=no
"""A slave that takes an address first and its data later gets each write once."""

from __future__ import annotations

from typing import Any

from tests.hw.component_bench import simulate

from axiloom.hw.axi.lite import LiteHandOver


def test_an_address_then_its_data_as_hls_takes_them() -> None:
    device = LiteHandOver(8)
    i, o = device.i, device.o
    seen: list[tuple[int, int]] = []

    async def slave(ctx: Any) -> None:
        while True:
            ctx.set(o.awready, 1)
            while True:
                _, _, valid, address = await ctx.tick().sample(o.awvalid, o.awaddr)
                if valid:
                    break
            ctx.set(o.awready, 0)
            await ctx.tick()
            ctx.set(o.wready, 1)
            while True:
                _, _, valid, data = await ctx.tick().sample(o.wvalid, o.wdata)
                if valid:
                    break
            ctx.set(o.wready, 0)
            seen.append((address, data))
            ctx.set(o.bvalid, 1)
            while not (await ctx.tick().sample(o.bready))[2]:
                pass
            ctx.set(o.bvalid, 0)

    async def master(ctx: Any) -> None:
        for address, data in ((0x10, 7), (0x18, 9), (0x00, 1)):
            ctx.set(i.awaddr, address)
            ctx.set(i.wdata, data)
            ctx.set(i.awvalid, 1)
            ctx.set(i.wvalid, 1)
            while not (await ctx.tick().sample(i.awready))[2]:
                pass
            ctx.set(i.awvalid, 0)
            ctx.set(i.wvalid, 0)
            ctx.set(i.bready, 1)
            while not (await ctx.tick().sample(i.bvalid))[2]:
                pass
            ctx.set(i.bready, 0)

    simulate(device, master, models=[slave])
    assert seen == [(0x10, 7), (0x18, 9), (0x00, 1)]
