"""AdaptivFloat<8,3> bit by bit, against what FlexASR's published simulator wrote and read.

A vector file has the writes of a program (address, 16 bytes) and the reads behind it. Compared are all bytes:

- rnn64: two steps of h = tanh(W x + b + U h + c), 64 wide, on four processing elements: both linear layers of
  each step (products and sums by the functional model of a matmul), their scaling, biases, saturation and
  rounding. All 128 bytes that the device wrote, and the 64 inputs of each step that it read.
- maxpool: pairs of 16 vectors in 16 steps: all 2048 bytes that the device wrote.
- linear256x64_T10: only that inputs come back. **Its reads end before the place of its results**, so they are
  compared with the published formulas in fractions instead, and not with the device.

The files are not ours and stay where they are: in the folder ``flexasr`` of $AXILOOM_DATA, or of
``../shared/data`` beside the checkout. Registers and formulas are those of FlexASR's published source.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.isa.streams import matmul_program

from axiloom import isa
from axiloom.isa import FunctionalModel
from axiloom.isa.numerics import of
from axiloom.isa.numerics.adaptivfloat import NAME, from_fixed, to_fixed

Array = np.ndarray[Any, Any]
LANES = 16
BUFFER, PES = 0x335, (0x34, 0x35, 0x36, 0x37)
WEIGHTS, INPUTS = 5, 6
LIMIT = (1 << 19) - 1
"""Registers have 20 bits, 14 of them behind the point."""
TANH = (
    (251, 224, 177, 129, 88, 57, 37, 23, 14, 9, 5, 3),
    (1, 252, 476, 653, 783, 871, 928, 965, 988, 1002, 1011, 1016),
)
"""Slopes and offsets of 12 pieces of a quarter each, in 1/1024."""


class Vectors:
    """Writes and reads of one program, by address."""

    def __init__(self, name: str) -> None:
        folders = [os.environ.get("AXILOOM_DATA"), Path(__file__).parents[3].parent / "shared" / "data"]
        found = [Path(one) / "flexasr" / f"flexasr_{name}.npz" for one in folders if one]
        file = next((one for one in found if one.is_file()), None)
        if file is None:
            pytest.skip(f"no {found[-1].name}: set AXILOOM_DATA to the folder that has flexasr/")
        with np.load(file) as data:
            self.writes = dict(zip(map(int, data["addr"]), data["data"], strict=True))
            self.reads = dict(zip(map(int, data["raddr"]), data["rdata"], strict=True))

    def unit(self, part: int, unit: int) -> dict[int, Array]:
        """Vectors that were written to a unit of a part of the chip, by their number there."""
        return {
            address >> 4 & 0xFFFF: data
            for address, data in self.writes.items()
            if address >> 20 == part << 4 | unit
        }

    def config(self, part: int, unit: int, number: int) -> list[int]:
        """The bytes of a configuration register."""
        return [int(byte) for byte in self.writes[part << 24 | unit << 20 | number << 4]]

    @property
    def changed(self) -> set[int]:
        """Addresses where what was read is not what was written: the device's results."""
        return {
            address
            for address, data in self.reads.items()
            if not np.array_equal(data, self.writes.get(address, np.zeros(LANES, np.uint8)))
        }


def place(vector: int, step: int, vectors: int, base: int = 0) -> int:
    """Address of a vector of a time step in the large buffer."""
    return BUFFER << 20 | base + (step & 15) + ((step >> 4) * vectors + vector) * 16 << 4


def matrix(weights: Mapping[int, Array], base: int, vectors: int) -> Array:
    """The rows of one processing element, (16, 16 * vectors) bytes."""
    rows = [[weights[base + v * LANES + row] for v in range(vectors)] for row in range(LANES)]
    return np.array(rows).reshape(LANES, -1)


def products(w: Array, x: Array) -> Array:
    """W (m, k) times x (k, n), sums of 32 bits: by the functional model, whose tiles are 16x16x16."""
    spec = isa.builtin("v3_16", data_type=NAME)
    columns = -(-x.shape[1] // LANES) * LANES
    padded = np.pad(x, ((0, 0), (0, columns - x.shape[1])))
    operands = {"A": w.astype(np.int64), "B": padded.astype(np.int64)}
    model, sums = FunctionalModel(spec), np.zeros((w.shape[0], columns), np.int32)
    for step in matmul_program(spec, "Cs", ("m", "n", "k"), spec.tile.size, operands):
        words = model.feed(step.words)
        assert model.error is None
        if step.receives is not None:
            sums[step.receives] = words.view(np.int32).reshape(LANES, LANES)
    return sums[:, : x.shape[1]]


def linear(data: Vectors, pe: int, manager: int, x: Array, *, first: bool = False) -> Array:
    """What a manager of a processing element gives for x (k, n), in units of 2^-14."""
    zero, w_bias, b_bias, x_bias, vectors, _, low, high, at, _, _, _, *_ = data.config(pe, 4, 2 * manager + 2)
    sums = products(matrix(data.unit(pe, WEIGHTS), low | high << 8, vectors), x).astype(np.int64)
    if zero and first:
        sums[:] = 0
    scaled = sums >> (14 - w_bias - x_bias)
    bias = to_fixed(data.unit(pe, INPUTS)[at], b_bias)
    return np.clip(scaled + bias[:, None], -LIMIT, LIMIT)


def tanh(x: Array) -> Array:
    """The device's, in units of 2^-14."""
    slopes, offsets = (np.array(row) for row in TANH)
    steps = np.abs(x) * 4 >> 4
    piece = np.minimum(steps >> 10, len(slopes) - 1)
    y = slopes[piece] * (steps & 1023) + (offsets[piece] << 10)
    y = np.where(np.abs(x) >= 3 << 14, (1 << 20) - 1, y)
    return np.where(x < 0, -y, y) >> 6


def wrapped(x: Array) -> Array:
    return (x + LIMIT + 1) % (2 * LIMIT + 2) - LIMIT - 1


def test_rnn() -> None:
    data = Vectors("rnn64")
    steps, vectors = 2, 4
    before = np.zeros((vectors * LANES, 1), np.uint8)
    compared = set()
    for step in range(steps):
        places = [place(v, step, vectors) for v in range(vectors)]
        x = np.concatenate([data.writes[at] for at in places])[:, None]
        found = []
        for pe in PES:
            both = linear(data, pe, 0, x) + linear(data, pe, 1, before, first=step == 0)
            found.append(from_fixed(tanh(wrapped(both)), data.config(pe, 8, 1)[2]))
        before = np.concatenate(found)
        expected = np.concatenate([data.reads[at] for at in places])
        assert np.array_equal(before[:, 0], expected)
        compared |= set(places)
    assert compared == data.changed  # the device wrote nothing else


def test_maxpool() -> None:
    data, kind = Vectors("maxpool"), of(NAME)
    *_, vectors, _, steps, _ = data.config(0x33, 8, 1)[:10]
    compared = set()
    for vector in range(vectors):
        for step in range(steps // 2):
            pair = (data.writes[place(vector, 2 * step + one, vectors)] for one in (0, 1))
            at = place(vector, step, vectors)
            assert np.array_equal(kind.encode(kind.maximum(*map(kind.decode, pair))), data.reads[at])
            compared.add(at)
    assert len(compared) == 128
    assert data.changed <= compared


def fraction(byte: int, bias: int) -> Fraction:
    sign, exponent, mantissa = byte >> 7, byte >> 4 & 7, byte & 15
    if exponent == mantissa == 0:
        return Fraction(0)
    return (-1) ** sign * Fraction(2) ** (exponent + bias - 10) * (1 + Fraction(mantissa, 16))


def test_linear_layer() -> None:
    """256 to 64, 10 steps. The device's results were not read: these are fractions, rounded here."""
    data = Vectors("linear256x64_T10")
    steps, vectors = 10, 16
    places = [[place(v, step, vectors) for v in range(vectors)] for step in range(steps)]
    assert data.changed == set()
    assert all(np.array_equal(data.reads[at], data.writes[at]) for row in places for at in row)
    x = np.array([np.concatenate([data.writes[at] for at in row]) for row in places]).T
    saturated = 0
    for pe in PES:
        act_bias = data.config(pe, 8, 1)[2]
        found = from_fixed(linear(data, pe, 0, x), act_bias)
        w = matrix(data.unit(pe, WEIGHTS), 0, vectors)
        ((_, bias),) = data.unit(pe, INPUTS).items()
        for row, step in ((0, 0), (5, 3), (15, 9)):
            exact = sum(
                (fraction(int(a), 3) * fraction(int(b), 3) for a, b in zip(w[row], x[:, step], strict=True)),
                Fraction(0),
            )
            unit = (exact * (1 << 14)).__floor__() + fraction(int(bias[row]), 3) * (1 << 14)
            byte = int(found[row, step])
            if abs(unit) > LIMIT or abs(unit) > fraction(0x7F, act_bias) * (1 << 14):
                saturated += 1
                assert byte == (0x7F if unit > 0 else 0xFF)
                continue
            number, known = unit / (1 << 14), {fraction(one, act_bias) for one in range(256)}
            assert fraction(byte, act_bias) == min(known, key=lambda value: abs(value - number))
    assert saturated < 12
