"""Parts of calls on the RTL, in Verilator, with the operands of the run."""

from __future__ import annotations

from functools import cache

import numpy as np

from axiloom.accelerators.vta.matmul import blocks, matmul
from axiloom.application.units.counts import Array
from axiloom.application.units.on_rtl import result
from axiloom.device.rtl import DeviceRtl, device
from axiloom.isa.instructions.library import target


@cache
def _device() -> DeviceRtl:
    return device(target("vta"))


def gemm(x: Array, w: Array, added: Array, shift: int) -> Array:
    """int8 (rows, inputs) and (16, inputs), int32 (16): int8 (rows, 16). Inputs are a multiple of 16."""
    program = matmul(len(x), len(w), x.shape[1], shift, least=-127, half=True)
    return result(
        _device(), program, a=x.astype(np.int8), b=blocks(w.T.astype(np.int8)), bias=added.astype("<i4")
    )
