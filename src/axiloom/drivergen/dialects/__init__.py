"""What the IR consists of, and how text becomes IR.

- ``mlir.py``: the context, the parser, errors with a place, and data at the end of a file
- ``old_forms.py``: MLIR as older versions write it; ``functions.py``: the functions of a text, and one alone
- ``accel.py``: the `accel` dialect; ``channels.py`` and ``queue.py``: its operations on packets and
  descriptors
- ``product.py``: products with what an accelerator does beside them
- ``named.py``, ``pooling.py``: named linalg ops that xDSL lacks
- ``views.py``: what a memref is a view of
"""
