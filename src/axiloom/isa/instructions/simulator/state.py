"""What a simulated device holds: registers as integers, memories as arrays; and how it stops."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from axiloom.base.errors import AxiloomError
from axiloom.isa.instructions.tree import InstructionSet, Range, Requirement

Array: TypeAlias = npt.NDArray[Any]

_NATURAL = (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64)


def natural(kind: Range) -> np.dtype[Any]:
    """The smallest of NumPy's integers that holds them all; int64 from 33 bits on."""
    for dtype in _NATURAL:
        info = np.iinfo(dtype)
        if info.min <= kind.low and kind.high <= info.max:
            return np.dtype(dtype)
    raise AssertionError(kind)


class IllegalCommandError(AxiloomError):
    """A command that the device stops at: what, where in the text, and the values it had."""

    exit_code = 7


class RefusedError(IllegalCommandError):
    """A requirement in a body does not hold, with the values it was looked at with."""

    def __init__(self, requirement: Requirement, values: dict[str, int]) -> None:
        self.requirement, self.values = requirement, values
        super().__init__(requirement.message or f"not {requirement.text}")


class State(dict[str, Any]):
    """Registers by name as integers, memories by name as arrays of the smallest type that holds an element.

    What is put in whole is checked: `state["x"] = values` copies values of the memory's shape and range.
    An element of an array is put in by NumPy, unchecked.
    """

    def __init__(self, isa: InstructionSet) -> None:
        self._isa = isa
        # A register that a reset leaves as it is has some value: 0, or the least it can have.
        registers = {
            register.name: register.init or max(0, register.type.low) for register in isa.registers.values()
        }
        memories = {
            memory.name: np.zeros(memory.shape, natural(memory.type)) for memory in isa.memories.values()
        }
        for memory in isa.memories.values():
            if memory.reset:
                memories[memory.name].fill(memory.reset)
        super().__init__({**registers, **memories})

    def __setitem__(self, name: str, value: Any) -> None:
        if register := self._isa.registers.get(name):
            kind = register.type
            if not kind.low <= int(value) <= kind.high:
                raise ValueError(f"register {name} is {kind}, not {value}")
            super().__setitem__(name, int(value))
        elif memory := self._isa.memories.get(name):
            kind, array = memory.type, np.asarray(value)
            if array.shape != memory.shape or array.dtype.kind not in "iub":
                raise ValueError(
                    f"memory {name} has integers in shape {memory.shape}, not {array.dtype} in {array.shape}"
                )
            if array.size and not (kind.low <= int(array.min()) and int(array.max()) <= kind.high):
                raise ValueError(f"memory {name} is {kind}, not {array.min()} to {array.max()}")
            self[name][...] = array
        else:
            there = ", ".join([*self._isa.registers, *self._isa.memories])
            raise KeyError(f"{self._isa.name} has no register and no memory `{name}`; there are {there}")

    def copied(self) -> dict[str, Any]:
        """Registers and memories as they are now."""
        return {name: held.copy() if isinstance(held, np.ndarray) else held for name, held in self.items()}
