# amaranth: UnusedElaboratable=no
"""MatMul with post-processing: C goes out as int8, against the functional model."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.hw.array.test_requantise import reference
from tests.hw.engine.engine_bench import Program, check, simulate
from tests.hw.matmul.test_engine import STALLS, Dims, random_tile
from tests.isa.strategies import specs, well_formed, word_program
from tests.isa.streams import opcode_words, wrapped_matmul

from axiloom import isa
from axiloom.hw.matmul.geometry import Geometry
from axiloom.isa import AcceleratorSpec
from axiloom.isa.contract.errors import DeviceError
from axiloom.isa.contract.types import TileRule

RELU = 0 | 0 << 8 | 127 << 16


def small_v4(data_type: str = "int8", width: int = 32) -> AcceleratorSpec:
    """v4 with tiles small enough for this simulator: granule 4, 16 multiply-adds."""
    spec = isa.builtin("v4_16", data_type=data_type, post=True)
    per_word = spec.data_type.per_word
    buffers = {"A": 96 // per_word, "B": 96 // per_word, "C": 96, "P": 48}
    return isa.revise(spec, tile=TileRule((4, 4, 4), (4, 4, 4)), buffers=buffers, macs=16, stream_width=width)


def parameters(channels: int, seed: int) -> np.ndarray:
    """P of channels whose results spread over int8 and beyond."""
    rng = np.random.default_rng(seed)
    bias = rng.integers(-(2**31), 2**31, channels) >> rng.integers(0, 24, channels)
    scale = rng.integers(0, 2**16, channels) | rng.integers(0, 64, channels) << 16
    return np.stack([bias, scale], axis=1).astype(np.int64)


def words_of(
    spec: AcceleratorSpec, *opcodes: str, tile: tuple[int, ...] | None = None, bounds: int = RELU
) -> list[int]:
    """The words of opcodes with random payloads."""
    tile = tile or spec.tile.size
    channels = spec.sizes(tile)["n"]
    words: list[int] = []
    for seed, name in enumerate(opcodes):
        opcode = spec.opcodes[name]
        if name == "cfgP":
            words += [opcode.literal or 0, bounds, *[0] * (-2 % spec.link.beat_words)]
            continue
        operands = {
            o: parameters(channels, seed) if o == "P" else random_tile(spec, o, tile, seed)
            for o in opcode.sends
        }
        words += opcode_words(spec, name, tile, operands)
    return words


STEP = ("sP", "sA", "sB", "cC", "qC")


@pytest.mark.slow
@pytest.mark.parametrize(("data_type", "width"), [("int8", 32), ("int32", 64), ("int16", 128)])
def test_tiles_one_after_the_other(data_type: str, width: int) -> None:
    """New parameters, bounds and sizes with each tile; raw and requantised ones in turn."""
    spec = small_v4(data_type, width)
    words: list[int] = []
    for index, tile in enumerate([(4, 12, 4), (12, 8, 4), (4, 24, 4), (8, 4, 8)]):
        words += words_of(spec, "cfgP", *STEP, tile=tile, bounds=index | 0x9000 | (index * 40) << 16)
        words += words_of(spec, "cC", "rC", "sP", "sA", "cC", "cC", "qC", tile=tile)
    check(spec, Program(words), Program(words), **STALLS)


@pytest.mark.every(3)
@pytest.mark.parametrize("width", [32, 64, 128])
@pytest.mark.parametrize("c", [("m", "n"), ("n", "m")])
def test_orders_of_c(c: Dims, width: int) -> None:
    """Several blocks of the array; neighbours on the stream have neighbouring channels, or the same."""
    spec = isa.builtin("v3_8", data_type="int8", post=True)
    spec = isa.revise(spec, data={**spec.data, "C": c}, macs=8, stream_width=width)
    check(spec, Program(words_of(spec, "cfgP", *STEP, "rC", "sP", "qC", "sA", "cC", "qC")), **STALLS)


@pytest.mark.every(2)
@pytest.mark.parametrize("name", ["v3_4", "v3_8"])
def test_equals_the_formula(name: str) -> None:
    """Independently of the functional model, in Python's integers."""
    spec = isa.builtin(name, post=True)
    size = spec.tile.size[0]
    a, b = (random_tile(spec, o, spec.tile.size, seed) for seed, o in enumerate("AB"))
    p = parameters(size, seed=5)
    words: list[int] = words_of(spec, "cfgP", bounds=0x20 | 0x91 << 8 | 0x60 << 16)
    for step in ("sP", "sA", "sB", "cC", "qC"):
        words += opcode_words(spec, step, spec.tile.size, {"A": a, "B": b, "P": p})
    (result,) = simulate(spec, Program(words))
    got = np.array(result.words, dtype=np.uint32).view(np.int8).reshape(size, size)
    sums = wrapped_matmul(spec, {"A": a, "B": b})
    channels = [(int(bias), int(scale) & 0xFFFF, int(scale) >> 16 & 63) for bias, scale in p]
    bounds = 0x20, -0x6F, 0x60
    assert got.tolist() == [
        [reference(int(sums[i, j]), channels[j], bounds) for j in range(size)] for i in range(size)
    ]


@pytest.mark.every(3)
@pytest.mark.parametrize(("width", "seed"), [(32, 0), (128, 1), (32, 2)])
def test_reset_in_the_middle(width: int, seed: int) -> None:
    spec = small_v4(width=width)
    words = words_of(spec, "cfgP", *STEP, "sP", "cC", "rC", "cC", "qC", tile=(8, 8, 4))
    cut = np.random.default_rng(seed).integers(1, len(words))
    raw = words_of(spec, "sA", "sB", "cC", "rC", "sP", "qC")  # with the bounds of power-on
    cutoff = Program(words, reset_after=int(cut))
    check(spec, Program(words), cutoff, Program(words, reset=True), Program(raw), seed=seed, **STALLS)


ERRORS = {
    "P not loaded": (("sA", "sB", "cC", "qC"), (), DeviceError.NOT_LOADED),
    "P of other channels": (("sP",), ("sA", "sB", "cC", "qC"), DeviceError.DIMS_MISMATCH),
    "C has other dims": (("sP", "sA", "sB", "cC"), ("sP", "qC"), DeviceError.DIMS_MISMATCH),
    "more channels than P holds": ((), ("sP",), DeviceError.BAD_DIMS),
}


@pytest.mark.every(3)
@pytest.mark.parametrize("case", ERRORS)
@pytest.mark.parametrize("width", [32, 64])
def test_errors_stop_the_device_until_reset(width: int, case: str) -> None:
    spec = small_v4(width=width)
    first, then, code = ERRORS[case]
    other = (4, 28, 4) if code is DeviceError.BAD_DIMS else (4, 8, 4)
    bad = words_of(spec, *first) + words_of(spec, *then, tile=other)
    good = words_of(spec, *STEP)
    results = check(spec, Program([*bad, *good], reset=True), Program(good), **STALLS)
    assert [result.error for result in results] == [code, DeviceError.OK]


TILES = [(4, 4, 4), (8, 4, 4), (4, 24, 4), (12, 8, 8), (8, 12, 4)]


@settings(max_examples=3, deadline=None)
@given(data=st.data(), width=st.sampled_from([32, 64, 128]), seed=st.integers(0, 99))
def test_any_program(data: st.DataObject, width: int, seed: int) -> None:
    """Opcodes in any order, also wrong ones, with parameters and bounds of any bits; then from power-on."""
    spec = small_v4(data.draw(st.sampled_from(["int8", "int16", "int32"])), width)
    words: list[int] = []
    tiles = st.sampled_from(TILES)
    for _ in range(data.draw(st.integers(1, 5))):
        tile = data.draw(tiles)
        steps = data.draw(
            st.one_of(
                st.just(STEP),
                st.just(("cfgP", *STEP)),
                st.just(("sP", "qC", "sP", "qC")),
                st.lists(st.sampled_from(list(spec.opcodes)), min_size=1, max_size=4),
            )
        )
        words += words_of(spec, *steps, tile=tile, bounds=data.draw(st.integers(0, 2**32 - 1)))
    cut = data.draw(st.integers(0, len(words)))
    programs = (Program(words, reset=True), Program(words, reset_after=cut), Program(words))
    check(spec, *programs, seed=seed, **STALLS)


@pytest.mark.slow
@pytest.mark.parametrize(("width", "beats"), [(32, 64), (64, 32), (128, 32)])
def test_a_vector_a_cycle(width: int, beats: int) -> None:
    """Bytes fill every beat of up to 64 bits (8 columns); parameters come while the tile before is sent."""
    spec = isa.revise(isa.builtin("v3_16", data_type="int8", post=True), stream_width=width)
    assert Geometry.of(spec).p_lanes == min(width // 8, 8)
    (once,) = check(spec, Program(words_of(spec, "sP", "qC")))
    (often,) = check(spec, Program(words_of(spec, *["sP", "qC"] * 5)))
    assert (often.cycles - once.cycles) / 4 <= beats + 6


@pytest.mark.slow
def test_the_stream_is_the_limit_again() -> None:
    """A step with requantised C takes no longer than its words in; raw, the words out would be more."""
    spec = isa.builtin("v3_16", data_type="int8", post=True)
    step = words_of(spec, "sA", "sB", "cC", "qC")
    (once,) = check(spec, Program(words_of(spec, "sP") + step))
    (often,) = check(spec, Program(words_of(spec, "sP") + step * 4))
    assert (often.cycles - once.cycles) / 3 <= len(step) + 6


@pytest.mark.slow
@settings(max_examples=3, deadline=None)
@given(data=st.data(), seed=st.integers(0, 99))
def test_any_specification_and_words(data: st.DataObject, seed: int) -> None:
    """Words laid out in any way, P among other operands of an opcode, in orders that are right and wrong."""
    spec = data.draw(specs(largest=8, post=True))
    first, _ = data.draw(word_program(spec))
    second, _ = data.draw(well_formed(spec, longest=6))
    check(spec, Program(first, reset=True), Program(second), seed=seed, **STALLS)
