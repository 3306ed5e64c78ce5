"""Graphs on NumPy arrays: ``graphs.py``."""

from axiloom.graph.evaluate.graphs import evaluate, evaluate_all

__all__ = ["evaluate", "evaluate_all"]
