"""Calls by commands on the text, as a host would give them."""

from __future__ import annotations

import numpy as np

from axiloom.application.units.counts import Array
from axiloom.isa.instructions.library import targets
from axiloom.isa.instructions.read import read
from axiloom.isa.instructions.simulator.simulate import Simulator

LANES = 16
"""Elements of a vector."""
_LOAD, _STORE, _GEMM, _ALU = 0, 1, 2, 4
_UOP, _WGT, _INP, _ACC, _OUT = 0, 1, 2, 3, 4
_MIN, _MAX, _ADD, _SHR = range(4)


def _fields(*of: tuple[int, int]) -> int:
    return sum(value << low for low, value in of)


def _moved(opcode: int, kind: int, base: int, count: int) -> int:
    return _fields((0, opcode), (7, kind), (26, base), (64, 1), (80, count), (96, count))


def _alu(op: int, constant: int, rows: int) -> int:
    """On `rows` accumulators from 0 on."""
    return _fields(
        (0, _ALU), (8, 0), (21, 1), (35, 1), (49, rows), (75, 1), (97, 1), (108, op), (111, 1),
        (112, constant & 0xFFFF),
    )  # fmt: skip


def commands(x: Array, w: Array, added: Array, shift: int) -> Array:
    """int8 (rows, inputs) and (16, inputs), int32 (16): int8 (rows, 16). Inputs a multiple of 16."""
    rows, vectors = len(x), x.shape[1] // LANES
    blocks = w.reshape(LANES, vectors, LANES).transpose(1, 0, 2)
    # Vector by vector, so that a step of the inner loop is a row.
    steps = x.reshape(rows, vectors, LANES).transpose(1, 0, 2)
    parts = (
        np.array([0], "<u4").view(np.uint8),
        np.ascontiguousarray(blocks, np.int8).ravel().view(np.uint8),
        np.ascontiguousarray(steps, np.int8).ravel().view(np.uint8),
        np.tile(added.astype("<i4"), rows).view(np.uint8),
    )  # fmt: skip
    sizes, at, places = (4, 256, 16, 64), 0, []
    for part, size in zip(parts, sizes, strict=True):
        at = -(-at // size) * size
        places.append(at)
        at += len(part)
    out = -(-at // 16) * 16
    device = Simulator(read(targets()["vta"], {"DRAM": 1 << max(20, (out + 16 * rows).bit_length())}))
    for part, place in zip(parts, places, strict=True):
        device.state["dram"][place : place + len(part)] = part
    gemm = _fields(
        (0, _GEMM), (8, 0), (21, 1), (35, vectors), (49, rows),
        (75, 1), (86, rows), (97, 1), (108, 1),
    )  # fmt: skip
    half = [_alu(_ADD, 1 << shift - 1, rows), _alu(_SHR, shift, rows)] if shift else []
    for word in (
        _moved(_LOAD, _UOP, 0, 1),
        *(
            _moved(_LOAD, kind, place // size, len(part) // size)
            for kind, part, place, size in zip(
                (_WGT, _INP, _ACC), parts[1:], places[1:], sizes[1:], strict=True
            )
        ),
        *(gemm, *half, _alu(_MIN, 127, rows), _alu(_MAX, -127, rows)),
        _moved(_STORE, _OUT, out // 16, rows),
    ):
        device.command(word=word)
    results = device.state["dram"][out : out + 16 * rows].astype(np.uint8).view(np.int8)
    return np.asarray(results.reshape(rows, LANES))
