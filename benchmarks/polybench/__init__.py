"""PolyBench/C 4.2.1's kernels as plain C functions of float, written anew: one file a kernel.

The order of loops and of float operations is PolyBench's. Arrays that its programs do not print are locals
where they begin without contents (``tmp`` of 2mm, ``mean`` of correlation). ``deriche`` is not here: it needs
``powf``. ``sizes.py``: PolyBench's sizes.
"""
