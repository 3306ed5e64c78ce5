"""Why a device stops."""

from __future__ import annotations

from enum import IntEnum


class DeviceError(IntEnum):
    """Why a device stopped: the value of ``debug_error``. Only reset gets it out of an error."""

    OK = 0
    UNKNOWN_OPCODE = 1
    """A word where an opcode was due that is no opcode."""
    BAD_DIMS = 2
    """Sizes that are zero, no multiple of the granule, or give an operand a tile larger than its buffer; or a
    setting below its lowest value."""
    NOT_LOADED = 3
    """compute before an input was loaded since reset, or requantise before P was."""
    DIMS_MISMATCH = 4
    """compute under other sizes than an input was loaded with, or than the result was begun with since it was
    cleared; store of such a result, or requantise with such a P, under other sizes."""


class StopError(Exception):
    """The device stops."""

    def __init__(self, code: DeviceError, why: str) -> None:
        self.code = code
        super().__init__(why)
