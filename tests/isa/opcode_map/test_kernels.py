"""Every kernel with a name, as an instruction: what comes back is what its text says in Python."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from tests.isa.streams import opcode_words

from axiloom.isa import FunctionalModel
from axiloom.isa.files.device import device_of
from axiloom.isa.kernels.language.kernel import Kernel
from axiloom.isa.kernels.named import KERNELS

SIZES = {"window": 2, "reduction": 3, "parallel": 4}
STARTS = {"add": 0, "mul": 1, None: 0}
FUNCTIONS = {"max": max, "min": min, "abs": abs}


def by_hand(kernel: Kernel, sizes: dict[str, int], tiles: dict[str, Any], first: Any) -> Any:
    """Element by element, the reduction's indices ascending."""
    out = np.full([sizes[dim] for dim in kernel.operands[kernel.output]], first)
    order = sorted(kernel.iterators, key=lambda name: name in kernel.reductions)
    for point in product(*(range(sizes[name]) for name in order)):
        places = sizes | dict(zip(order, point, strict=True))
        at = {
            operand: tuple(eval(index, {}, places) for index in dims.values())
            for operand, dims in kernel.operands.items()
        }
        values = {operand: tiles[operand][at[operand]] for operand in kernel.inputs}
        out[at[kernel.output]] = eval(
            kernel.text, FUNCTIONS, values | {kernel.output: out[at[kernel.output]]}
        )
    return out


@pytest.mark.parametrize("kind", ["int8", "int32", "float32"])
@pytest.mark.parametrize("name", KERNELS)
def test_named(name: str, kind: str) -> None:
    kernel = KERNELS[name]
    spec = device_of(kernel, {n: SIZES[iterator] for n, iterator in kernel.iterators.items()}, kind)
    settings = {name: 1 + number % 2 for number, name in enumerate(kernel.settings)}
    sizes, tile, random = spec.sizes(settings=settings), spec.tile.size, np.random.default_rng(1)
    shapes = {operand: spec.operand_shape(operand, tile, settings) for operand in kernel.operands}
    numbers = np.float32 if kind == "float32" else np.int64
    tiles = {
        operand: random.integers(-9, 10, shape).astype(numbers) * numbers(1.1)
        for operand, shape in shapes.items()
    }
    model, back = FunctionalModel(spec), np.zeros(0, np.uint32)
    raw = {
        operand: values.astype(spec.data_type.numpy).view(spec.data_type.raw)
        for operand, values in tiles.items()
    }
    for opcode in (*spec.init_opcodes, *(opcode for opcode, _ in spec.flows["plain"].opcodes())):
        back = model.feed(opcode_words(spec, opcode, tile, raw, settings=sizes))
    assert model.error is None
    ends = {"max": spec.result_type.lowest, "min": spec.result_type.highest}
    first = ends.get(kernel.combine or "", STARTS.get(kernel.combine, 0))
    expected = by_hand(kernel, sizes, tiles, numbers(first)).astype(spec.result_type.numpy)
    sent = back.view(spec.result_type.numpy)[: expected.size].reshape(expected.shape)
    np.testing.assert_array_equal(sent, expected)
