"""What a program is put together from: arrays one after the other, micro-ops, commands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from axiloom.accelerators.vta.blocks.sizes import Sizes
from axiloom.base.errors import CompileError
from axiloom.graph.numbers import number
from axiloom.selection.program.program import Command, HostArray, Program

_DST, _SRC, _WGT = 0, 11, 22


class Host:
    """Of one program. Arrays begin at multiples of a block of weights, which is every kind's."""

    def __init__(self, sizes: Sizes) -> None:
        self.sizes = sizes
        self.arrays: list[HostArray] = []
        self.commands: list[Command] = []
        self._uops: list[int] = []
        self._end = 0

    def array(
        self, name: str, role: Literal["in", "out", "constant", "local"], shape: Sequence[int], kind: str
    ) -> int:
        """Its first byte."""
        host_array = HostArray(name, role, tuple(shape), kind, self._end, "dram")
        self.arrays.append(host_array)
        unit = self.sizes.block**2
        size = int(np.prod(shape)) * np.dtype(number(kind).host).itemsize
        self._end += -(-size // unit) * unit
        return host_array.base

    def micro_ops(self, places: Sequence[tuple[int, int, int]]) -> dict[str, int]:
        """``first`` and ``last`` of these micro-ops: (dst, src, wgt) each."""
        first = len(self._uops)
        self._uops += [dst << _DST | src << _SRC | wgt << _WGT for dst, src, wgt in places]
        if len(self._uops) > self.sizes.uops:
            raise CompileError(f"{len(self._uops)} micro-ops; there is room for {self.sizes.uops}")
        return {"first": first, "last": len(self._uops)}

    def add(self, instruction: str, **fields: int) -> None:
        self.commands.append(Command(instruction, fields))

    def program(self, target: str, name: str) -> Program:
        """All of it: the micro-ops are loaded first. Raises CompileError for more bytes than the host has."""
        constants: dict[str, Any] = {"uops": np.array(self._uops, np.uint32)}
        base = self.array("uops", "constant", (len(self._uops),), "uint32")
        if self._end > self.sizes.dram:
            raise CompileError(
                f"{name} takes {self._end} bytes of the host's memory; say -D DRAM={self._end}"
            )
        load = Command("load_uop", {"sram": 0, "base": base // 4, "rows": 1, "count": len(self._uops)})
        commands = (load, *self.commands, Command("finish", {}))
        return Program(target, name, commands, tuple(self.arrays), constants)
