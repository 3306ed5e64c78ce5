"""Annotated ops as plans, and nests of tile loops with transfers in them.

- ``annotated.py``, ``flow.py``: the plan of an annotated op; ``tile.py``: how a tile lies in memory
- ``constants.py``: tiles of constants as rows of a packed array; ``packed.py``: its argument
- ``emit.py``: a plan as ops of the `accel` dialect
- ``queues.py``: which transfers share a queue, and what travels without a copy; ``emit_queue.py``: its calls;
  ``emit_table.py``: a queue that is known before the first call
- ``nest.py``: what passes see of those, and its plan in numbers
"""
