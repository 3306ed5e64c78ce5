"""What a specification says of the user's own Verilog: names that are not found by themselves, registers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

REGISTERS_AT = 0x8000
"""Byte address of the accelerator's own registers, from the DMA's: both lie in one range of 64 KiB."""


@dataclass(frozen=True)
class RtlPorts:
    """The ``rtl`` part of a specification. What is empty is found by the names of the ports."""

    parameters: Mapping[str, int] = field(default_factory=dict)
    """Parameters of the top module, and their values."""
    clock: str = ""
    reset: str = ""
    reset_active_low: bool = True
    """Of a reset that is named in `reset`."""
    inputs: Mapping[str, str] = field(default_factory=dict)
    """Operand to the prefix of its stream, where a device has a stream an operand: ``{"A": "s_axis_a_"}``."""
    constants: Mapping[str, int] = field(default_factory=dict)
    """Input ports that have one value all the time."""
    starts_on_tlast: bool | None = None
    """The end of a packet starts the device, or counts: each instruction is a packet of its own. None: that
    is so if the module reads the TLAST of its input."""
    registers: Mapping[str, int] = field(default_factory=dict)
    """Register of the module's AXI4-Lite port to its byte offset."""
