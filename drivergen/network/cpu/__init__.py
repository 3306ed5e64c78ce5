"""Layers of the CPU that are written by hand: what loops do slowly, with NEON where the CPU has it.

An entry of `FORMS` is a file: it says which functions it takes, and what C they become. The C calls a
function of ``sw/include/axiloom_layers.h`` with sizes and constants. Everything that no entry takes becomes
loops.

- ``form.py``: what an entry is; questions about a layer's function
- ``add.py``: the sum of two int8 tensors in scales of their own
- ``pool.py``: the largest of each window, with the padding around the image
- ``table.py``: a table of 256 int8
- ``pattern.py``: forms of several ops, written as MLIR with holes; ``softmax.py``, ``layer_norm.py``
- ``group.py``: which ops of a network become one layer
"""

from __future__ import annotations

from axiloom.drivergen.network.cpu import add, layer_norm, pool, softmax, table
from axiloom.drivergen.network.cpu.form import Form, source_of

FORMS: tuple[Form, ...] = (add.FORM, pool.FORM, table.FORM, softmax.FORM, layer_norm.FORM)

__all__ = ["FORMS", "Form", "source_of"]
