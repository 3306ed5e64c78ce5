"""`Block`: a program of commands as one step of a larger program: a layer with its sizes.

What it computes is its `value`, as of any other meaning; all its operands and its result lie in the host's
memory. Its commands were made for addresses of their own, and are moved to where the arrays are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axiloom.base.errors import CompileError
from axiloom.selection.machine.derive import Meaning
from axiloom.selection.program.program import Command, Program, array_bytes

UOPS = "uops"
LAST = "finish"
"""The command that ends a program; a block has none of its own."""
_UNITS: Mapping[str, int] = {"load_uop": 4, "load_inp": 16, "load_wgt": 256, "load_acc": 64, "store": 16}
"""Bytes that `base` counts, for blocks of 16."""


@dataclass(frozen=True, eq=False)
class Block(Meaning):
    """`own`: its program; `names`: the arrays there of its operands, in order. Its result is ``y``."""

    own: Program
    names: tuple[str, ...]

    @property
    def micro_ops(self) -> NDArray[Any]:
        return np.asarray(self.own.constants[UOPS])

    @property
    def commands(self) -> tuple[Command, ...]:
        """For addresses of its own; what it costs does not depend on them."""
        return tuple(command for command in self.own.commands if command.instruction != LAST)

    def moved(self, operands: Sequence[int], result: int, micro_ops: int) -> Iterator[Command]:
        """The commands for arrays that begin at these bytes of the host's memory. Raises CompileError for
        one that begins within a unit."""
        to = {**dict(zip(self.names, operands, strict=True)), "y": result, UOPS: micro_ops}
        ends = [(own, own.base + array_bytes(own)) for own in self.own.arrays]
        for command in self.commands:
            unit = _UNITS.get(command.instruction)
            if unit is None:
                yield command
                continue
            at = unit * command.fields["base"]
            array = next(own for own, end in ends if own.base <= at < end)
            moved, rest = divmod(at - array.base + to[array.name], unit)
            if rest:
                raise CompileError(f"{array.name} begins at byte {to[array.name]}, within a unit of {unit}")
            yield Command(command.instruction, {**command.fields, "base": moved})
