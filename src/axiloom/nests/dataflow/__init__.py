"""Nests that run at once: which edge is a FIFO, which is a buffer with tokens, and how deep.

- `Plan`, what was decided, is in ``nests/schedule/plan.py``: lowering takes one
- ``planner.py``: `decide`, `plan`: from a schedule to a plan
- ``fifos.py``: whether an array can pass through a FIFO; ``tokens.py``: which iterations wait for which
- ``ports.py``: arrays that come in and go out as streams
- ``iterations.py``: iterations of statements and what they access, by isl
"""

from axiloom.nests.dataflow.planner import Dataflow, Note, decide, plan
from axiloom.nests.schedule.plan import Double, Edge, Order, Plan, Stream

__all__ = ["Dataflow", "Double", "Edge", "Note", "Order", "Plan", "Stream", "decide", "plan"]
