"""The window buffer against NumPy: any image, stride, dilation and padding, loaded densely and walked
over."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.hw.component_bench import simulate
from tests.hw.conv import window_numbers

from axiloom.hw.array.operand_buffer import BlockEnd
from axiloom.hw.conv.image_buffer import READ_LATENCY, WindowBuffer
from axiloom.hw.conv.image_places import ImageLayout

SLOTS = 256

SIZES = st.fixed_dictionaries(
    {
        "ic": st.integers(1, 3),
        "ih": st.integers(1, 6),
        "iw": st.integers(1, 14),
        "oh": st.integers(1, 3),
        "ow": st.integers(1, 11),
        "fh": st.integers(1, 3),
        "fw": st.integers(1, 4),
        "sh": st.integers(1, 3),
        "sw": st.integers(1, 15),
        "dh": st.integers(1, 3),
        "dw": st.integers(1, 15),
        "pt": st.integers(0, 4),
        "pl": st.integers(0, 20),
    }
).filter(lambda s: s["ic"] * s["ih"] * s["iw"] <= SLOTS)


def image_of(sizes: Mapping[str, int], bits: int, seed: int) -> np.ndarray:
    shape = sizes["ic"], sizes["ih"], sizes["iw"]
    return np.random.default_rng(seed).integers(0, 1 << bits, shape, np.uint64)


def beats_of(image: np.ndarray, bits: int, per_beat: int) -> list[int]:
    elements = [int(element) for element in image.ravel()]
    groups = [elements[at : at + per_beat] for at in range(0, len(elements), per_beat)]
    return [sum(element << bits * place for place, element in enumerate(group)) for group in groups]


def expected_windows(image: np.ndarray, sizes: Mapping[str, int], cols: int) -> list[list[int | None]]:
    """For each block and k the `cols` elements; None to the right of the last output, where it does not
    matter."""
    result = []
    for oh in range(sizes["oh"]):
        for left in range(0, sizes["ow"], cols):
            for c in range(sizes["ic"]):
                for fh in range(sizes["fh"]):
                    for fw in range(sizes["fw"]):
                        y = oh * sizes["sh"] + fh * sizes["dh"] - sizes["pt"]
                        lanes: list[int | None] = []
                        for ow in range(left, left + cols):
                            x = ow * sizes["sw"] + fw * sizes["dw"] - sizes["pl"]
                            inside = 0 <= y < sizes["ih"] and 0 <= x < sizes["iw"]
                            value = int(image[c, y, x]) if inside else 0
                            lanes.append(value if ow < sizes["ow"] else None)
                        result.append(lanes)
    return result


class Bench:
    """One buffer, in Amaranth's simulator."""

    def __init__(self, bits: int, cols: int, stream_width: int, slots: int = SLOTS) -> None:
        self.layout = ImageLayout(bits, cols, stream_width, slots // cols)
        self.buffer = WindowBuffer(self.layout)

    def run(self, bench: Any) -> None:
        simulate(self.buffer, bench)

    async def load(self, ctx: Any, sizes: Mapping[str, int], image: np.ndarray, stall: Any = None) -> int:
        """Loads an image; returns the cycles that it took."""
        buffer, layout, cycles = self.buffer, self.layout, 0
        ctx.set(buffer.tile, window_numbers.tile(sizes, layout.at_once))
        await ctx.tick().repeat(2)  # sizes settle
        beats = beats_of(image, layout.bits, layout.per_beat)
        for index, beat in enumerate(beats):
            while stall is not None and stall.random() < 0.3:
                ctx.set(buffer.load.valid, 0)
                await ctx.tick()
            ctx.set(buffer.load.valid, 1)
            ctx.set(buffer.load_data, beat)
            taken = False
            while not taken:
                taken = ctx.get(buffer.load.ready)
                last = taken and ctx.get(buffer.load.last)
                await ctx.tick()
                cycles += 1
                assert cycles < 10_000
            assert last == (index == len(beats) - 1)
        ctx.set(buffer.load.valid, 0)
        return cycles

    async def walk(
        self, ctx: Any, sizes: Mapping[str, int], half: int, passes: int = 1, pause: Any = None
    ) -> list[list[int]]:
        """All windows, as often as there are `passes`."""
        buffer, layout = self.buffer, self.layout
        ctx.set(buffer.walk, window_numbers.walk(sizes, layout.cols, layout.slot_bits, layout.at_once))
        ctx.set(buffer.start_half, half)
        ctx.set(buffer.start, 1)
        await ctx.tick()
        ctx.set(buffer.start, 0)
        blocks = sizes["oh"] * -(-sizes["ow"] // layout.cols)
        taps = sizes["ic"] * sizes["fh"] * sizes["fw"]
        got: list[list[int]] = []
        due: list[bool] = []

        async def cycle(advance: bool, end: BlockEnd) -> None:
            ctx.set(buffer.advance, advance)
            ctx.set(buffer.block_end, end)
            due.append(advance)
            if len(due) > READ_LATENCY and due[-1 - READ_LATENCY]:
                word = ctx.get(buffer.elements)
                got.append([word >> layout.bits * i & (1 << layout.bits) - 1 for i in range(layout.cols)])
            await ctx.tick()

        for _ in range(passes):
            for block in range(blocks):
                end = BlockEnd.RESTART if block == blocks - 1 else BlockEnd.NEXT
                # As the sequencer: a block takes four cycles at least.
                late = max(4 - taps, 0) or 2 * (pause is not None and pause.random() < 0.3)
                for k in range(taps):
                    await cycle(True, end if k == taps - 1 and not late else BlockEnd.STAY)
                for cycle_late in range(1, late + 1):
                    await cycle(False, end if cycle_late == late else BlockEnd.STAY)
        for _ in range(READ_LATENCY):
            await cycle(False, BlockEnd.STAY)
        return got


def same(got: list[list[int]], expected: list[list[int | None]]) -> bool:
    assert len(got) == len(expected)
    return all(
        want is None or have == want
        for haves, wants in zip(got, expected, strict=True)
        for have, want in zip(haves, wants, strict=True)
    )


@pytest.mark.slow
@settings(max_examples=20)
@given(
    sizes=SIZES,
    other=SIZES,
    bits=st.sampled_from([8, 16, 32]),
    cols=st.sampled_from([1, 2, 4, 8]),
    stream_width=st.sampled_from([32, 64, 128]),
    seed=st.integers(0, 99),
)
def test_any_window(
    sizes: dict[str, int], other: dict[str, int], bits: int, cols: int, stream_width: int, seed: int
) -> None:
    """Two images, one after the other, each walked over twice; the second is of other sizes."""
    bench = Bench(bits, cols, stream_width)
    rng = random.Random(seed)
    first, second = image_of(sizes, bits, seed), image_of(other, bits, seed + 1)

    async def steps(ctx: Any) -> None:
        await bench.load(ctx, sizes, first, rng)
        half = ctx.get(bench.buffer.load.half)
        await bench.load(ctx, other, second, rng)
        assert ctx.get(bench.buffer.load.half) != half
        windows = expected_windows(first, sizes, cols)
        assert same(await bench.walk(ctx, sizes, half, 2, rng), windows * 2)
        assert same(await bench.walk(ctx, other, 1 - half, 1, rng), expected_windows(second, other, cols))

    bench.run(steps)


BASE = dict.fromkeys(("ic", "fh", "fw", "oh", "ow", "sh", "sw", "dh", "dw"), 1) | {"pt": 0, "pl": 0}


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("bits", "stream_width", "sw", "elements_a_cycle"),
    [
        (8, 32, 1, 4),
        (8, 64, 1, 8),
        (8, 128, 1, 8),
        (16, 32, 1, 2),
        (32, 128, 1, 4),
        (8, 32, 2, 2),  # an odd width
        (8, 32, 4, 1),
        (32, 32, 3, 1),
    ],
)
def test_rows_that_are_no_whole_words_are_loaded_without_a_gap(
    bits: int, stream_width: int, sw: int, elements_a_cycle: int
) -> None:
    bench = Bench(bits, 8, stream_width)
    sizes = BASE | {"ic": 3, "ih": 5, "iw": 13, "sw": sw}

    async def steps(ctx: Any) -> None:
        # At strides, three cycles find the first places.
        cycles = await bench.load(ctx, sizes, image_of(sizes, bits, 0))
        assert cycles <= -(-3 * 5 * 13 // elements_a_cycle) + 3 * (sw > 1)

    bench.run(steps)


@pytest.mark.parametrize(
    ("bits", "cols", "stream_width", "iw", "pl"),
    [
        (8, 8, 32, 6, 0),
        (8, 8, 64, 14, 1),
        (8, 4, 64, 8, 2),
        (8, 8, 128, 10, 3),
        (16, 2, 64, 12, 2),
        (16, 4, 64, 12, 2),
        (32, 4, 64, 6, 1),
        (32, 4, 128, 6, 1),
        (8, 16, 128, 18, 1),
    ],
)
def test_even_columns_lie_apart_from_odd_ones(
    bits: int, cols: int, stream_width: int, iw: int, pl: int
) -> None:
    """Half of what comes at once is stored in a cycle; all of it where no tap reads the odd columns. Then
    others, with words that wait, at an odd width and at stride 1."""
    bench = Bench(bits, cols, stream_width)
    sizes = BASE | {"ic": 2, "ih": 5, "iw": iw, "sw": 2, "sh": 2, "oh": 2, "ow": (iw + 1) // 2, "pl": pl}
    sizes |= {"fh": 3, "fw": 3, "pt": 1}
    kinds = [
        sizes,
        sizes | {"fw": 1},
        sizes | {"ic": 1, "iw": iw + 2, "fw": 2, "dw": 3, "pl": pl + 1},
        sizes | {"iw": iw + 1},
        sizes | {"sw": 1},
        sizes | {"ic": 1, "iw": iw + 2, "fw": 1, "fh": 2, "pl": pl + 1},
        sizes | {"ih": 4},
    ]
    images = [image_of(kind, bits, seed) for seed, kind in enumerate(kinds)]
    at_once = -(-images[0].size // bench.layout.at_once)

    async def steps(ctx: Any) -> None:
        rng = random.Random(iw)
        assert await bench.load(ctx, sizes, images[0]) == 2 * at_once
        for number, (kind, image) in enumerate(zip(kinds, images, strict=True)):
            half = ctx.get(bench.buffer.load.half)
            if not number:
                assert await bench.load(ctx, kinds[1], images[1]) == at_once
            elif number + 1 < len(kinds):
                await bench.load(ctx, kinds[number + 1], images[number + 1], rng)
            windows = expected_windows(image, kind, cols)
            assert same(await bench.walk(ctx, kind, half, 2, rng), windows * 2), kind

    bench.run(steps)


@pytest.mark.parametrize("cols", [4, 8])
@pytest.mark.parametrize("sw", [1, 2])
@pytest.mark.parametrize("depth", [32, 31])
def test_a_full_buffer(cols: int, sw: int, depth: int) -> None:
    bench = Bench(8, cols, 32, cols * depth)
    sizes = BASE | {"ic": depth, "ih": 1, "iw": cols, "oh": 1, "ow": cols // sw, "fw": 3, "pl": 1, "sw": sw}
    image = image_of(sizes, 8, 0)

    async def steps(ctx: Any) -> None:
        await bench.load(ctx, sizes, image)
        assert same(await bench.walk(ctx, sizes, 1), expected_windows(image, sizes, cols))

    bench.run(steps)
