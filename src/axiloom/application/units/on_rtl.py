"""Parts of calls on the RTL of VTA and of FlexASR's units, in Verilator, with the operands of the run.

The numbers of FlexASR's units are those of FlexASR; their commands and memories are ours
(`isa/targets/flexasr_units.isa`). Each packet is compared with the text's on the way.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from axiloom.application.numbers.counts import Array
from axiloom.application.numbers.flexasr import Version
from axiloom.device.programs import execute
from axiloom.device.rtl import DeviceRtl, device
from axiloom.isa.instructions.library import targets
from axiloom.isa.instructions.read import read
from axiloom.isa.targets import flexasr as host
from axiloom.selection.drive.execute import Values
from axiloom.selection.program.flexasr import GATES, LANES, Biases, W, linear, lstm, tiles
from axiloom.selection.program.matmul import blocks, matmul
from axiloom.selection.program.program import Program

LINEAR_OUTPUTS = 64
"""Of a part; fewer at a time where their weights need more room."""


@cache
def _vta() -> DeviceRtl:
    return device(read(targets()["vta"]))


@cache
def _flexasr(version: Version) -> DeviceRtl:
    constants = {"AC_MATH": version.ac_math, "SATURATED_SIGN": version.saturated_sign}
    return device(read(targets()["flexasr_units"], constants))


def _result(on: DeviceRtl, program: Program, **values: Array) -> Array:
    given: Values = {name: np.asarray(value) for name, value in values.items()}
    return np.asarray(execute(on, program, given).results["y"])


def vta(x: Array, w: Array, added: Array, shift: int) -> Array:
    """int8 (rows, inputs) and (16, inputs), int32 (16): int8 (rows, 16). Inputs are a multiple of 16."""
    program = matmul(len(x), len(w), x.shape[1], shift, least=-127, half=True)
    return _result(
        _vta(), program, a=x.astype(np.int8), b=blocks(w.T.astype(np.int8)), bias=added.astype("<i4")
    )


def flexasr_linear(x: Array, product: host.Product, bias: int, version: Version) -> Array:
    """Bytes (rows, inputs) to bytes (rows, outputs), all multiples of 16."""
    weights, added = product.weights.reshape(-1, x.shape[1]), product.added.reshape(-1)
    wide = max(min(LINEAR_OUTPUTS, W // x.shape[1] // LANES * LANES), LANES)
    biases = Biases(product.input_bias, product.weight_bias, product.added_bias, bias)
    found = []
    for first in range(0, len(weights), wide):
        part = weights[first : first + wide]
        program = linear(len(x), len(part), x.shape[1], biases)
        of = {"x": x, "w": tiles(part), "added": added[first : first + wide]}
        found.append(_result(_flexasr(version), program, **of))
    return np.concatenate(found, axis=1)


def flexasr_lstm(
    x: Array, products: Sequence[host.Product], activation: bytes, bias: int, version: Version
) -> Array:
    """Bytes (steps, inputs) to bytes (steps, cells), all multiples of 16, from zeros.

    `activation`: the program of the activation unit.
    """
    of_input, of_before = (Biases(one.input_bias, one.weight_bias, one.added_bias, bias) for one in products)
    cells = products[0].weights.shape[1]
    values: dict[str, Array] = {"x": x, "zero": np.zeros((cells // LANES, LANES), np.uint8)}
    for name, one in zip("xh", products, strict=True):
        # From (gates, cells, inputs) to tiles of 16 cells, with all gates of a tile behind each other.
        values[f"w{name}"] = np.stack([tiles(gate) for gate in one.weights], axis=1)
        values[f"a{name}"] = one.added.reshape(GATES, -1, LANES).transpose(1, 0, 2).copy()
    program = lstm(len(x), cells, x.shape[1], of_input, of_before, activation)
    return _result(_flexasr(version), program, **values)
