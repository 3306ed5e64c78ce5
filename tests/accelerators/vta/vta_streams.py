"""Random legal streams of VTA: short, with overlaps, wrap-around, pads, ends of buffers, left shifts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from tests.accelerators.vta.vta_plain import BUFFERS, GEMM, PlainVta, alu_struct, memory_struct, pack

from axiloom.isa.instructions.simulator.simulate import Simulator

DRAM = 1 << 14
UOPS_AT = DRAM - 256
"""Where the host puts micro-ops, in bytes."""
NAMES = ("dram", "uop", "wgt", "inp", "acc", "out")


@dataclass
class Generator:
    """Instructions for a device of the encoding (m, a), of which it knows the host's memory alone."""

    rng: np.random.Generator
    m: int
    a: int
    dram: Any
    """Both devices' host memories: micro-ops are put there before they are loaded."""

    def _below(self, end: int) -> int:
        return int(self.rng.integers(end))

    def _place(self, size: int) -> int:
        """An index, mostly one of few, so that they meet; some at the end of the buffer."""
        near = self._below(4)
        return [near, size - 1 - near, self._below(size)][int(self.rng.choice(3, p=[0.6, 0.25, 0.15]))]

    def _factor(self, size: int) -> int:
        return [0, 1, self._below(4), self._below(size)][self._below(4)]

    def stream(self) -> Iterator[int]:
        yield self.load_uop()
        for _ in range(int(self.rng.integers(3, 9))):
            yield self.rng.choice(
                np.array([self.load, self.store, self.gemm, self.alu, self.load_uop], object),
                p=[0.25, 0.1, 0.25, 0.35, 0.05],
            )()
        yield self.store()
        if self._below(4) == 0:
            yield 3 | self._below(16) << 3

    def _tokens(self) -> dict[str, int]:
        return {"tokens": self._below(16)}

    def load_uop(self) -> int:
        count = self._below(9)
        words = [self._place(2048) | self._place(2048) << 11 | self._place(1024) << 22 for _ in range(count)]
        raw = np.array(words, "<u4").view(np.uint8)
        for one in self.dram:
            one[UOPS_AT : UOPS_AT + len(raw)] = raw
        fields = {"kind": 0, "sram": self._below(4), "dram": UOPS_AT // 4, "rows": 1, "count": count}
        fields["stride"] = self._below(1 << 16)
        return pack(memory_struct(self.m), {"opcode": 0, **self._tokens(), **fields})

    def _moved(self, name: str, element: int, pads: bool) -> dict[str, int]:
        rows, count, stride = self._below(4), self._below(4), self._below(7)
        around = [self._below(3) if pads and self._below(2) else 0 for _ in range(4)]
        above, below, left, right = around
        used = (above + rows + below) * (left + count + right)
        last = max(rows - 1, 0) * stride + count
        size = BUFFERS[name][0]
        sram = min(self._place(size), size - used)
        fields = {"sram": sram, "dram": self._below(DRAM // element - last + 1)}
        fields |= {"rows": rows, "count": count, "stride": stride}
        return fields | {"above": above, "below": below, "left": left, "right": right}

    def load(self) -> int:
        kinds = [(1, "wgt", 256), (2, "inp", 16), (3, "acc", 64), (5, "acc", 16)]
        kind, name, element = kinds[self._below(3 + (self.m == 3))]
        fields = {"opcode": 0, "kind": kind, **self._tokens(), **self._moved(name, element, True)}
        return pack(memory_struct(self.m), fields)

    def store(self) -> int:
        kind = 4 if self.m == 3 else self._below(4)
        fields = {"opcode": 1, "kind": kind, **self._tokens(), **self._moved("out", 16, False)}
        return pack(memory_struct(self.m), fields)

    def _loops(self) -> dict[str, int]:
        begin = self._below(3) if self._below(8) else 8192 - self._below(3) - 1
        fields = {"begin": begin, "end": max(0, min(begin + self._below(5) - (self._below(8) == 0), 8192))}
        outer, inner = (int(self.rng.choice(5, p=[0.06, 0.34, 0.3, 0.2, 0.1])) for _ in range(2))
        fields |= {"outer": outer, "inner": inner}
        for name in ("dst", "src"):
            fields |= {f"{name}_outer": self._factor(2048), f"{name}_inner": self._factor(2048)}
        return fields | self._tokens()

    def gemm(self) -> int:
        fields = {"opcode": 2, "reset": int(self._below(5) == 0), **self._loops()}
        fields |= {"wgt_outer": self._factor(1024), "wgt_inner": self._factor(1024)}
        return pack(GEMM, fields)

    def alu(self) -> int:
        fields = {"opcode": 4, "operation": self._below(4 + (self.a == 3)), **self._loops()}
        fields |= {"immediate": self._below(2), "reset": self._below(2)}
        small = (self._below(40) - 20) % (1 << 16)
        fields["constant"] = small if self._below(2) else self._below(1 << 16)
        return pack(alu_struct(self.a), fields)


@dataclass
class Compared:
    """What was run on both, and where they differed."""

    streams: int = 0
    instructions: Counter[str] = field(default_factory=Counter)
    met: Counter[str] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)


class Pair:
    """A simulator of `vta.isa` beside the plain model, with the same random memories at the start."""

    def __init__(self, simulator: Simulator, m: int, a: int, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.simulator, self.plain = simulator, PlainVta(m, a, DRAM)
        self.generator = Generator(self.rng, m, a, (self.plain.dram, simulator.state["dram"]))
        for name in NAMES:
            array = getattr(self.plain, name)
            array[...] = np.frombuffer(self.rng.bytes(array.nbytes), array.dtype).reshape(array.shape)
            simulator.state[name] = array
        # Micro-ops that meet from the start; the others of the 8192 are anywhere.
        self.plain.uop[:16] = [i % 3 | i % 2 << 11 | i % 2 << 22 for i in range(16)]
        simulator.state["uop"] = self.plain.uop

    def run(self, compared: Compared) -> None:
        """One stream, and then all memories are compared."""
        for word in self.generator.stream():
            name = self.simulator.command(word=word)
            self.plain.run(word)
            compared.instructions[name] += 1
        compared.streams += 1
        compared.met += self.plain.met
        self.plain.met.clear()
        different = [
            name
            for name in NAMES
            if not np.array_equal(self.simulator.state[name], getattr(self.plain, name))
        ]
        if different:
            compared.differences.append(f"stream {compared.streams}: {', '.join(different)}")
