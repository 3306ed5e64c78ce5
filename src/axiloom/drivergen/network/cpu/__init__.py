"""Layers of the CPU that are written by hand: what loops do slowly, with NEON where the CPU has it.

An entry of `FORMS` is a file: it says which functions it takes, and what C they become. The C calls a
function of ``sw/include/axiloom_layers.h`` with sizes and constants. Everything that no entry takes becomes
loops.

- ``form.py``: what an entry is; questions about a layer's function
- ``add.py``: the sum of two int8 tensors in scales of their own
- ``pool.py``: the largest of each window, with the padding around the image
- ``table.py``: a table of 256 int8
- ``transpose.py``: a transposition that moves the last dim
- ``embedding.py``: rows of a table by their numbers, each added to a row of its place
- ``pattern.py``: forms of several ops, written as MLIR with holes; ``softmax.py``, ``layer_norm.py``
- ``group.py``: which ops of a network become one layer
"""

from __future__ import annotations

from axiloom.drivergen.network.cpu import add, embedding, layer_norm, pool, softmax, table, transpose
from axiloom.drivergen.network.cpu.form import Form, source_of

FORMS: tuple[Form, ...] = (
    add.FORM,
    pool.FORM,
    table.FORM,
    transpose.FORM,
    embedding.FORM,
    softmax.FORM,
    layer_norm.FORM,
)

__all__ = ["FORMS", "Form", "source_of"]
