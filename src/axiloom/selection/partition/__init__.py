"""Networks on accelerators with a stream (v4, conv_v4): which product goes where, in which form.

What is chosen is handed to ``drivergen.network``, which makes the layers as it always does.

- ``kernels.py``, ``*.kernels``: what such accelerators compute, as patterns
- ``products.py``: a product of linalg as operations of the IR
- ``forms.py``: all forms of it by proved rules, and which of them are kernels
- ``choose.py``: `Chooser`: the cheapest choice for all products at once, the CPU included
- ``replay.py``: a chosen form replayed on symbols against its product
"""

from axiloom.selection.partition.choose import Chooser, Selection

__all__ = ["Chooser", "Selection"]
