"""Why a device that executes an instruction set stops: the value of ``debug_error``. Only reset ends it."""

from __future__ import annotations

from enum import IntEnum

FAULT_BITS = 4


class Fault(IntEnum):
    NONE = 0
    UNKNOWN = 1
    """The words of a command are those of no instruction."""
    ILLEGAL = 2
    """A `require` of its instruction does not hold."""
