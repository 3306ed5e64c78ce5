"""What a host and a board on a serial line agree on: commands of the bridge, and what it talks to.

Every command is a byte, an address (4 bytes) and a number of words (2), all little-endian:

======  =============================  ==========================
byte    the host sends                 the bridge answers
======  =============================  ==========================
``W``   address, count, count words    status, sum
``R``   address, count                 count words, status, sum
======  =============================  ==========================

Addresses rise by 4 from word to word. ``status``: bits 1:0 the worst answer of the bus (AXI4: 0 OKAY, 2
SLVERR, 3 DECERR), bit 2 a byte was lost on the line since the last answer. ``sum`` is the sum of all bytes of
the command and of the words of its answer mod 256: it tells the host that neither was changed on the way.
Other bytes between commands are ignored, and a command that is not whole after :data:`TIMEOUT_BITS` is
forgotten, so that a host that starts anew is understood.
"""

from __future__ import annotations

import hashlib

from axiloom import isa
from axiloom.isa.contract.spec import AcceleratorSpec

WRITE, READ = ord("W"), ord("R")
ARGUMENT_BYTES = 6
WORD_BYTES = 4
LOST_BYTE = 1 << 2
"""Bit of `status`."""
TIMEOUT_BITS = 22
"""A command is forgotten 2^this cycles after its last byte: 52 ms at 80 MHz."""
IDENTITY_ADDRESS = 0
MAGIC = int.from_bytes(b"AXLM", "little")
"""First word at :data:`IDENTITY_ADDRESS`; behind it two of the specification's hash, and the clock in Hz."""


def identity(spec: AcceleratorSpec, clock_hz: int) -> tuple[int, ...]:
    """The words by which a host knows what it talks to."""
    digest = hashlib.sha256(isa.dumps(spec).encode()).digest()
    return MAGIC, *(int.from_bytes(digest[i : i + 4], "little") for i in (0, 4)), clock_hz
