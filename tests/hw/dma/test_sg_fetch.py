# amaranth: UnusedElaboratable=no
"""Descriptors fetched ahead: in the order of the chain, wherever it leads, and none behind the tail."""

from __future__ import annotations

import random
from collections import deque
from typing import Any

import pytest
from amaranth.hdl import Module, Signal
from tests.hw.component_bench import simulate

from axiloom.hw.dma.sg_fetch import DEPTH, DescriptorFetch

FIELDS = ("index", "address", "stride", "rows", "length", "last", "misfit", "stale")
PAGE = 4096 // 64


class Memory:
    """Descriptors by index, eight words each, and the port to them: answers in order, after a while."""

    def __init__(self, device: DescriptorFetch, rng: random.Random) -> None:
        self.device, self.rng = device, rng
        self.free = Signal()
        self.words: dict[int, list[int]] = {}
        self.asked: list[int] = []
        self.errors: dict[int, int] = {}

    def put(self, index: int, following: int, **fields: int) -> dict[str, int]:
        """A descriptor with random fields; returns what the fetch should say of it."""
        rng = self.rng
        said = {
            "index": index,
            "address": rng.getrandbits(30) << 2 | (rng.random() < 0.1),
            "stride": rng.getrandbits(17) << 2 | (rng.random() < 0.1),
            "rows": rng.choice((0, rng.getrandbits(13))),
            "length": rng.getrandbits(24) << 2 | (rng.random() < 0.1),
            "last": rng.getrandbits(1),
            "stale": rng.random() < 0.1,
        } | fields
        rows = bool(said["rows"])
        unaligned = said["address"] % 4 or (rows and (said["stride"] % 4 or said["length"] % 4))
        said["misfit"] = bool(said["length"] < 4 or unaligned)
        noise = [rng.getrandbits(32) for _ in range(8)]
        self.words[index] = [
            following << 6,
            noise[1],
            said["address"],
            noise[3],
            said["rows"] << 19 | said["stride"],
            noise[5],
            noise[6] & 0xF800_0000 | said["last"] << 26 | said["length"],
            int(said["stale"]) << 31 | noise[7] >> 1,
        ]
        return said

    def around(self) -> Module:
        """The device, whose requests are granted in the cycle in which they are made, as the port does."""
        m = Module()
        m.submodules.device = self.device
        m.d.comb += self.device.read_granted.eq(self.device.read & self.free)
        return m

    async def port(self, ctx: Any) -> None:
        device, rng = self.device, self.rng
        beats: deque[tuple[int, int, int]] = deque()
        cycle = 0
        while True:
            ctx.set(self.free, rng.random() < 0.7)
            answers = bool(beats) and beats[0][0] <= cycle and rng.random() < 0.8
            ctx.set(device.beat, answers)
            if answers:
                _, data, response = beats.popleft()
                ctx.set(device.data, data)
                ctx.set(device.read_response, response)
            _, _, granted, address = await ctx.tick().sample(device.read_granted, device.read_address)
            cycle += 1
            if granted:
                self.asked.append(address >> 6)
                words = self.words.get(address >> 6, [0xFFFF_FFFF] * 8)
                for low, high in zip(words[::2], words[1::2], strict=True):
                    beats.append((cycle + 12, low | high << 32, self.errors.get(address >> 6, 0)))


def chain(rng: random.Random, length: int) -> list[int]:
    """Places that mostly lie behind each other."""
    places, used = [], set()
    place = 1000
    while len(places) < length:
        if place not in used:
            places.append(place)
            used.add(place)
        place = place + 1 if rng.random() < 0.7 else rng.randrange(900, 1200)
    return places


async def begin(ctx: Any, device: DescriptorFetch, first: int, tail: int) -> None:
    ctx.set(device.first, first)
    ctx.set(device.load, 1)
    await ctx.tick()
    ctx.set(device.load, 0)
    await go(ctx, device, tail)


async def go(ctx: Any, device: DescriptorFetch, tail: int) -> None:
    ctx.set(device.tail, tail)
    ctx.set(device.go, 1)
    await ctx.tick()
    ctx.set(device.go, 0)


async def taken(ctx: Any, device: DescriptorFetch) -> dict[str, int]:
    while not ctx.get(device.valid):
        await ctx.tick()
    said = {name: ctx.get(device.descriptor[name]) for name in FIELDS}
    ctx.set(device.take, 1)
    await ctx.tick()
    ctx.set(device.take, 0)
    return said


@pytest.mark.every(3)
@pytest.mark.parametrize("seed", range(6))
def test_a_chain_is_followed_wherever_it_leads(seed: int) -> None:
    """In pieces: the tail moves on while the descriptors before it are fetched, or after they are."""
    rng = random.Random(seed)
    device = DescriptorFetch(32, min_length=4)
    memory = Memory(device, rng)
    places = chain(rng, 50)
    expected = [memory.put(place, after) for place, after in zip(places, [*places[1:], 5], strict=True)]

    async def main(ctx: Any) -> None:
        got: list[dict[str, int]] = []
        ends = [*sorted(rng.sample(range(5, 49), 4)), 49]
        await begin(ctx, device, places[0], places[ends[0]])
        for end, following in zip(ends, [*ends[1:], None], strict=True):
            while len(got) <= end - rng.randrange(5):
                got.append(await taken(ctx, device))
                for _ in range(rng.choice((0, 0, 30))):
                    await ctx.tick()
            if following is not None:
                await go(ctx, device, places[following])
        while len(got) < 50:
            got.append(await taken(ctx, device))
        assert got == expected
        for _ in range(200):
            assert not ctx.get(device.valid), "nothing behind the tail"
            await ctx.tick()
        assert ctx.get(device.empty)
        assert ctx.get(device.quiet)

    simulate(memory.around(), main, models=[memory.port])
    # What is assumed does not leave the page of what is certain.
    for place in set(memory.asked) - set(places):
        assert place % PAGE, "the first of a page is asked for only if NXTDESC says so"


def test_no_more_are_fetched_than_there_are_places_for() -> None:
    device = DescriptorFetch(32)
    memory = Memory(device, random.Random(1))
    for place in range(100, 150):
        memory.put(place, place + 1)

    async def main(ctx: Any) -> None:
        await begin(ctx, device, 100, 149)
        for _ in range(400):
            await ctx.tick()
        assert ctx.get(device.quiet)
        assert not ctx.get(device.empty)
        assert memory.asked == list(range(100, 100 + DEPTH))
        await taken(ctx, device)
        for _ in range(100):
            await ctx.tick()
        assert len(memory.asked) == DEPTH + 1

    simulate(memory.around(), main, models=[memory.port])


def test_a_flush_forgets_what_was_fetched_and_is_being_fetched() -> None:
    """In whichever cycle it comes."""
    device = DescriptorFetch(32, min_length=4)
    memory = Memory(device, random.Random(1))
    for place in range(100, 130):
        memory.put(place, place + 1)
    other = [memory.put(place, place + 1) for place in range(200, 210)]

    async def main(ctx: Any) -> None:
        for wait in range(60):
            await begin(ctx, device, 100, 129)
            for _ in range(wait):
                await ctx.tick()
            ctx.set(device.flush, 1)
            await ctx.tick()
            ctx.set(device.flush, 0)
            await begin(ctx, device, 200, 209)
            assert [await taken(ctx, device) for _ in other] == other, wait

    simulate(memory.around(), main, models=[memory.port])


@pytest.mark.parametrize(("response", "names"), [(2, (1, 0)), (3, (0, 1))])
def test_a_descriptor_that_could_not_be_read_says_so(response: int, names: tuple[int, int]) -> None:
    device = DescriptorFetch(32)
    memory = Memory(device, random.Random(2))
    for place in range(100, 103):
        memory.put(place, place + 1)
    memory.errors[101] = response

    async def main(ctx: Any) -> None:
        await begin(ctx, device, 100, 102)
        for number in range(2):
            while not ctx.get(device.valid):
                await ctx.tick()
            descriptor = device.descriptor
            found = ctx.get(descriptor.slave_error), ctx.get(descriptor.decode_error)
            assert found == (names if number else (0, 0))
            await taken(ctx, device)

    simulate(memory.around(), main, models=[memory.port])


async def ask(ctx: Any, device: DescriptorFetch, until: int) -> None:
    """As a write of AHEADDESC: `first` is what is written, `until` has it a cycle later."""
    ctx.set(device.first, until)
    ctx.set(device.ask, 1)
    await ctx.tick()
    ctx.set(device.ask, 0)
    ctx.set(device.until, until)


async def go_or_meet(ctx: Any, device: DescriptorFetch, tail: int) -> None:
    ctx.set(device.meets, ctx.get(device.until) == tail)
    await go(ctx, device, tail)
    ctx.set(device.meets, 0)


def two_copies(memory: Memory, count: int) -> list[list[dict[str, int]]]:
    """A ring of two tables, at 100 and behind."""
    places = range(100, 100 + 2 * count)
    said = [memory.put(place, 100 if place == places[-1] else place + 1, stale=0) for place in places]
    return [said[:count], said[count:]]


def test_what_is_fetched_ahead_is_there_with_the_tail() -> None:
    device = DescriptorFetch(32, min_length=4)
    memory = Memory(device, random.Random(3))
    first, second = two_copies(memory, 5)

    async def main(ctx: Any) -> None:
        await begin(ctx, device, 100, 104)
        await ask(ctx, device, 109)
        assert [await taken(ctx, device) for _ in first] == first
        for _ in range(150):
            assert not ctx.get(device.valid), "it is behind the tail"
            await ctx.tick()
        assert ctx.get(device.empty)
        assert ctx.get(device.quiet)
        assert memory.asked == list(range(100, 110))
        await go_or_meet(ctx, device, 109)
        for wanted in second:
            assert ctx.get(device.valid), "without a wait"
            assert await taken(ctx, device) == wanted
        assert ctx.get(device.empty)

    simulate(memory.around(), main, models=[memory.port])
    assert memory.asked == list(range(100, 110))


@pytest.mark.every(3)
@pytest.mark.parametrize("seed", range(12))
def test_what_is_fetched_ahead_is_as_it_was_promised_or_fetched_again(seed: int) -> None:
    """Calls that change their descriptors cancel what was asked for, or say another tail, at any time."""
    rng = random.Random(seed)
    device = DescriptorFetch(32, min_length=4)
    memory = Memory(device, rng)
    count = rng.randrange(2, 7)
    copies = two_copies(memory, count)
    at_once = 0

    async def main(ctx: Any) -> None:
        nonlocal at_once
        await begin(ctx, device, 100, 99 + count)
        for call in range(30):
            now, after = call % 2, (call + 1) % 2
            tails = [99 + count, 99 + 2 * count]
            asks = rng.random() < 0.8
            if asks:
                await ask(ctx, device, tails[after])
            got = []
            for _ in range(count):
                got.append(await taken(ctx, device))
                for _ in range(rng.choice((0, 0, 3, 30))):
                    await ctx.tick()
            assert got == copies[now], f"call {call}"
            for _ in range(rng.choice((0, 1, 2, 5, 20, 40, 90))):
                assert not ctx.get(device.valid)
                await ctx.tick()
            changes = rng.random() < 0.5
            if changes and asks:
                await ask(ctx, device, 0)
            if changes:
                copies[:] = two_copies(memory, count)
            # Sometimes in two steps, of which the first is not the tail that was promised.
            if rng.random() < 0.2:
                await go_or_meet(ctx, device, tails[after] - 1)
            await go_or_meet(ctx, device, tails[after])
            at_once += ctx.get(device.valid)

    simulate(memory.around(), main, models=[memory.port])
    assert 0 < at_once < 30
