"""What all readers share.

- ``context.py``: `Context`, a graph being read; `ReadError`
"""

from axiloom.read.context.context import Context, ReadError

__all__ = ["Context", "ReadError"]
