"""Operators of pipelines: one a file, each with its latency, its cost, its RTL and its reference in NumPy.

- ``operator.py``: `Operator` and `Cost`
"""

from axiloom.hw.nest.operators.operator import Cost, Operator

__all__ = ["Cost", "Operator"]
