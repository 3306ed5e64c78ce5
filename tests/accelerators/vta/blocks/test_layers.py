"""Layers in tiles, by the text's simulator, against NumPy: `matmul.py`, `conv.py`, `epilogue.py`, `host.py`,
`sizes.py`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from axiloom.accelerators.vta.blocks import conv, matmul
from axiloom.accelerators.vta.blocks.conv import Convolution
from axiloom.accelerators.vta.blocks.epilogue import Requantise
from axiloom.base.errors import CompileError
from axiloom.device.values import random_values
from axiloom.isa.instructions.library import target, targets
from axiloom.isa.instructions.read import read
from axiloom.isa.instructions.tree import InstructionSet
from axiloom.selection.drive.execute import execute


def vta(dram: int = 1 << 20) -> InstructionSet:
    return read(targets()["vta"], {"DRAM": dram})


def requantised(sums: Any, how: Requantise) -> Any:
    return np.clip(sums >> how.shift, how.low, how.high)


def convolved(layer: Convolution, values: dict[str, Any], how: Requantise) -> Any:
    """In NumPy's layout, a tap after the other."""
    x = values["x"].transpose(2, 0, 1).astype(np.int64)
    x = np.pad(x, ((0, 0), (layer.pads,) * 2, (layer.pads,) * 2))
    w = values["w"].transpose(0, 4, 1, 5, 2, 3)
    w = w.reshape(layer.filters, layer.channels, layer.taps, layer.taps).astype(np.int64)
    sums = np.zeros((layer.filters, layer.rows, layer.columns), np.int64) + values["bias"][:, None, None]
    s = layer.stride
    for p in range(layer.taps):
        for q in range(layer.taps):
            part = x[:, p : p + s * (layer.rows - 1) + 1 : s, q : q + s * (layer.columns - 1) + 1 : s]
            sums += np.tensordot(w[:, :, p, q], part, 1)
    return requantised(sums, how).transpose(1, 2, 0)


CONVOLUTIONS = [
    Convolution(8, 8, 16, 16),
    Convolution(9, 7, 32, 48, stride=2),
    Convolution(6, 6, 32, 32, taps=1, pads=0),
    Convolution(30, 30, 16, 16, taps=7, stride=2, pads=3),
    Convolution(7, 7, 256, 64),
    Convolution(12, 40, 64, 32, pads=2),
]
PRODUCTS = [(16, 16, 16), (5, 48, 32), (200, 64, 320), (40, 32, 2048), (3, 1008, 256)]


@pytest.mark.every(3)
@pytest.mark.parametrize("layer", CONVOLUTIONS, ids=str)
def test_convolutions(layer: Convolution) -> None:
    isa, how = vta(), Requantise(9, 0)
    program = conv.lowered(layer, isa, how)
    values = random_values(program, 1)
    found = execute(program, isa, values)["y"]
    assert np.array_equal(found, convolved(layer, values, how))
    assert len(np.unique(found)) > 20


@pytest.mark.parametrize("sizes", PRODUCTS, ids=str)
def test_products(sizes: tuple[int, int, int]) -> None:
    m, n, k = sizes
    isa, how = vta(1 << 20), Requantise(10)
    program = matmul.lowered(m, n, k, isa, how)
    values = random_values(program, 2)
    b = values["b"].transpose(1, 3, 0, 2).reshape(k, n).astype(np.int64)
    expected = requantised(values["a"].astype(np.int64) @ b + values["bias"], how)
    assert np.array_equal(execute(program, isa, values)["y"], expected)


def test_a_wrong_step_is_found() -> None:
    layer, isa, how = Convolution(8, 8, 32, 16), vta(), Requantise()
    program = conv.lowered(layer, isa, how)
    values = random_values(program, 1)
    program.constants["uops"][3] ^= 1 << 22
    assert not np.array_equal(execute(program, isa, values)["y"], convolved(layer, values, how))


def test_what_is_refused() -> None:
    with pytest.raises(CompileError, match="channels must be a multiple of 16, not 3: fill it up with zeros"):
        conv.lowered(Convolution(8, 8, 3, 16), vta())
    with pytest.raises(CompileError, match=r"no tile of Convolution\(.*\) fits Sizes"):
        conv.lowered(Convolution(8, 2000, 16, 16), vta())
    with pytest.raises(CompileError, match=r"conv_56_64_64_3 takes \d+ bytes .*; say -D DRAM=\d+"):
        conv.lowered(Convolution(56, 56, 64, 64), vta(1 << 16))
    with pytest.raises(CompileError, match=r"qkv has no uop, inp, wgt, acc, dram, load_uop"):
        matmul.lowered(16, 16, 16, target("qkv"))
    with pytest.raises(ValueError, match="shift must be from 0 to 15, not 16"):
        Requantise(16)
    with pytest.raises(ValueError, match="no convolution"):
        Convolution(2, 2, 16, 16, taps=5)


def test_a_picture_is_not_taken_in_tiny_pieces() -> None:
    """Eight blocks of channels, of which a tile has some: a pixel's share is a transfer of its own, and one
    of 16 bytes costs the driver and the DMA more than its two beats."""
    layer = Convolution(30, 30, 128, 128, pads=0)
    program = conv.lowered(layer, vta(1 << 23), Requantise(shift=10, low=0))
    pieces = sum(one.fields["rows"] for one in program.commands if one.instruction == "load_inp")
    assert 900 < pieces < 10_000  # 57,600 if a piece costs nothing
