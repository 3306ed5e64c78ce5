"""Functions of bit patterns that a text names (``@external``), as RTL: IEEE 754, subnormal numbers too.

- ``function.py``: `Function`, what each of them says of itself; ``registry.py``: names to functions
- ``product.py``: bfloat16 times bfloat16, in float32; ``add.py``: float32 sums
- ``brain.py``: both, and the larger one, of bfloat16 with a rounded result
- ``convert.py``: float32 to bfloat16 and back
- ``table.py``: functions of one bfloat16 as a table: exponentials; ``divide.py``: quotients of bfloat16
- ``places.py``: leading zeros, shifts that keep what is lost

The models in ``isa/instructions/externals.py`` are their reference, bit for bit. A NaN is the quiet one
without payload; in float32 sums a model's NaN may have another payload, of which no bfloat16 shows anything.
"""
