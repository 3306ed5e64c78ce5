"""Numerics: what elements are. A format is a file here and an entry of the registry.

- ``numerics.py``: `Numerics`, what every format says of itself
- ``integer.py``: int8, int16, int32, uint8
- ``float32.py``: float32
- ``fixed.py``: ``fixed<BITS,FRACTION>``
- ``ufixed.py``: ``ufixed<8,FRACTION>``
- ``adaptivfloat.py``: ``adaptivfloat<8,3>``
- ``registry.py``: names to numerics
"""

from axiloom.isa.numerics.float32 import FLOAT32
from axiloom.isa.numerics.integer import INT8, INT16, INT32, SIGNED, UINT8
from axiloom.isa.numerics.numerics import WORD_BITS, Numerics, Raw, Values
from axiloom.isa.numerics.registry import FORMS, NumericsError, host, of

__all__ = [
    "FLOAT32",
    "FORMS",
    "INT8",
    "INT16",
    "INT32",
    "SIGNED",
    "UINT8",
    "WORD_BITS",
    "Numerics",
    "NumericsError",
    "Raw",
    "Values",
    "host",
    "of",
]
