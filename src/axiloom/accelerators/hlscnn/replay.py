"""Calls by commands on the text, as a host would give them."""

from __future__ import annotations

import numpy as np

from axiloom.application.units.counts import Array
from axiloom.application.units.unit import Settings
from axiloom.isa.instructions.library import targets
from axiloom.isa.instructions.read import read
from axiloom.isa.instructions.simulator.simulate import Simulator

BASE, SPAD0, SPAD1 = 0x32 << 24, 0x4000, 0x24000


def _write(register: int, value: int) -> dict[str, int]:
    at = 4 * register
    return {"addr": BASE + at, "data": value << 8 * (at % 16), "wr": 1}


def commands(x: Array, w: Array, strides: tuple[int, int], settings: Settings) -> Array:
    """One image (channels, rows, cols) and kernels (filters, channels, rows, cols), both raw.

    Returns (filters, rows, cols).
    """
    blocks, width = -(-x.shape[0] // 8), settings["weight_bytes"]
    (channels, rows, cols), (filters, _, kr, kc), (sr, sc) = x.shape, w.shape, strides
    out_rows, out_cols = (rows - kr) // sr + 1, (cols - kc) // sc + 1
    image = np.zeros((blocks * 8, rows, cols), "<i2")
    image[:channels] = x
    image_bytes = image.reshape(blocks, 8, rows, cols).transpose(0, 2, 3, 1).ravel().view(np.uint8)
    kernels = np.zeros((filters, blocks * 8, kr, kc), "<i2")
    kernels[:, :channels] = w
    flat = kernels.reshape(filters, blocks, 8, kr, kc).transpose(0, 1, 3, 4, 2).ravel()
    weights = flat.view(np.uint8) if width == 2 else (flat >> 8).astype(np.int8).view(np.uint8)
    act = -(-len(weights) // 16) * 16
    soc = 1 << max(18, (act + len(image_bytes)).bit_length())
    constants = {
        "SOC": soc,
        "WEIGHT_BYTES": width,
        "ROUND": settings["round"],
        "SATURATE": settings["saturate"],
    }
    device = Simulator(read(targets()["hlscnn"], constants))
    device.state["soc"][: len(weights)] = weights
    device.state["soc"][act : act + len(image_bytes)] = image_bytes
    for command in (
        *(_write(4, 0), _write(5, act // 16), {"addr": BASE + SPAD0, "wr": 1}),
        *(_write(18, act), _write(19, 0), _write(20, 0)),
        *(
            _write(21, cols | rows << 10 | channels << 20),
            _write(22, out_cols | out_rows << 10 | filters << 20),
        ),
        *(_write(23, kc | kr << 8 | sc << 16 | sr << 19), _write(24, filters << 19), _write(17, 1)),
    ):
        device.command(**command)
    groups = -(-filters // 8)
    beats = []
    for beat in range(groups * out_rows * out_cols):
        device.command(addr=BASE + SPAD1 + 16 * beat, rd=1)
        beats.append(device.state["bus"].copy())
    results = np.concatenate(beats).astype(np.uint8).view("<i2").reshape(groups, out_rows, out_cols, 8)
    return results.transpose(0, 3, 1, 2).reshape(-1, out_rows, out_cols)[:filters].astype(np.int64)
