"""Annotated ops as plans, and plans as drivers.

- ``annotated.py``, ``flow.py``: the plan of an annotated op; ``tile.py``: how a tile lies in memory
- ``constants.py``: tiles of constants as rows of a packed array; ``packed.py``: its argument
- ``emit.py``: a plan as blocking transfers of the `accel` dialect; ``emit_packets.py``: as packets
- ``queues.py``: which transfers share a queue, and what travels without a copy; ``emit_queue.py``: its calls;
  ``emit_table.py``: a queue that is known before the first call
- ``emit_rows.py``: a plan over rows of bytes, whoever made it, as functions of their own
"""
