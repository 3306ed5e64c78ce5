"""Parts of calls on the RTL of the units, in Verilator, with the operands of the run.

The numbers are FlexASR's; commands and memories are ours (`flexasr_units.isa`). Each packet is compared with
the text's on the way.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from axiloom.accelerators.flexasr import host
from axiloom.accelerators.flexasr.layers import GATES, LANES, Biases, W, linear, lstm, tiles
from axiloom.accelerators.flexasr.numbers import Version
from axiloom.application.units.counts import Array
from axiloom.application.units.on_rtl import result
from axiloom.device.rtl import DeviceRtl, device
from axiloom.isa.instructions.library import targets
from axiloom.isa.instructions.read import read

LINEAR_OUTPUTS = 64
"""Of a part; fewer at a time where their weights need more room."""


@cache
def _device(version: Version) -> DeviceRtl:
    constants = {"AC_MATH": version.ac_math, "SATURATED_SIGN": version.saturated_sign}
    return device(read(targets()["flexasr_units"], constants))


def on_linear(x: Array, product: host.Product, bias: int, version: Version) -> Array:
    """Bytes (rows, inputs) to bytes (rows, outputs), all multiples of 16."""
    weights, added = product.weights.reshape(-1, x.shape[1]), product.added.reshape(-1)
    wide = max(min(LINEAR_OUTPUTS, W // x.shape[1] // LANES * LANES), LANES)
    biases = Biases(product.input_bias, product.weight_bias, product.added_bias, bias)
    columns = []
    for first in range(0, len(weights), wide):
        part = weights[first : first + wide]
        program = linear(len(x), len(part), x.shape[1], biases)
        of = {"x": x, "w": tiles(part), "added": added[first : first + wide]}
        columns.append(result(_device(version), program, **of))
    return np.concatenate(columns, axis=1)


def on_lstm(
    x: Array, products: Sequence[host.Product], activation: bytes, bias: int, version: Version
) -> Array:
    """Bytes (steps, inputs) to bytes (steps, cells), all multiples of 16, from zeros.

    `activation`: the program of the activation unit.
    """
    of_input, of_before = (
        Biases(product.input_bias, product.weight_bias, product.added_bias, bias) for product in products
    )
    cells = products[0].weights.shape[1]
    values: dict[str, Array] = {"x": x, "zero": np.zeros((cells // LANES, LANES), np.uint8)}
    for name, product in zip("xh", products, strict=True):
        # From (gates, cells, inputs) to tiles of 16 cells, with all gates of a tile behind each other.
        values[f"w{name}"] = np.stack([tiles(gate) for gate in product.weights], axis=1)
        values[f"a{name}"] = product.added.reshape(GATES, -1, LANES).transpose(1, 0, 2).copy()
    program = lstm(len(x), cells, x.shape[1], of_input, of_before, activation)
    return result(_device(version), program, **values)
