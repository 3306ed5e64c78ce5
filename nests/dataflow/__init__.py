"""Nests that run at once: which edge is a FIFO, which is a buffer with tokens, and how deep.

- `Plan`, what was decided, is in ``nests/schedule/plan.py``: lowering takes one
"""

from axiloom.nests.schedule.plan import Double, Edge, Order, Plan, Stream

__all__ = ["Double", "Edge", "Order", "Plan", "Stream"]
