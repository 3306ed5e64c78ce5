"""What operations are. A family is a file here and an entry of the registry.

- ``op.py``: `Op`, what every operation says of itself
- ``registry.py``: names to operations, and `Builder`, which makes checked nodes
"""

from axiloom.selection.ir.ops.op import Op
from axiloom.selection.ir.ops.registry import OPS, Builder

__all__ = ["OPS", "Builder", "Op"]
