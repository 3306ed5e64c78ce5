"""The cache model against a plain one, for any sequence of accesses and any shape of caches."""

from __future__ import annotations

import ctypes
import random
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from dataclasses import replace as with_changes
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from axiloom import boards
from axiloom.base.cache import cached_build, content_hash
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
def harness() -> ctypes.CDLL:
    headers = sorted(core.NATIVE.rglob("*.h*"))

    def build(folder: Path) -> None:
        command = [core.compiler(), "-std=c++17", "-O2", "-fPIC", "-shared", f"-I{core.NATIVE}", str(HARNESS)]
        subprocess.run([*command, "-o", str(folder / "harness.so")], check=True)

    folder = cached_build("test-memory", content_hash(HARNESS, *headers), build)
    return ctypes.CDLL(str(folder / "harness.so"))


@pytest.fixture(scope="module")
def model(harness: ctypes.CDLL) -> Callable[[native.Config, Accesses], list[int]]:
    def run(config: native.Config, accesses: Accesses) -> list[int]:
        words = [line << 1 | store for line, store in accesses]
        out = (ctypes.c_uint64 * 5)()
        harness.run(ctypes.byref(config), (ctypes.c_uint32 * len(words))(*words), len(words), out)
        return list(out)

    return run


@pytest.fixture(scope="module")
def player(harness: ctypes.CDLL) -> Callable[[native.Config, Operations], list[int]]:
    ram = (ctypes.c_uint8 * 0x110000)()

    def run(config: native.Config, operations: Operations) -> list[int]:
        ctypes.memset(ram, 0, len(ram))
        raw = [number for kind, word, value in operations for number in (kind, 4 * word, value)]
        out = (ctypes.c_uint32 * (len(operations) + 1))()
        harness.play(ctypes.byref(config), ram, (ctypes.c_uint32 * len(raw))(*raw), len(operations), out)
        return list(out)[: len(operations)]

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


# --- data -------------------------------------------------------------------------------------------------

OPERATIONS = ("load", "store", "dma read", "dma write", "l1 1", "l1 2", "l1 3", "l2 1", "l2 2", "l2 3")
"""What the harness plays; of maintenance 1 is clean, 2 invalidate."""
LINE_WORDS = 8
Operations = list[tuple[int, int, int]]


@dataclass
class Copies:
    """Two caches with data, and memory: each word lies wherever hardware has it."""

    l1: Level
    l2: Level
    memory: dict[int, list[int]] = field(default_factory=dict)
    data: dict[tuple[int, int], list[int]] = field(default_factory=dict)
    """By level and line."""

    def of(self, line: int) -> list[int]:
        return self.memory.setdefault(line, [0] * LINE_WORDS)

    def allocate(self, line: int) -> list[int]:
        entry, victim = self.l2.fill(line)
        if victim:
            data = self.data.pop((2, victim[0]))
            if victim[1]:
                self.memory[victim[0]] = data
        self.data[2, line] = list(self.of(line))
        return entry

    def write_back(self, line: int, data: list[int]) -> None:
        entry = self.l2.find(line) or self.allocate(line)
        self.data[2, line] = list(data)
        entry[1] = 1

    def access(self, line: int) -> list[int]:
        """The line's entry in L1."""
        entry = self.l1.find(line)
        if entry is None:
            entry, victim = self.l1.fill(line)
            data = self.data.pop((1, victim[0])) if victim else []
            if self.l2.find(line) is None:
                self.allocate(line)
            self.data[1, line] = list(self.data[2, line])
            if victim and victim[1]:
                self.write_back(victim[0], data)
        return entry

    def maintain(self, level: int, line: int, what: int) -> None:
        cache = self.l1 if level == 1 else self.l2
        ways = cache.content.get(line % cache.sets, [])
        way = next((number for number, entry in enumerate(ways) if entry and entry[0] == line), None)
        if way is None:
            return
        entry = ways[way]
        assert entry is not None
        if what & 1 and entry[1]:
            entry[1] = 0
            if level == 1:
                self.write_back(line, self.data[1, line])
            else:
                self.memory[line] = list(self.data[2, line])
        if what & 2:
            ways[way] = None
            del self.data[level, line]

    def play(self, operations: Operations) -> list[int]:
        return [
            self.one(kind, word // LINE_WORDS, word % LINE_WORDS, value) for kind, word, value in operations
        ]

    def one(self, kind: int, line: int, word: int, value: int) -> int:
        if kind == 0:
            self.access(line)
            return self.data[1, line][word]
        if kind == 1:
            self.access(line)[1] = 1
            self.data[1, line][word] = value
        elif kind == 2:
            return self.of(line)[word]
        elif kind == 3:
            self.of(line)[word] = value
        else:
            self.maintain(1 if kind < 7 else 2, line, kind - (3 if kind < 7 else 6))
        return 0


@pytest.mark.parametrize("lru", [False, True])
def test_cpu_and_dma_read_what_caches_and_memory_hold(
    player: Callable[[native.Config, Operations], list[int]], lru: bool
) -> None:
    """For any order of accesses and maintenance, wrong ones too, of a few lines."""
    board = boards.load(boards.DEFAULT)
    rng = random.Random(35)
    for _ in range(300):
        lines = rng.choice((2, 5, 12))
        l1, l2 = ((rng.choice((1, 2, 4)), rng.choice((1, 2, 4))) for _ in range(2))
        caches = with_changes(
            board.caches,
            l1d_size=32 * l1[0] * l1[1],
            l1d_ways=l1[1],
            l2_size=32 * l2[0] * l2[1],
            l2_ways=l2[1],
            replacement="lru" if lru else "random",
        )
        config = native.config(with_changes(board, caches=caches), (0x40400000,), 4096)
        operations = [
            (
                rng.randrange(len(OPERATIONS)),
                (DDR + rng.randrange(lines)) * LINE_WORDS + rng.randrange(3),
                value,
            )
            for value in range(1, 300)
        ]
        assert player(config, operations) == Copies(Level(*l1, lru), Level(*l2, lru)).play(operations)
