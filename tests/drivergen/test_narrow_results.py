"""Results that are no sums: narrow elements come back as they are, and take the place of what was there."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from tests.drivergen import host
from tests.some import some

from axiloom import isa
from axiloom.base.errors import CompileError
from axiloom.drivergen import compile_mlir
from axiloom.isa import AcceleratorSpec, numerics

EXAMPLES = Path(__file__).parents[2] / "examples" / "elementwise"
ELEMENTS = {"int8": "i8", "int16": "i16", "uint8": "i8"}


def device(dtype: str, width: int, *, queued: bool) -> AcceleratorSpec:
    spec = isa.load(EXAMPLES / "add.json")
    dma = replace(spec.link.dma, scatter_gather=queued)
    return isa.revise(spec, data_type=numerics.of(dtype), stream_width=width, dma=dma)


def program(dtype: str, rows: int, columns: int) -> str:
    text = (EXAMPLES / "add.mlir").read_text()
    return text.replace("5x300xi32", f"{rows}x{columns}x{ELEMENTS[dtype]}")


SHAPES = ((5, 300), (3, 77), (4, 256))
CASES = [
    (SHAPES[(number + place) % 3], dtype, width, pipeline)
    for number, (dtype, width) in enumerate(product(("int8", "int16"), (32, 64)))
    for place, pipeline in enumerate(("published", "copying", "all"))
]


@pytest.mark.parametrize(("shape", "dtype", "width", "pipeline"), some(CASES, 4))
def test_sums_of_two(shape: tuple[int, int], dtype: str, width: int, pipeline: str) -> None:
    spec = device(dtype, width, queued=pipeline == "all")
    driver, _ = host.check(program(dtype, *shape), spec, pipeline=pipeline)
    taken = ("dma_get_block_{}(", "axl_get_block_{}(", "DMA_TAKER_COPY_{}(", "dma_queue_receive_rows(")
    assert any(name.format(case) in driver.c for name in taken for case in (bits(dtype), bits(dtype).upper()))


def bits(dtype: str) -> str:
    return ELEMENTS[dtype]


def test_uint8_that_is_not_widened_is_refused() -> None:
    """MLIR's integers have no sign: only a body that widens them says how they are meant."""
    with pytest.raises(CompileError, match="by nothing; add takes uint8, so"):
        compile_mlir(program("uint8", 3, 8), device("uint8", 32, queued=False))
