# amaranth: UnusedElaboratable=no
"""What a convolution engine works out of the sizes of a tile, against divisions and products in Python."""

from __future__ import annotations

import random
from typing import Any

import pytest
from tests.hw.component_bench import simulate

from axiloom import isa
from axiloom.hw.conv.geometry import ConvGeometry
from axiloom.hw.conv.numbers import ConvNumbers


def expected(d: dict[str, int], geometry: ConvGeometry) -> dict[str, int]:
    """The numbers by name, walks with a dot. What is outside a field's range is cut off there."""
    channel_blocks, row_blocks = -(-d["oc"] // geometry.rows), -(-d["ow"] // geometry.cols)
    left = -d["pl"]
    left_out = geometry.image.skips and d["sw"] == 2 and d["fw"] == 1 and d["iw"] % 2 == 0
    apart = geometry.image.splits and d["sw"] == 2 and d["fw"] != 1 and d["iw"] % 2 == 0
    width = d["iw"] >> (left_out or apart)
    return {
        "last_m": channel_blocks - 1,
        "last_n": d["oh"] * row_blocks - 1,
        "last_k": d["ic"] * d["fh"] * d["fw"] - 1,
        "last_row": min(d["oc"], geometry.rows) - 1,
        "last_oc": d["oc"] - 1,
        "last_lane": (d["ow"] - 1) % geometry.cols,
        "walk.last_c": d["ic"] - 1,
        "walk.last_fh": d["fh"] - 1,
        "walk.last_fw": d["fw"] - 1,
        "walk.last_block": row_blocks - 1,
        "walk.ih": d["ih"],
        "walk.y": -d["pt"],
        "walk.sh": d["sh"],
        "walk.dh": d["dh"],
        "walk.base": -d["pt"] * width,
        "walk.row_step": d["sh"] * width,
        "walk.tap_step": d["dh"] * width,
        "walk.channel_step": d["ih"] * width,
        "walk.sw": d["sw"],
        "walk.splits": apart,
        "walk.whole": d["iw"] // d["sw"],
        "walk.rest": d["iw"] % d["sw"],
        "walk.column": left // d["sw"],
        "walk.phase": 0 if left_out else left % d["sw"],
        "walk.column_step": d["dw"] // d["sw"],
        "walk.phase_step": d["dw"] % d["sw"],
    }


@pytest.mark.parametrize(("data_type", "stream_width", "post"), [("int8", 32, True), ("int32", 64, False)])
def test_numbers_of_any_tile(data_type: str, stream_width: int, post: bool) -> None:
    buffers = {"I": 128, "F": 256, "O": 256, **({"P": 64} if post else {})}
    spec = isa.builtin("conv_v4", data_type=data_type, post=post)
    geometry = ConvGeometry.of(spec.replace(buffers=buffers, stream_width=stream_width, macs=16))
    device = ConvNumbers(geometry)
    rng = random.Random(3)
    fits = {True: 0, False: 0}

    async def settled(ctx: Any) -> None:
        cycles = 0
        while not ctx.get(device.settled):
            assert not ctx.get(device.ready)
            await ctx.tick()
            cycles += 1
            assert cycles < 30
        assert cycles >= 3

    def check(ctx: Any, dims: dict[str, int]) -> None:
        for name, value in expected(dims, geometry).items():
            field: Any = device.numbers
            for part in name.split("."):
                field = field[part]
            width = len(field.as_value() if hasattr(field, "as_value") else field)
            assert ctx.get(field) % (1 << width) == value % (1 << width), name
        assert ctx.get(device.tile.elements) == dims["ic"] * dims["ih"] * dims["iw"] % (
            1 << len(device.tile.elements)
        )
        left_out = dims["fw"] == 1 and dims["sw"] == 2 and dims["iw"] % 2 == 0 and geometry.image.skips
        assert ctx.get(device.tile.skips) == left_out
        assert ctx.get(device.tile.odd) == (dims["pl"] % dims["sw"] > 0)
        apart = dims["fw"] != 1 and dims["sw"] == 2 and dims["iw"] % 2 == 0 and geometry.image.splits
        assert ctx.get(device.tile.splits) == apart
        assert ctx.get(device.tile.sw) == (1 if left_out or apart else dims["sw"])
        beat = stream_width // spec.data_type.bits
        k = dims["ic"] * dims["fh"] * dims["fw"]
        assert ctx.get(device.k) == -(-k // beat) * beat % (1 << len(device.k))

    async def bench(ctx: Any) -> None:
        await settled(ctx)  # after reset, for the sizes of the specification
        await ctx.tick()
        assert ctx.get(device.ready)
        ones = dict.fromkeys(geometry.dims, 1)
        full = [
            ones | {"ih": 2, "iw": geometry.elements // 2},
            ones | {"ic": geometry.filters.depth * geometry.filters.per_word},
            ones | {"oh": geometry.o_depth // geometry.rows},
            ones | {"oc": max(1, geometry.channels)},
        ]
        for number in range(60):
            dims = {
                name: rng.randrange(min(1 << bits, (4, 12, 1 << 16)[number % 3]))
                for name, (bits, _) in geometry.dims.items()
            }
            if number % 4 == 1:  # columns may be left out, or lie apart
                dims |= {"fw": 1 + number // 4 % 2, "sw": 2, "iw": max(2, dims["iw"] & ~1)}
            if full:
                dims = full.pop()
            zeros = [name for name in geometry.positive if not dims[name]]
            if number % 5:
                dims |= dict.fromkeys(zeros, 1)
                zeros = []
            for name, value in dims.items():
                ctx.set(device.dims[name], value)
            ctx.set(device.set, 1)
            await ctx.tick()
            ctx.set(device.set, 0)
            if number % 7 == 0:  # set again in the middle
                for _ in range(rng.randrange(12)):
                    await ctx.tick()
                ctx.set(device.set, 1)
                await ctx.tick()
                ctx.set(device.set, 0)
            await settled(ctx)
            assert ctx.get(device.sound) == (not zeros)
            await ctx.tick()
            assert ctx.get(device.ready)
            if zeros:
                continue
            words = dims["ic"] * dims["fh"] * dims["fw"]
            beats = -(-words * spec.data_type.bits // stream_width)
            blocks = -(-dims["oc"] // geometry.rows)
            wanted = {
                "I": dims["ic"] * dims["ih"] * dims["iw"] <= geometry.elements,
                "F": beats * blocks <= geometry.filters.depth,
                "O": blocks * dims["oh"] * -(-dims["ow"] // geometry.cols)
                <= geometry.o_depth // geometry.rows,
                **({"P": dims["oc"] <= geometry.channels} if post else {}),
            }
            for operand, fit in wanted.items():
                assert ctx.get(device.fits[operand]) == fit, (operand, dims)
                fits[fit] += 1
            check(ctx, dims)

    simulate(device, bench)
    assert min(fits.values()) > 10
