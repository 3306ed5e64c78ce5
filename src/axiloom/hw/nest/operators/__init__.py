"""Operators of pipelines: one family a file, each with its latency, its cost, its RTL and its reference in
NumPy.

- ``operator.py``: `Operator` and `Cost`; ``registry.py``: by name and format; ``formats.py``: integers and
  fixed-point numbers; ``stages.py``: registers
- ``whole.py``: sums, extremes and comparisons of integers and fixed-point; ``product.py``: their products;
  ``convert.py``: from one to another; ``logic.py``: truth values, `select`;
  ``shift.py``; ``division.py``: `div`, `rem`; ``lanes.py``: elements as several of fewer bits
- ``costs.py``: what they take of a part, from ``costs.json``
- ``float/``: float32
"""

from axiloom.hw.nest.operators.operator import Cost, Operator
from axiloom.hw.nest.operators.registry import latencies, operator

__all__ = ["Cost", "Operator", "latencies", "operator"]
