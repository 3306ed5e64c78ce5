# amaranth: UnusedElaboratable=no
"""MatMul with post-processing: C goes out as int8, against the functional model."""

from __future__ import annotations

import numpy as np
import pytest
from tests.hw.matmul_bench import Program, check
from tests.hw.test_matmul import STALLS, random_tile
from tests.isa.streams import opcode_words

from axiloom import isa
from axiloom.isa import AcceleratorSpec
from axiloom.isa.types import TileRule

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
            words += [opcode.literal or 0, bounds, *[0] * (-2 % spec.beat_words)]
            continue
        operands = {
            o: parameters(channels, seed) if o == "P" else random_tile(spec, o, tile, seed)
            for o in opcode.sends
        }
        words += opcode_words(spec, name, tile, operands)
    return words


STEP = ("sP", "sA", "sB", "cC", "qC")


@pytest.mark.parametrize("width", [32, 64, 128])
@pytest.mark.parametrize("data_type", ["int8", "int32"])
def test_tiles_one_after_the_other(data_type: str, width: int) -> None:
    """New parameters, bounds and sizes with each tile; raw and requantised ones in turn."""
    spec = small_v4(data_type, width)
    words: list[int] = []
    for index, tile in enumerate([(4, 12, 4), (12, 8, 4), (4, 24, 4), (8, 4, 8)]):
        words += words_of(spec, "cfgP", *STEP, tile=tile, bounds=index | 0x9000 | (index * 40) << 16)
        words += words_of(spec, "cC", "rC", "sP", "sA", "cC", "cC", "qC", tile=tile)
    check(spec, Program(words), Program(words, reset=True), Program(words), **STALLS)
