"""The words a host sends, written out independently of the functional model and of the driver generator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

from axiloom.isa import AcceleratorSpec, Opcode
from axiloom.isa.contract.types import Recv, Scope, Send, SendDim, SendIdx, SendLiteral

Tile = tuple[int, ...]
Matrix = npt.NDArray[np.int64]
NEUTRAL = {"zp": 0, "lo": -128, "hi": 127}
"""Settings of post-processing that only clamp to int8."""


def packed(elements: Matrix, bits: int) -> list[int]:
    """Words of the elements, row major, the lowest element in the lowest bits; in plain integers."""
    values = [int(e) % (1 << bits) for e in elements.reshape(-1)]
    each = 32 // bits
    return [
        sum(v << (bits * i) for i, v in enumerate(values[at : at + each]))
        for at in range(0, len(values), each)
    ]


def packed_tile(spec: AcceleratorSpec, operand: str, elements: Matrix) -> list[int]:
    """Words of an operand's tile: each filter begins on a beat, and zeros fill up what is no whole beat."""
    beat = spec.link.stream_width // 32
    words: list[int] = []
    for row in elements if operand == "F" else [elements]:
        words += packed(row, 32 if operand == "P" else spec.data_type.bits)
        words += [0] * (-len(words) % beat)
    return words


def opcode_words(
    spec: AcceleratorSpec,
    name: str | Opcode,
    tile: Tile,
    operands: Mapping[str, Matrix],
    index: Mapping[str, int] | None = None,
    settings: Mapping[str, int] | None = None,
) -> list[int]:
    """What the host sends for one opcode; `operands` in their own dims, `index` for send_idx."""
    words: list[int] = []
    beat = spec.link.stream_width // 32
    values = {**dict(zip(spec.dims, tile, strict=True)), **NEUTRAL, **(settings or {})}
    values.update({name: values[name] & 0xFF for name in ("zp", "lo", "hi")})
    opcode = spec.opcodes[name] if isinstance(name, str) else name
    for action in opcode.host:
        if isinstance(action, SendLiteral):
            words.append(action.value)
        elif isinstance(action, SendDim):
            words.append(sum(values[f.dim] << f.shift for f in action.fields))
        elif isinstance(action, SendIdx):
            words.append((index or {}).get(action.dim, 0))
        elif isinstance(action, Send):
            words += [0] * (-len(words) % beat)  # a tile begins on a beat
            words += packed_tile(spec, action.operand, operands[action.operand])
    return words + [0] * (-len(words) % beat)  # so does the next opcode


@dataclass(frozen=True)
class Step:
    """One opcode of a program: its words, and the slice of C that comes back for it, if any."""

    opcode: str
    words: list[int]
    receives: tuple[slice, ...] | None


def matmul_program(
    spec: AcceleratorSpec,
    flow: str,
    order: Sequence[str],
    tile: Tile,
    operands: Mapping[str, Matrix],
    settings: Mapping[str, int] | None = None,
) -> Iterator[Step]:
    """The opcodes of one whole C = A . B under a flow; matrices in their operands' own dims, sizes
    multiples of the tile's; P is (n, 2)."""
    sizes = dict(zip(spec.dims, tile, strict=True))
    totals: dict[str, int] = {}
    for operand in "AB":
        totals.update(zip(spec.data[operand], operands[operand].shape, strict=True))

    def place(operand: str, index: Mapping[str, int]) -> tuple[slice, ...]:
        dims = ("n",) if operand == "P" else spec.data[operand]
        return tuple(slice(index[d], index[d] + sizes[d]) for d in dims)

    def opcode(name: str, index: Mapping[str, int]) -> Step:
        host = spec.opcodes[name].host
        tiles = {a.operand: operands[a.operand][place(a.operand, index)] for a in host if isinstance(a, Send)}
        received = [place(a.operand, index) for a in host if isinstance(a, Recv)]
        words = opcode_words(spec, name, tile, tiles, index, settings)
        return Step(name, words, received[0] if received else None)

    def body(scope: Scope, level: int, index: dict[str, int]) -> Iterator[Step]:
        for item in scope.items:
            if isinstance(item, str):
                yield opcode(item, index)
            else:
                for start in range(0, totals[order[level]], sizes[order[level]]):
                    yield from body(item, level + 1, {**index, order[level]: start})

    for name in spec.init_opcodes:
        yield opcode(name, {})
    scope = spec.flows[flow]
    outer = len(order) - scope.depth + 1
    starts = (range(0, totals[d], sizes[d]) for d in order[:outer])
    for values in product(*starts):
        yield from body(scope, outer, dict(zip(order[:outer], values, strict=True)))


def wrapped_matmul(spec: AcceleratorSpec, operands: Mapping[str, Matrix]) -> Matrix:
    """A . B mod 2^32 as int32 values, in C's own dims: NumPy, and nothing of ours."""
    a = operands["A"] if spec.data["A"] == ("m", "k") else operands["A"].T
    b = operands["B"] if spec.data["B"] == ("k", "n") else operands["B"].T
    c = a.astype(object) @ b.astype(object)
    c = c if spec.data["C"] == ("m", "n") else c.T
    return wrapped(c)


def wrapped(sums: npt.NDArray[np.object_]) -> Matrix:
    """Python's integers mod 2^32, as int32 values."""
    return np.asarray((sums + (1 << 31)) % (1 << 32) - (1 << 31), dtype=np.int64)


def requantised(sums: Matrix, channels: Matrix, axis: int, settings: Mapping[str, int]) -> Matrix:
    """int8 values of `sums` by `channels` (channels, 2) along `axis`: the formula in Python's integers."""
    result = np.zeros(sums.shape, dtype=np.int64)
    for place in np.ndindex(*sums.shape):
        bias, word = (int(value) for value in channels[place[axis]])
        multiplier, shift = word % (1 << 16), word >> 16 & 63
        biased = (int(sums[place]) + bias + (1 << 31)) % (1 << 32) - (1 << 31)
        rounded = (biased * multiplier + (1 << (shift - 1) if shift else 0)) // (1 << shift)
        result[place] = min(max(rounded + settings["zp"], settings["lo"]), settings["hi"])
    return result
