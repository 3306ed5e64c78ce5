"""Programs: commands in their order, and where tensors lie in the host's memory.

- ``program.py``: `Command`, `HostArray`, `Program`
- ``file.py``: programs as files
- ``matmul.py``: a matrix product on VTA, ``flexasr.py``: layers on FlexASR's units, both written by hand
"""

from axiloom.selection.program.program import Command, HostArray, Program

__all__ = ["Command", "HostArray", "Program"]
