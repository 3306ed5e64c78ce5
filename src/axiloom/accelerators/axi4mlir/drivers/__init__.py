"""Drivers that other tools wrote in MLIR, as C: the published `accel` dialect, or calls of its DMA library.

- ``program.py``: `translate`; which functions are the program
- ``writer.py``: a function in C, op by op; ``view.py``: a tile of an array
- ``transfers.py``: transfers of the dialect, and what the library's calls become
- ``loops.py``: loops, numbers and arrays
"""
