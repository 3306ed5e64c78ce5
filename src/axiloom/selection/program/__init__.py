"""Programs: commands in their order, and where tensors lie in the host's memory.

- ``program.py``: `Command`, `HostArray`, `Program`
- ``file.py``: programs as files
"""

from axiloom.selection.program.program import Command, HostArray, Program

__all__ = ["Command", "HostArray", "Program"]
