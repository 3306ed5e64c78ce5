"""The words a host sends, written out independently of the functional model and of the driver generator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

from axiloom.isa import AcceleratorSpec
from axiloom.isa.types import Recv, Scope, Send, SendDim, SendIdx, SendLiteral

Tile = tuple[int, ...]
Matrix = npt.NDArray[np.int64]


def packed(elements: Matrix, bits: int) -> list[int]:
    """Words of the elements, row major, the lowest element in the lowest bits; in plain integers."""
    values = [int(e) % (1 << bits) for e in elements.reshape(-1)]
    each = 32 // bits
    return [
        sum(v << (bits * i) for i, v in enumerate(values[at : at + each]))
        for at in range(0, len(values), each)
    ]


def opcode_words(
    spec: AcceleratorSpec,
    name: str,
    tile: Tile,
    operands: Mapping[str, Matrix],
    index: Mapping[str, int] | None = None,
) -> list[int]:
    """What the host sends for one opcode; `operands` in their own dims, `index` for send_idx."""
    words: list[int] = []
    beat = spec.stream_width // 32
    sizes = dict(zip(spec.dims, tile, strict=True))
    for action in spec.opcodes[name].host:
        if isinstance(action, SendLiteral):
            words.append(action.value)
        elif isinstance(action, SendDim):
            words.append(sum(sizes[f.dim] << f.shift for f in action.fields))
        elif isinstance(action, SendIdx):
            words.append((index or {}).get(action.dim, 0))
        elif isinstance(action, Send):
            words += [0] * (-len(words) % beat)  # a tile begins on a beat
            words += packed(operands[action.operand], spec.data_type.bits)
    return words + [0] * (-len(words) % beat)  # so does the next opcode


@dataclass(frozen=True)
class Step:
    """One opcode of a program: its words, and the slice of C that comes back for it, if any."""

    opcode: str
    words: list[int]
    receives: tuple[slice, ...] | None


def matmul_program(
    spec: AcceleratorSpec, flow: str, order: Sequence[str], tile: Tile, operands: Mapping[str, Matrix]
) -> Iterator[Step]:
    """The opcodes of one whole C = A . B under a flow; matrices in their operands' own dims, sizes
    multiples of the tile's."""
    sizes = dict(zip(spec.dims, tile, strict=True))
    totals: dict[str, int] = {}
    for operand in "AB":
        totals.update(zip(spec.data[operand], operands[operand].shape, strict=True))

    def place(operand: str, index: Mapping[str, int]) -> tuple[slice, ...]:
        return tuple(slice(index[d], index[d] + sizes[d]) for d in spec.data[operand])

    def opcode(name: str, index: Mapping[str, int]) -> Step:
        host = spec.opcodes[name].host
        tiles = {a.operand: operands[a.operand][place(a.operand, index)] for a in host if isinstance(a, Send)}
        received = [place(a.operand, index) for a in host if isinstance(a, Recv)]
        return Step(name, opcode_words(spec, name, tile, tiles, index), received[0] if received else None)

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
    return np.asarray((c + (1 << 31)) % (1 << 32) - (1 << 31), dtype=np.int64)
