"""The cache model against a plain one, for any sequence of accesses and any shape of caches."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from dataclasses import replace as with_changes
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from axiloom import boards
from axiloom.cache import cached_build, content_hash
from axiloom.cosim import core, native

HARNESS = Path(__file__).with_name("memory_harness.cpp")
DDR = 0x100000 >> 5
"""Its first line."""
Accesses = list[tuple[int, bool]]


class Random:
    """The 16-bit LFSR that stands for pseudo-random replacement (taps 16, 14, 13, 11)."""

    def __init__(self) -> None:
        self.state = 0xACE1

    def way(self, ways: int) -> int:
        low = self.state & 1
        self.state >>= 1
        if low:
            self.state ^= 0xB400
        return self.state % ways


@dataclass
class Level:
    """One cache: per set a list of ways, each a [line, dirty, time of last use] or None."""

    sets: int
    ways: int
    lru: bool
    content: dict[int, list[list[int] | None]] = field(default_factory=dict)
    random: Random = field(default_factory=Random)
    time: int = 0

    def find(self, line: int) -> list[int] | None:
        entry = next((way for way in self.content.get(line % self.sets, ()) if way and way[0] == line), None)
        if entry:
            self.time += 1
            entry[2] = self.time
        return entry

    def fill(self, line: int) -> tuple[list[int], list[int] | None]:
        ways = self.content.setdefault(line % self.sets, [None] * self.ways)
        if None in ways:
            way = ways.index(None)
        elif self.lru:
            way = min(range(self.ways), key=lambda w: ways[w][2])  # type: ignore[index]
        else:
            way = self.random.way(self.ways)
        victim = ways[way]
        self.time += 1
        entry = ways[way] = [line, 0, self.time]
        return entry, victim


def reference(accesses: Accesses, l1: Level, l2: Level) -> list[int]:
    load_misses = store_misses = references = misses = writebacks = 0

    def allocate(line: int) -> list[int]:
        nonlocal writebacks
        entry, victim = l2.fill(line)
        writebacks += bool(victim and victim[1])
        return entry

    for line, store in accesses:
        entry = l1.find(line)
        if entry is None:
            load_misses += not store
            store_misses += store
            entry, victim = l1.fill(line)
            references += 1
            if l2.find(line) is None:
                misses += 1
                allocate(line)
            if victim and victim[1]:
                references += 1
                (l2.find(victim[0]) or allocate(victim[0]))[1] = 1
        entry[1] |= store
    return [load_misses, store_misses, references, misses, writebacks]


@pytest.fixture(scope="module")
def model() -> Callable[[native.Config, Accesses], list[int]]:
    headers = sorted(core.NATIVE.rglob("*.h*"))

    def build(folder: Path) -> None:
        command = [core.compiler(), "-std=c++17", "-O2", "-fPIC", "-shared", f"-I{core.NATIVE}", str(HARNESS)]
        subprocess.run([*command, "-o", str(folder / "harness.so")], check=True)

    folder = cached_build("test-memory", content_hash(HARNESS, *headers), build)
    library = ctypes.CDLL(str(folder / "harness.so"))

    def run(config: native.Config, accesses: Accesses) -> list[int]:
        words = [line << 1 | store for line, store in accesses]
        out = (ctypes.c_uint64 * 5)()
        library.run(ctypes.byref(config), (ctypes.c_uint32 * len(words))(*words), len(words), out)
        return list(out)

    return run


# Few lines and small caches, so that sets overflow.
sequences = st.lists(st.tuples(st.integers(0, 47), st.booleans()), max_size=400)
shapes = st.tuples(st.sampled_from([1, 2, 4]), st.sampled_from([1, 2, 4]))


@given(accesses=sequences, l1=shapes, l2=shapes, lru=st.booleans())
@settings(max_examples=200)
def test_any_sequence(
    model: Callable[[native.Config, Accesses], list[int]],
    accesses: Accesses,
    l1: tuple[int, int],
    l2: tuple[int, int],
    lru: bool,
) -> None:
    board = boards.load(boards.DEFAULT)
    caches = with_changes(
        board.caches,
        l1d_size=32 * l1[0] * l1[1],
        l1d_ways=l1[1],
        l2_size=32 * l2[0] * l2[1],
        l2_ways=l2[1],
        replacement="lru" if lru else "random",
    )
    config = native.config(with_changes(board, caches=caches), (), 0)
    in_ddr = [(DDR + line, store) for line, store in accesses]
    assert model(config, in_ddr) == reference(accesses, Level(*l1, lru), Level(*l2, lru))


def test_on_chip_memory_has_no_second_level(model: Callable[[native.Config, Accesses], list[int]]) -> None:
    """Three lines of it in a first level of one: each is fetched again, none is looked up in L2."""
    caches = with_changes(boards.load(boards.DEFAULT).caches, l1d_size=32, l1d_ways=1)
    config = native.config(with_changes(boards.load(boards.DEFAULT), caches=caches), (), 0)
    accesses = [(line, store) for store in (False, True) for line in (0, 1, 0x2FFFF >> 5)]
    assert model(config, accesses) == [3, 3, 0, 0, 2]
    assert model(config, [(0x30000 >> 5, False)]) == [1, 0, 1, 1, 0]
