"""VTA in plain NumPy, written from the HLS design's description and not from `vta.isa`.

Nothing of axiloom is imported here. Words are packed and unpacked by lists of fields as C packs a struct,
lowest first; loads build a padded block and copy it in one piece.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]
Struct: TypeAlias = Sequence[tuple[str, int]]

BUFFERS = {"uop": (8192, 4), "wgt": (1024, 256), "inp": (2048, 16), "acc": (2048, 64), "out": (2048, 16)}
"""Elements, and bytes of one in the host's memory."""
KINDS = {0: "uop", 1: "wgt", 2: "inp", 3: "acc", 4: "out", 5: "acc8"}
HEAD: Struct = [("opcode", 3), ("tokens", 4)]


def memory_struct(m: int) -> Struct:
    low = [*HEAD, ("kind", m), ("sram", 16), ("dram", 32), ("unused", 64 - 7 - m - 48)]
    high = [("rows", 16), ("count", 16), ("stride", 16)]
    return [*low, *high, ("above", 4), ("below", 4), ("left", 4), ("right", 4)]


LOOPS: Struct = [
    *(*HEAD, ("reset", 1), ("begin", 13), ("end", 14), ("outer", 14), ("inner", 14), ("unused", 1)),
    *(("dst_outer", 11), ("dst_inner", 11), ("src_outer", 11), ("src_inner", 11)),
]
GEMM: Struct = [*LOOPS, ("wgt_outer", 10), ("wgt_inner", 10)]


def alu_struct(a: int) -> Struct:
    return [*LOOPS, ("operation", a), ("immediate", 1), ("constant", 16)]


def pack(struct: Struct, fields: Mapping[str, int]) -> int:
    word, at = 0, 0
    for name, bits in struct:
        value = fields.get(name, 0)
        assert 0 <= value < 1 << bits, (name, value)
        word |= value << at
        at += bits
    assert set(fields) <= {name for name, _ in struct}
    return word


def unpack(struct: Struct, word: int) -> dict[str, int]:
    found = {}
    for name, bits in struct:
        found[name] = word % (1 << bits)
        word >>= bits
    return found


class PlainVta:
    """Buffers as arrays; `dram` is the host's memory, bytes."""

    def __init__(self, m: int, a: int, dram_bytes: int) -> None:
        self.memory_struct, self.alu_struct = memory_struct(m), alu_struct(a)
        self.dram = np.zeros(dram_bytes, np.uint8)
        self.uop = np.zeros(8192, np.uint32)
        self.wgt = np.zeros((1024, 16, 16), np.int8)
        self.inp = np.zeros((2048, 16), np.int8)
        self.acc = np.zeros((2048, 16), np.int32)
        self.out = np.zeros((2048, 16), np.int8)
        self.done = 0
        self.met: Counter[str] = Counter()
        """How often what is delicate was met."""

    def run(self, word: int) -> None:
        opcode = word % 8
        if opcode == 0:
            self.load(unpack(self.memory_struct, word))
        elif opcode == 1:
            self.store(unpack(self.memory_struct, word))
        elif opcode == 2:
            self.gemm(unpack(GEMM, word))
        elif opcode == 3:
            self.done = 1
        elif opcode == 4:
            self.alu(unpack(self.alu_struct, word))
        else:
            raise ValueError(f"opcode {opcode}")

    # --- between the host and the buffers -----------------------------------------------------------------

    def _elements(self, kind: str) -> Array:
        """The host's memory as elements of a kind."""
        if kind == "uop":
            return self.dram.view("<u4")
        if kind == "wgt":
            return self.dram.view(np.int8).reshape(-1, 16, 16)
        if kind == "acc":
            return self.dram.view("<i4").reshape(-1, 16)
        return self.dram.view(np.int8).reshape(-1, 16)

    def load(self, f: Mapping[str, int]) -> None:
        kind = KINDS[f["kind"]]
        host, buffer = self._elements(kind), getattr(self, kind[:3])
        tail = buffer.shape[1:]
        block = np.zeros((f["rows"], f["count"], *tail), buffer.dtype)
        for row in range(f["rows"]):
            start = f["dram"] + row * f["stride"]
            block[row] = host[start : start + f["count"]]
        around = [(f["above"], f["below"]), (f["left"], f["right"]), *([(0, 0)] * len(tail))]
        padded = np.pad(block, around).reshape(-1, *tail)
        self.met["padded elements"] += len(padded) - f["rows"] * f["count"]
        assert f["sram"] + len(padded) <= len(buffer)
        buffer[f["sram"] : f["sram"] + len(padded)] = padded

    def store(self, f: Mapping[str, int]) -> None:
        host, sram = self._elements("out"), f["sram"]
        for row in range(f["rows"]):
            start = f["dram"] + row * f["stride"]
            host[start : start + f["count"]] = self.out[sram : sram + f["count"]]
            sram += f["count"]

    # --- micro-ops ----------------------------------------------------------------------------------------

    def _places(self, f: Mapping[str, int], weights: bool) -> Array:
        """dst, src (and the weights' index) of each micro-op of the two loops, in order."""
        uops = self.uop[f["begin"] : max(f["end"], f["begin"])].astype(np.int64)
        outer, inner = np.arange(f["outer"])[:, None, None], np.arange(f["inner"])[None, :, None]
        fields = [("dst", uops & 0x7FF, 2048), ("src", uops >> 11 & 0x7FF, 2048)]
        if weights:
            fields.append(("wgt", uops >> 22, 1024))
        found = []
        for name, base, size in fields:
            index = (base + outer * f[f"{name}_outer"] + inner * f[f"{name}_inner"]).reshape(-1)
            self.met["indices that wrap"] += int((index >= size).sum())
            found.append(index % size)
        self.met["micro-ops"] += len(found[0])
        self.met["micro-ops after one with the same destination"] += len(found[0]) - len(np.unique(found[0]))
        return np.stack(found, axis=1)

    def gemm(self, f: Mapping[str, int]) -> None:
        for dst, src, weights in self._places(f, True):
            product = self.wgt[weights].astype(np.int64) @ self.inp[src].astype(np.int64)
            total = (self.acc[dst].astype(np.int64) + product).astype(np.int32)
            self.acc[dst] = np.zeros(16, np.int32) if f["reset"] else total
            self.out[dst] = (total & 0xFF).astype(np.uint8).view(np.int8)

    def alu(self, f: Mapping[str, int]) -> None:
        constant = f["constant"] - (f["constant"] >> 15 << 16)
        for dst, src in self._places(f, False):
            x = self.acc[dst].astype(np.int64)
            y = np.full(16, constant, np.int64) if f["immediate"] else self.acc[src].astype(np.int64)
            value = self._computed(f["operation"], x, y)
            self.acc[dst] = (value & 0xFFFFFFFF).astype(np.uint32).view(np.int32)
            self.out[dst] = (value & 0xFF).astype(np.uint8).view(np.int8)

    def _computed(self, operation: int, x: Array, y: Array) -> Array:
        if operation == 0:
            return np.where(x < y, x, y)
        if operation == 1:
            return np.where(x > y, x, y)
        if operation == 2:
            total: Array = x + y
            return total
        if operation == 3:
            low = y & 31
            amount = np.where(low < 16, low, low - 32)
            self.met["shifts to the left"] += int((amount < 0).sum())
            return np.where(amount < 0, x * 2 ** np.abs(amount), x // 2 ** np.abs(amount))
        assert operation == 4
        return np.array([(int(p) * int(q)) % 2**32 for p, q in zip(x, y, strict=True)], np.int64)
