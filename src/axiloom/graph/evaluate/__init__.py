"""Graphs on NumPy arrays.

- ``graphs.py``: a whole graph
- ``elements.py``: an operation's elements, one at a time
"""

from axiloom.graph.evaluate.graphs import evaluate, evaluate_all

__all__ = ["evaluate", "evaluate_all"]
