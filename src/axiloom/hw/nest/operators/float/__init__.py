"""float32: IEEE binary32, rounded to nearest even, without subnormals.

- ``encoding.py``: parts of a number, special values, what NumPy computes with subnormals taken as zero
- ``add.py``, ``multiply.py``: `add`, `sub`, `mul`
"""
