# amaranth: UnusedElaboratable=no
"""What a convolution engine works out of the sizes of a tile, against divisions and products in Python."""

from __future__ import annotations

import random
from typing import Any

import pytest
from tests.hw.component_bench import simulate
from tests.hw.conv import window_numbers

from axiloom import isa
from axiloom.hw.conv.geometry import ConvGeometry
from axiloom.hw.conv.numbers import ConvNumbers


def expected(d: dict[str, int], geometry: ConvGeometry) -> dict[str, int]:
    """The numbers by name, walks with a dot. What is outside a field's range is cut off there."""
    image = geometry.image
    walk = window_numbers.walk(d, geometry.cols, image.slot_bits, image.at_once)
    return {
        "last_m": -(-d["oc"] // geometry.rows) - 1,
        "last_n": d["oh"] * -(-d["ow"] // geometry.cols) - 1,
        "last_k": d["ic"] * d["fh"] * d["fw"] - 1,
        "last_row": min(d["oc"], geometry.rows) - 1,
        "last_oc": d["oc"] - 1,
        "last_lane": (d["ow"] - 1) % geometry.cols,
        **{f"walk.{name}": value for name, value in walk.items()},
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
        for name, value in window_numbers.tile(dims, geometry.image.at_once).items():
            field = device.tile[name]
            assert ctx.get(field) == value % (1 << len(field)), name
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
