"""Rows of bfloat16: the RTL of texts like ``qkv.isa`` and ``rows64.isa``.

- ``units.py``: what each unit does, as a text; ``meanings.py``: which unit an instruction of a text is
- ``transfers.py``, ``elementwise.py``, ``softmax.py``, ``product.py`` (``product_rows.py``: several rows at
  once): the units; ``task.py``: what they have in common; ``row_memory.py``: the memories
- ``device.py``: all of it behind two streams; ``cycles.py``: how long each command takes, exactly
- ``numbers/``: sums, products, exponentials and quotients, as the texts name them
"""
