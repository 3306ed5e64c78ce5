"""What all readers share.

- ``context.py``: `Context`, a graph being read; `ReadError`
- ``model.py``: `Model`, linalg with its weights; ``referee.py``: `Referee`, another's reading of the same
"""

from axiloom.read.context.context import Context, ReadError

__all__ = ["Context", "ReadError"]
