"""What operations are. A family is a file here and an entry of the registry.

- ``op.py``: `Op`, what every operation says of itself, and `Algebra`, where elements are computed
- ``registry.py``: names to operations, and `Builder`, which makes checked nodes
- ``scalars.py``: scalar functions, and conversions; ``checks.py``, ``sums.py``, ``windows.py``: shared parts
- ``elementwise.py``, ``source.py``, ``shape.py``, ``parts.py``: elements alone, from nothing, moved
- ``contract.py``, ``convolution.py``, ``reduce.py``, ``sliding.py``, ``take.py``: sums of
  products, folds, windows, rows of tables
- ``composite.py``: operations with a definition; ``network.py``, ``recurrent.py``, ``quantised.py``: those
"""

from axiloom.graph.ops import (
    contract,
    convolution,
    elementwise,
    parts,
    reduce,
    shape,
    sliding,
    source,
    take,
)
from axiloom.graph.ops.op import Algebra, Op
from axiloom.graph.ops.registry import OPS, Builder, register

for _family in (elementwise, source, shape, parts, contract, convolution, reduce, sliding, take):
    register(*_family.OPS)

# Composites are checked by what they are made of: after it.
from axiloom.graph.ops import network, quantised, recurrent  # noqa: E402

for _made in (network, recurrent, quantised):
    register(*_made.OPS)

__all__ = ["OPS", "Algebra", "Builder", "Op"]
