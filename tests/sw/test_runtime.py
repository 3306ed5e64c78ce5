"""The DMA runtime, compiled for the CPU, against a DMA made of Python (PG021, direct register mode)."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from axiloom import boards, isa
from axiloom.cosim import native
from axiloom.cosim.build.toolchain import compile_bare
from axiloom.cosim.core import Core, library

BOARD = boards.load(boards.DEFAULT)
SPEC = isa.builtin("v3", 4)
HERE = Path(__file__).parent
HALT, READ, WRITE, WAIT_IRQ, ADVANCE = range(5)
Array = np.ndarray[Any, Any]
NAMES = ["OK", "NOT_READY", "ARGUMENT", "BOUNDS", "LENGTH", "BUSY", "HALTED", "SHORT", "TIMEOUT"]


@dataclass
class Dma:
    """A loop back: what is sent comes back, `short` words fewer; a transfer takes `polls` status reads.

    `error` is set in DMASR instead of finishing a receive; with `stuck` a reset never ends.
    """

    short: int = 0
    polls: int = 3
    error: int = 0
    stuck: bool = False
    registers: dict[int, int] = field(default_factory=lambda: {0x00: 0, 0x04: 1, 0x30: 0, 0x34: 1})
    fifo: list[int] = field(default_factory=list)
    waiting: dict[int, int] = field(default_factory=dict)
    sent: list[int] = field(default_factory=list)
    """Words of each transfer."""

    def __post_init__(self) -> None:
        self.lib = native.bind(library())

    def write(self, offset: int, value: int) -> None:
        base, register = (0x30, offset - 0x30) if offset >= 0x30 else (0, offset)
        self.registers[offset] = value
        if register == 0x00 and value & 4 and not self.stuck:
            self.registers.update({0x00: 0, 0x04: 1, 0x30: 0, 0x34: 1})
        elif register == 0x00:
            self.registers[base + 4] = 0 if value & 1 else 1
        elif register == 0x28:
            assert not self.registers[base + 4] & 1, "started while halted"
            self.registers[base + 4] = 0
            self.waiting[base] = self.polls
            if base == 0:
                self.sent.append(value // 4)
                address = self.registers[0x18]
                self.fifo += [self.lib.axl_mem_read(address + 4 * i) for i in range(value // 4)]

    def read(self, offset: int) -> int:
        if offset in (0x04, 0x34):
            self._progress(offset - 4)
        return self.registers.get(offset, 0)

    def _progress(self, base: int) -> None:
        if base not in self.waiting:
            return
        self.waiting[base] -= 1
        asked = self.registers[base + 0x28] // 4
        if self.waiting[base] > 0 or (base == 0x30 and len(self.fifo) < asked):
            return
        del self.waiting[base]
        if base == 0x30:
            if self.error:
                self.registers[0x34] = 1 | self.error
                return
            count = asked - self.short
            for i in range(count):
                self.lib.axl_mem_write(self.registers[0x48] + 4 * i, self.fifo[i], 15)
            del self.fifo[:asked]
            self.registers[0x58] = 4 * count
        self.registers[base + 4] = 2


def simulate(elf: Path, dma: Dma, inputs: Mapping[str, Any], windows: Array | None = None) -> Core:
    """Run to the end; `windows` is in both DMA windows before."""
    core = Core(BOARD, SPEC)
    core.begin(elf, inputs)
    for address in (SPEC.link.dma.input_address, SPEC.link.dma.output_address) if windows is not None else ():
        core.ram[address : address + windows.nbytes] = windows.view(np.uint8)
    address, data, delay = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    now = answer = 0
    for _ in range(200_000):
        places = (ctypes.byref(place) for place in (address, data, delay))
        op = dma.lib.axl_cpu_step(answer, 0, 0, now, *places)
        now += delay.value + 3
        offset = (address.value & 0xFFFFFFFF) - SPEC.link.dma.address
        if op == HALT:
            assert core.state.fault is None
            return core
        if op == READ:
            answer = dma.read(offset)
        elif op == WRITE:
            dma.write(offset, data.value & 0xFFFFFFFF)
    raise AssertionError("the program does not end")


Compiled = Callable[..., Path]


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    def make(name: str, **options: Any) -> Path:
        out = tmp_path_factory.mktemp(name) / f"{name}.elf"
        return compile_bare([HERE / f"{name}.c"], out, board=BOARD, **options)

    return make


@pytest.fixture(scope="module")
def copies_elf(compiled: Compiled) -> Path:
    return compiled("copies")


@pytest.mark.slow
@pytest.mark.parametrize("cached", [0, 1])
@pytest.mark.parametrize("bits", [14, 26])
def test_statuses(compiled: Compiled, cached: int, bits: int) -> None:
    core = simulate(compiled("statuses", defines={"AXL_DMA_CACHED": cached}, length_bits=bits), Dma(), {})
    assert core.state.exit_code == 0, f"tests/sw/statuses.c:{core.state.exit_code}"


class TestTransfers:
    VALUES = np.random.default_rng(3).integers(0, 2**32, 1000, dtype=np.uint32)

    def run(self, elf: Path, dma: Dma, words: int = 1000) -> tuple[Core, str, Array]:
        inputs = {"values": self.VALUES[:words], "words": np.uint32([words]), "asked": np.uint32([words])}
        core = simulate(elf, dma, inputs)
        status = NAMES[int(core.read("status", (1,), "int32")[0])]
        return core, status, core.read("results", (words,), "uint32")

    @pytest.mark.parametrize("cached", [0, 1])
    @pytest.mark.parametrize("words", [2, 7, 1000])
    def test_loop_back(self, compiled: Compiled, cached: int, words: int) -> None:
        """Twice in a row, at offsets that share lines: right data, and no maintenance missing."""
        dma = Dma()
        elf = compiled("transfers", defines={"AXL_DMA_CACHED": cached})
        core, status, results = self.run(elf, dma, words)
        assert status == "OK"
        assert np.array_equal(results, self.VALUES[:words] + np.uint32(1))
        assert core.stale() == []
        assert dma.sent == [words // 2, words - words // 2] * 2
        assert core.activity()["uncached_stores"] == (0 if cached else 2 * words)

    def test_short_packet(self, compiled: Compiled) -> None:
        assert self.run(compiled("transfers"), Dma(short=1))[1] == "SHORT"

    @pytest.mark.parametrize("bit", [4, 5, 6])
    def test_error_bits(self, compiled: Compiled, bit: int) -> None:
        assert self.run(compiled("transfers"), Dma(error=1 << bit))[1] == "HALTED"

    def test_time_out(self, compiled: Compiled) -> None:
        elf = compiled("transfers", defines={"AXL_TIMEOUT_US": 50})
        core, status, _ = self.run(elf, Dma(polls=10**9), words=4)
        assert status == "TIMEOUT"
        assert 50_000 < core.counters()["task-clock"] < 150_000

    def test_reset_that_does_not_end(self, compiled: Compiled) -> None:
        assert simulate(compiled("transfers"), Dma(stuck=True), {}).state.exit_code == 1


# --- copies -------------------------------------------------------------------------------------------------


@st.composite
def copies(draw: st.DrawFn) -> dict[str, int]:
    """A matrix somewhere in 4096 words and a tile of it; rows and columns may be strided or backwards."""
    element = draw(st.sampled_from([1, 2, 4, 0]))
    per_word = 4 // (element or 4)
    rows, cols = draw(st.integers(0, 6)), draw(st.integers(0, 12))
    tile_rows = draw(st.integers(max(rows, 1), 8))
    tile_cols = draw(st.integers(max(-(-cols // per_word), 1), 12 // per_word + 2)) * per_word
    col_stride = draw(st.sampled_from([1, 1, 1, 2, 3, -1, 7]))
    row_stride = draw(st.sampled_from([12, 13, 40, 1, -12, 200])) if abs(col_stride) == 1 else 97
    return {
        "element": element,
        "rows": rows,
        "cols": cols,
        "tile_rows": tile_rows,
        "tile_cols": tile_cols,
        "row_stride": row_stride,
        "col_stride": col_stride,
        "offset": draw(st.integers(0, 40)),
        "origin": 2000,
        "accumulate": draw(st.integers(0, 1)),
    }


@given(case=copies(), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=60)
def test_copies(copies_elf: Path, case: dict[str, int], seed: int) -> None:
    """Against NumPy: the tile, its padding, and nothing beside it."""
    generator = np.random.default_rng(seed)
    matrix = generator.integers(-(2**31), 2**31, 4096, dtype=np.int64).astype(np.int32)
    window = generator.integers(-(2**31), 2**31, 2048, dtype=np.int64).astype(np.int32)
    kind = {1: np.int8, 2: np.int16}.get(case["element"], np.int32)
    elements = matrix.copy().view(kind)
    index = (
        case["origin"]
        + np.arange(case["rows"])[:, None] * case["row_stride"]
        + np.arange(case["cols"])[None, :] * case["col_stride"]
    )
    if case["element"] == 0 and len(np.unique(index)) != index.size:
        return  # a matrix whose elements overlap has no defined result
    expected_window, expected_elements = window.copy(), elements.copy()
    tile_words = case["tile_rows"] * case["tile_cols"] * kind().itemsize // 4
    part = slice(case["offset"], case["offset"] + tile_words)
    if case["element"]:
        tile = np.zeros((case["tile_rows"], case["tile_cols"]), kind)
        tile[: case["rows"], : case["cols"]] = elements[index]
        expected_window[part] = tile.reshape(-1).view(np.int32)
    else:
        tile = window[part].reshape(case["tile_rows"], case["tile_cols"])[: case["rows"], : case["cols"]]
        expected_elements[index] = tile + (elements[index] if case["accumulate"] else 0)

    inputs = {name: np.array([value], np.int32) for name, value in case.items()}
    core = simulate(copies_elf, Dma(), {**inputs, "matrix": matrix}, window)
    assert core.read("status", (1,), "int32")[0] == 0
    address = SPEC.link.dma.input_address if case["element"] else SPEC.link.dma.output_address
    found = core.ram[address : address + 8192].copy().view(np.int32)
    assert np.array_equal(found, expected_window)
    assert np.array_equal(core.read("matrix", (4096,), "int32").view(kind), expected_elements)
