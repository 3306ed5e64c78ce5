"""What accelerators compute, as patterns of the tensor IR: which parts of a graph they can take.

- ``*.kernels``: an accelerator a file, a kernel a function, with why the accelerator computes it
- ``kernels.py``: `Patterns`, read from such a text; ``offers.py``: its kernels in a saturated graph

Patterns are in real numbers: an accelerator's own numerics are judged on data, operator by operator.
"""
