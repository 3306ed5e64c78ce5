"""Convolutions on 16-bit fixed point.

- ``hlscnn.isa``: the accelerator; ``hlscnn.kernels``, ``*.mapping``: what it computes
- ``conv.py``: its unit for networks; ``numbers.py``: the same on whole arrays; ``replay.py``: by commands
"""

from pathlib import Path

from axiloom.base.accelerators import Accelerator

ACCELERATOR = Accelerator("hlscnn", Path(__file__).parent, units="axiloom.accelerators.hlscnn.conv:UNITS")
