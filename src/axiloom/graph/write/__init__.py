"""Graphs as functions of linalg ops, which is what goes on to accelerators with a stream.

- ``linalg.py``: `linalg`, a graph as MLIR text with its constants
- ``text.py``: `Text`, the function that is written, and how types and maps are spelled
- ``scalars.py``: what operations on elements are in arith and math
- ``moves.py``: operations that only move elements; ``sums.py``: products, convolutions, folds, tables
- ``quantised.py``: what networks in int8 are made of
- ``registry.py``: names of operations to who writes them
"""

from axiloom.graph.write.linalg import Written, linalg
from axiloom.graph.write.text import quoted

__all__ = ["Written", "linalg", "quoted"]
