"""Programs of affine loop nests: what a user brings, whatever it was written in.

- ``expressions.py``: what a statement computes; ``program.py``: arrays, statements, programs
"""

from axiloom.nests.program.expressions import Expression, Index, Literal, Load, Op, loads
from axiloom.nests.program.program import Array, Program, Role, Statement

__all__ = ["Array", "Expression", "Index", "Literal", "Load", "Op", "Program", "Role", "Statement", "loads"]
