# amaranth: UnusedElaboratable=no
"""The places of an image's elements, one step and two steps at a time, against x // sw and x % sw."""

from __future__ import annotations

import random
from typing import Any

from amaranth.hdl import Module, Signal
from tests.hw.component_bench import simulate

from axiloom.hw.conv.image_places import ImageLayout, one_step, place_layout, place_sizes, two_steps

LAYOUT = ImageLayout(bits=8, cols=4, stream_width=32, depth=64)


def place(x: int, y: int, iw: int, sw: int) -> dict[str, int]:
    """Rows one behind the other; in a row, phase x % sw behind phase, in each from left to right."""
    lengths = [-(-(iw - phase) // sw) if phase < iw else 0 for phase in range(sw)]
    phase, row = x % sw, y * iw
    return {
        "right": iw - 1 - x,
        "phase": phase,
        "row": row,
        "in_phase_0": row + x // sw,
        "slot": row + sum(lengths[:phase]) + x // sw,
        "row_ends": x == iw - 1,
        "row_ends_next": x == iw - 2,
        "turns": phase == sw - 1,
    }


def test_steps_lead_to_the_places_of_the_next_elements() -> None:
    rng = random.Random(1)
    m = Module()
    tile, at = Signal(LAYOUT.tile), Signal(place_layout(LAYOUT))
    sizes = place_sizes(m, LAYOUT, tile)
    behind, beyond = one_step(m, at, sizes), two_steps(m, at, sizes)
    moves, twice = Signal(), Signal()
    with m.If(moves):
        m.d.sync += at.eq(beyond)
        with m.If(~twice):
            m.d.sync += at.eq(behind)
    checked = {1: 0, 2: 0}

    async def main(ctx: Any) -> None:
        for _ in range(40):
            sw = rng.randrange(2, 8)
            iw, ih = rng.randrange(1, 3 * sw), 3
            for name, value in (("iw", iw), ("sw", sw), ("whole", iw // sw), ("rest", iw % sw)):
                ctx.set(tile[name], value)
            await ctx.tick()
            ctx.set(at, ctx.get(sizes.first))
            number = 0
            while number < iw * ih:
                y, x = divmod(number, iw)
                expected = place(x, y, iw, sw)
                # What lies in no row any more is not looked at.
                found = {name: ctx.get(at[name]) for name in expected}
                if found["row_ends"]:  # where the row ends, it does not matter whether a phase would
                    expected["turns"] = found["turns"]
                assert found == expected, (iw, sw, x, y)
                steps = rng.choice((1, 2))
                ctx.set(moves, 1)
                ctx.set(twice, steps == 2)
                await ctx.tick()
                ctx.set(moves, 0)
                checked[steps] += 1
                number += steps

    simulate(m, main)
    assert min(checked.values()) > 200


def test_the_widths_hold_every_number() -> None:
    layout = ImageLayout(bits=8, cols=8, stream_width=64, depth=100, size_bits=8, pad_bits=4)
    assert (layout.per_beat, layout.at_once, layout.slots, layout.slot_bits) == (8, 8, 800, 10)
    assert ImageLayout(bits=32, cols=8, stream_width=64, depth=1).at_once == 2
    tile = layout.tile
    assert tile["elements"].width >= (800).bit_length()
    rightmost = (1 << 8) - 1 + 8 + ((1 << 5) - 1) * ((1 << 4) - 1)
    assert layout.column_bits > rightmost.bit_length()
    lowest = ((1 << 8) - 1) * ((1 << 4) - 1) + ((1 << 5) - 1) * ((1 << 4) - 1)
    assert layout.row_bits > lowest.bit_length()
