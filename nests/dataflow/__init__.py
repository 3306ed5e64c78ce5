"""Nests that run at once: which edge is a FIFO, which is a buffer with tokens, and how deep.

- ``plan.py``: `Plan`, what was decided
"""

from axiloom.nests.dataflow.plan import Double, Edge, Order, Plan, Stream

__all__ = ["Double", "Edge", "Order", "Plan", "Stream"]
